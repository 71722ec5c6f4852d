import { type ReactNode, useState } from 'react';
import { named } from '#i18n/bidi-isolates.ts';
import { fromRoot } from '../../data/root-path.ts';
import { isSimulatedOffline, simulateOffline } from '../../data/simulate-offline.ts';
import { Switch } from '../../ui/choice.tsx';
import { CopyField } from '../../ui/copy-field.tsx';
import { Select } from '../../ui/field.tsx';
import { LanguageChoice } from '../../ui/language-choice.tsx';
import { PinForm } from '../../ui/pin-form.tsx';
import { Facts } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { useToast } from '../../ui/toast.tsx';
import { hasCamera } from '../reader/camera.ts';
import { hasNfc } from '../reader/read-nfc.ts';
import { CashierField } from './cashier-field.tsx';
import { FullScreenButton, OwnPin } from './cashiers.tsx';
import { PrinterCard } from './printer.tsx';
import type { TillContext } from './till-context.ts';
import { UsbReaderCard } from './usb-reader.tsx';

function ThisDevice({ device, offline }: TillContext): ReactNode {
  return (
    <div className="card stack">
      <h2>{t('till.settings.device.heading')}</h2>
      <Facts
        facts={[
          [t('till.settings.device.terminal'), device === null ? null : named(device.label)],
          [
            t('till.settings.device.merchant'),
            device === null ? null : named(device.merchant_name),
          ],
          [t('till.settings.device.network'), device === null ? null : named(device.network)],
          [
            t('till.settings.device.nfc'),
            t(hasNfc() ? 'till.settings.device.nfc_reads' : 'till.settings.device.nfc_missing'),
          ],
          [
            t('till.settings.device.camera'),
            t(
              hasCamera()
                ? 'till.settings.device.camera_reads'
                : 'till.settings.device.camera_missing',
            ),
          ],
          [
            t('till.settings.device.offline'),
            device?.offline === null ? t('till.offline_sale.no_limits') : offline.view.outlook,
          ],
        ]}
      />
      <CopyField label={t('till.settings.device.id')} value={device?.id ?? ''} />
    </div>
  );
}

/** Opens the display in the language of the merchant's customers, or in the browser's if `null`. */
function openDisplay(language: string | null): void {
  const wish = language === null ? '' : `&lang=${language}`;
  window.open(fromRoot(`terminal?display${wish}`), 'tapline display');
}

/** A switch for test tills. While it is on, it stays even if the device is unknown. */
function SimulateOffline({ device }: TillContext): ReactNode {
  const [isOn, setIsOn] = useState(isSimulatedOffline());
  if (device?.livemode !== false && !isOn) return null;
  const change = (next: boolean) => {
    simulateOffline(next);
    setIsOn(next);
  };
  return (
    <Switch
      data-name="Simulate offline"
      label={t('till.settings.simulate_offline')}
      checked={isOn}
      onChange={change}
    />
  );
}

const RETURNS_S = [3, 5, 10];

function ReturnAfter({ settings, change }: TillContext): ReactNode {
  const choose = (seconds: number) => change({ returnAfterS: seconds === 0 ? null : seconds });
  return (
    <Select
      data-name="Return to the till after"
      label={t('till.settings.return_after')}
      hint={t('till.settings.return_after_hint')}
      value={settings.returnAfterS ?? 0}
      onChange={(event) => choose(Number(event.target.value))}
    >
      <option value={0}>{t('till.settings.return_off')}</option>
      {RETURNS_S.map((seconds) => (
        <option key={seconds} value={seconds}>
          {t('till.settings.return_seconds', { seconds })}
        </option>
      ))}
    </Select>
  );
}

/** A signed-in cashier must enter the PIN first. */
export function SettingsScreen(context: TillContext): ReactNode {
  const { person } = context.settings;
  const [isOpen, setIsOpen] = useState(person === null);
  if (isOpen || person === null) return <OpenSettings {...context} />;
  return (
    <div className="stack till-start">
      <title>{t('till.settings.page')}</title>
      <h1>{t('till.settings.heading')}</h1>
      <p>{t('till.person.settings_text')}</p>
      <OwnPin
        person={person}
        data-name="Open settings"
        button={t('till.person.settings_button')}
        onIn={() => setIsOpen(true)}
      />
    </div>
  );
}

/** Shows the settings of optional features. On a new till they are all off. */
function OpenSettings(context: TillContext): ReactNode {
  const { settings, change, readers, device } = context;
  const toast = useToast();
  return (
    <div className="stack">
      <title>{t('till.settings.page')}</title>
      <h1>{t('till.settings.heading')}</h1>
      <div className="card stack">
        {settings.person === null ? <CashierField {...context} /> : null}
        <Switch
          label={t('till.settings.tips')}
          checked={settings.asksForTips}
          onChange={(asksForTips) => change({ asksForTips })}
        />
        <Switch
          label={t('till.settings.display')}
          checked={settings.display}
          onChange={(display) => {
            change({ display });
            if (display) openDisplay(device?.language ?? null);
          }}
        />
        {settings.display ? <p className="soft small">{t('till.settings.display_text')}</p> : null}
        <LanguageChoice />
        <Switch
          label={t('till.settings.sounds')}
          checked={settings.sound}
          onChange={(sound) => change({ sound })}
        />
        <ReturnAfter {...context} />
        {settings.person === null ? <FullScreenButton /> : null}
        <SimulateOffline {...context} />
      </div>
      <div className="card">
        <PinForm
          title={t('till.settings.pin.heading')}
          hint={t('till.settings.pin.hint')}
          pin={settings.pin}
          onChange={(pin) => {
            change({ pin });
            if (pin !== null) toast(t('till.settings.pin.done'));
          }}
        />
      </div>
      <UsbReaderCard state={readers.usb} />
      <PrinterCard settings={settings} change={change} />
      <ThisDevice {...context} />
    </div>
  );
}
