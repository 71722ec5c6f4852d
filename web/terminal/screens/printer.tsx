import type { ReactNode } from 'react';
import { Button } from '../../ui/button.tsx';
import { Choice, Switch } from '../../ui/choice.tsx';
import { Select } from '../../ui/field.tsx';
import { t } from '../../ui/text/t.ts';
import { choosePrinter, hasSerial, openDrawer, SPEEDS } from '../receipt-printer.ts';
import type { Settings } from '../till-storage.ts';
import { usePrinterJob } from './use-printer-job.tsx';

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
    const port = await choosePrinter();
    if (port !== null) change({ printer: { width: 48, drawer: false, speed: SPEEDS[0], port } });
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
  const drawer = usePrinterJob(t('till.printer.problem.silent'));
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
          <Select
            data-name="Speed"
            label={t('till.printer.speed')}
            hint={t('till.printer.speed_hint')}
            value={printer.speed ?? SPEEDS[0]}
            onChange={({ target }) => change({ printer: { ...printer, speed: +target.value } })}
          >
            {SPEEDS.map((speed) => (
              <option key={speed}>{speed}</option>
            ))}
          </Select>
          <Button busy={drawer.busy} onClick={() => drawer.run(() => openDrawer(printer))}>
            {t('till.printer.drawer_button')}
          </Button>
          {drawer.problem}
          <Button onClick={() => change({ printer: null })}>
            {t('till.printer.remove_button')}
          </Button>
        </>
      )}
    </div>
  );
}
