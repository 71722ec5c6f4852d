import { type ReactNode, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { t } from '../../ui/text/t.ts';
import { askForCamera } from '../reader/camera.ts';
import { hasNfc, readNfc } from '../reader/read-nfc.ts';
import { ShiftEnd } from '../shift-end.ts';
import { CashierField } from './cashier-field.tsx';
import { shiftOf, usePeople, useShiftApi } from './cashiers.tsx';
import { PersonForm } from './person-form.tsx';
import { EndedReport } from './shifts.tsx';
import type { TillContext } from './till-context.ts';
import { NotLoaded } from './use-loaded.tsx';

/**
 * Requests all browser permissions at the start, so that no prompt appears while a customer waits.
 */
async function askForPermissions(): Promise<void> {
  const end = new AbortController();
  if (hasNfc()) await readNfc(() => {}, end.signal);
  end.abort();
  await askForCamera();
}

/** Starts a shift. While one is ending, it has nothing to show, and ends that shift. */
export function StartScreen(context: TillContext): ReactNode {
  return context.settings.ending ? <ShiftEnd {...context} /> : <Start {...context} />;
}

/** Asks for a cashier and a PIN if the account has cashiers with PINs. */
function Start(context: TillContext): ReactNode {
  const { settings, device } = context;
  const api = useShiftApi();
  const { people, failed, reload } = usePeople(api, context);
  // Offline, uses the last response, so that losing the network does not skip the PIN.
  const hasPeople = people === null ? settings.hasPeople === true : people.length > 0;
  return (
    <div className="stack till-start">
      <title>{t('till.start.page')}</title>
      <h1>{device === null ? t('till.start.heading') : <bdi>{device.merchant_name}</bdi>}</h1>
      <p className="soft">{t('till.start.text')}</p>
      {hasPeople && failed ? (
        <NotLoaded words={t('till.person.not_loaded')} onRetry={reload} />
      ) : null}
      {hasPeople && people !== null ? (
        <PersonForm
          api={api}
          people={people}
          data-name="Start shift"
          button={t('till.start.button')}
          onIn={async (person, shift) => {
            await askForPermissions();
            context.change(shiftOf(person, shift));
          }}
        />
      ) : null}
      {hasPeople ? null : <PlainStart {...context} />}
      {settings.ended == null ? null : <EndedReport {...context} shift={settings.ended} />}
    </div>
  );
}

function PlainStart(context: TillContext): ReactNode {
  const { change, view } = context;
  const api = useShiftApi();
  const [busy, setBusy] = useState(false);
  const start = async () => {
    setBusy(true);
    await askForPermissions();
    const shiftSince = new Date(Date.now() + view.clockOffsetMs).toISOString();
    // Without a connection, the end of the shift starts it on the service.
    void api.startEmpty();
    change({ shiftSince, person: null, ended: null });
  };
  return (
    <>
      <CashierField {...context} />
      <Button data-name="Start shift" kind="primary" large wide busy={busy} onClick={start}>
        {t('till.start.button')}
      </Button>
    </>
  );
}
