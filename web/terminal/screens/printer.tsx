import { type ReactNode, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Choice, Switch } from '../../ui/choice.tsx';
import { t } from '../../ui/text/t.ts';
import { useToast } from '../../ui/toast.tsx';
import { choosePrinter, hasSerial, openDrawer } from '../receipt-printer.ts';
import type { Settings } from '../till-storage.ts';

interface PrinterProps {
  readonly settings: Settings;
  readonly change: (part: Partial<Settings>) => void;
}

/** Characters per line on 80 mm and 58 mm paper. */
const WIDTHS = [
  [48, '80 mm'],
  [32, '58 mm'],
] as const;

function ConnectPrinter({ change }: Pick<PrinterProps, 'change'>): ReactNode {
  const connect = async () => {
    if (await choosePrinter()) change({ printer: { width: 48, drawer: false } });
  };
  return (
    <>
      <p className="soft">{t('till.printer.text')}</p>
      <Button onClick={connect}>{t('till.printer.connect_button')}</Button>
    </>
  );
}

/** Settings for a receipt printer and its cash drawer. Both are off by default. */
export function PrinterCard({ settings, change }: PrinterProps): ReactNode {
  const { printer } = settings;
  const toast = useToast();
  const [busy, setBusy] = useState(false);
  const tryDrawer = async () => {
    setBusy(true);
    await openDrawer().catch(() => toast(t('till.printer.problem.silent')));
    setBusy(false);
  };
  if (!hasSerial()) return null;
  return (
    <div className="card stack">
      <h2>{t('till.printer.heading')}</h2>
      {printer === null ? (
        <ConnectPrinter change={change} />
      ) : (
        <>
          <fieldset className="stack stack-tight">
            <legend>{t('till.printer.paper')}</legend>
            {WIDTHS.map(([width, label]) => (
              <Choice
                key={width}
                name="paper"
                value={String(width)}
                label={label}
                checked={printer.width === width}
                onChange={() => change({ printer: { ...printer, width } })}
              />
            ))}
          </fieldset>
          <Switch
            label={t('till.printer.opens_drawer')}
            checked={printer.drawer}
            onChange={(drawer) => change({ printer: { ...printer, drawer } })}
          />
          <Button busy={busy} onClick={tryDrawer}>
            {t('till.printer.drawer_button')}
          </Button>
          <Button onClick={() => change({ printer: null })}>
            {t('till.printer.remove_button')}
          </Button>
        </>
      )}
    </div>
  );
}
