import type { ReactNode } from 'react';
import { named } from '#core/isolates.ts';
import { fromRoot } from '../../data/root.ts';
import { Switch } from '../../ui/choice.tsx';
import { CopyField } from '../../ui/copy-field.tsx';
import { LanguageChoice } from '../../ui/language-choice.tsx';
import { PinForm } from '../../ui/pin-form.tsx';
import { Facts } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { useToast } from '../../ui/toast.tsx';
import { hasCamera } from '../reader/camera.ts';
import { hasNfc } from '../reader/nfc.ts';
import { CashierField } from './cashier-field.tsx';
import { PrinterCard } from './printer.tsx';
import type { TillContext } from './shift.tsx';
import { UsbReaderCard } from './usb-reader.tsx';

function ThisDevice({ device }: TillContext): ReactNode {
  return (
    <div className="card stack">
      <h2>{t('till.settings.heading.this_device')}</h2>
      <Facts
        facts={[
          [t('till.settings.terminal'), device === null ? null : named(device.label)],
          [t('till.settings.merchant'), device === null ? null : named(device.merchant_name)],
          [t('till.settings.network'), device === null ? null : named(device.network)],
          [
            t('till.settings.nfc'),
            t(hasNfc() ? 'till.settings.nfc_reads' : 'till.settings.nfc_missing'),
          ],
          [
            t('till.settings.camera'),
            t(hasCamera() ? 'till.settings.camera_reads' : 'till.settings.camera_missing'),
          ],
        ]}
      />
      <CopyField label={t('till.settings.label.id')} value={device?.id ?? ''} />
    </div>
  );
}

/** What is switched on for those who want it; a new till starts plain. */
export function SettingsScreen(context: TillContext): ReactNode {
  const { settings, change, readers } = context;
  const toast = useToast();
  return (
    <div className="stack">
      <title>{t('till.settings.page.settings_tapline')}</title>
      <h1>{t('till.settings.heading.settings')}</h1>
      <div className="card stack">
        <CashierField {...context} />
        <Switch
          label={t('till.settings.label.ask_for_tips')}
          checked={settings.asksForTips}
          onChange={(asksForTips) => change({ asksForTips })}
        />
        <Switch
          label={t('till.settings.label.customer_display')}
          checked={settings.display}
          onChange={(display) => {
            change({ display });
            if (display) window.open(fromRoot('terminal?display'), 'tapline display');
          }}
        />
        {settings.display ? (
          <p className="soft small">{t('till.settings.a_window_for_the')}</p>
        ) : null}
        <LanguageChoice />
        <Switch
          label={t('till.settings.label.sounds')}
          checked={settings.sound}
          onChange={(sound) => change({ sound })}
        />
      </div>
      <div className="card">
        <PinForm
          title={t('till.settings.heading.cashier_pin')}
          hint={t('till.settings.hint.locks_this_tills_screen')}
          pin={settings.pin}
          onChange={(pin) => {
            change({ pin });
            if (pin !== null) toast(t('till.settings.the_pin_is_set'));
          }}
        />
      </div>
      <UsbReaderCard state={readers.usb} />
      <PrinterCard settings={settings} change={change} />
      <ThisDevice {...context} />
    </div>
  );
}
