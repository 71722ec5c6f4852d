import type { ReactNode } from 'react';
import { fromRoot } from '../../data/root.ts';
import { Switch } from '../../ui/choice.tsx';
import { CopyField } from '../../ui/copy-field.tsx';
import { PinForm } from '../../ui/pin-form.tsx';
import { Facts } from '../../ui/table.tsx';
import { named } from '../../ui/text/fixed.ts';
import { useToast } from '../../ui/toast.tsx';
import { hasCamera } from '../reader/camera.ts';
import { hasNfc } from '../reader/nfc.ts';
import { CashierField } from './cashier-field.tsx';
import { PrinterCard } from './printer.tsx';
import type { TillContext } from './shift.tsx';
import { UsbReaderCard } from './usb-reader.tsx';

/** What is switched on for those who want it; a new till starts plain. */
export function SettingsScreen(context: TillContext): ReactNode {
  const { settings, change, device, readers } = context;
  const toast = useToast();
  return (
    <div className="stack">
      <title>Settings · Tapline</title>
      <h1>Settings</h1>
      <div className="card stack">
        <CashierField {...context} />
        <Switch
          label="Ask for tips"
          checked={settings.asksForTips}
          onChange={(asksForTips) => change({ asksForTips })}
        />
        <Switch
          label="Customer display"
          checked={settings.display}
          onChange={(display) => {
            change({ display });
            if (display) window.open(fromRoot('terminal?display'), 'tapline display');
          }}
        />
        {settings.display ? (
          <p className="soft small">A window for the customer’s screen: amount due and tips.</p>
        ) : null}
        <Switch label="Sounds" checked={settings.sound} onChange={(sound) => change({ sound })} />
      </div>
      <div className="card">
        <PinForm
          title="Cashier PIN"
          hint="Locks this till’s screen. At least four digits."
          pin={settings.pin}
          onChange={(pin) => {
            change({ pin });
            if (pin !== null) toast('The PIN is set. Use Lock, above, to lock the till.');
          }}
        />
      </div>
      <UsbReaderCard state={readers.usb} />
      <PrinterCard settings={settings} change={change} />
      <div className="card stack">
        <h2>This device</h2>
        <Facts
          facts={[
            ['Terminal', device === null ? null : named(device.label)],
            ['Merchant', device === null ? null : named(device.merchant_name)],
            ['Network', device?.network ?? null],
            ['NFC', hasNfc() ? 'reads passes' : 'not in this browser'],
            [
              'Camera',
              hasCamera() ? 'reads codes' : 'none, or this page was not opened over https',
            ],
          ]}
        />
        <CopyField label="ID" value={device?.id ?? ''} />
      </div>
    </div>
  );
}
