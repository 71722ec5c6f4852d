import { type ReactNode, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Choice, Switch } from '../../ui/choice.tsx';
import { useToast } from '../../ui/toast.tsx';
import type { Settings } from '../kept.ts';
import { choosePrinter, hasSerial, openDrawer } from '../printer.ts';

interface PrinterProps {
  readonly settings: Settings;
  readonly change: (part: Partial<Settings>) => void;
}

/** Of rolls of 80 and 58 mm. */
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
      <p className="soft">
        An ESC/POS printer connected to this computer by cable. Without one, receipts are printed
        through the browser’s print dialog.
      </p>
      <Button onClick={connect}>Connect a printer</Button>
    </>
  );
}

/** A receipt printer on a cable, and the drawer behind it. Both are off at first. */
export function PrinterCard({ settings, change }: PrinterProps): ReactNode {
  const { printer } = settings;
  const toast = useToast();
  const [busy, setBusy] = useState(false);
  const tryDrawer = async () => {
    setBusy(true);
    await openDrawer().catch(() => toast('The printer is not responding.'));
    setBusy(false);
  };
  if (!hasSerial()) return null;
  return (
    <div className="card stack">
      <h2>Receipt printer</h2>
      {printer === null ? (
        <ConnectPrinter change={change} />
      ) : (
        <>
          <fieldset className="stack stack-tight">
            <legend>Paper width</legend>
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
            label="Open the drawer after each payment"
            checked={printer.drawer}
            onChange={(drawer) => change({ printer: { ...printer, drawer } })}
          />
          <Button busy={busy} onClick={tryDrawer}>
            Open the drawer
          </Button>
          <Button onClick={() => change({ printer: null })}>Remove the printer</Button>
        </>
      )}
    </div>
  );
}
