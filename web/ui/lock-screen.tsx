import { type FormEvent, type ReactNode, useState } from 'react';
import { Button } from './button.tsx';
import { TextField } from './field.tsx';
import { isPin, type SealedPin } from './pin.ts';
import { t } from './text/t.ts';

/** Delay after a wrong PIN. It grows with each try, because four digits can be tried quickly. */
const WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;

export interface LockScreenProps {
  readonly pin: SealedPin;
  /** The owner's name or address. */
  readonly owner: ReactNode;
  readonly onUnlock: () => void;
  /** An alternative for a user who has forgotten the PIN. */
  readonly otherWay?: ReactNode;
}

/** Asks for the PIN that locks an unattended screen. */
export function LockScreen({ pin, owner, onUnlock, otherWay }: LockScreenProps): ReactNode {
  const [typed, setTyped] = useState('');
  const [wrong, setWrong] = useState(0);
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    if (await isPin(typed, pin)) return onUnlock();
    await new Promise((resolve) =>
      setTimeout(resolve, Math.min(WAIT_MS * 2 ** wrong, LONGEST_WAIT_MS)),
    );
    setWrong(wrong + 1);
    setTyped('');
    setBusy(false);
  };
  return (
    <main className="sheet">
      <title>{t('ui.lock.page')}</title>
      <form className="stack" onSubmit={submit}>
        <h1>{t('ui.lock.heading')}</h1>
        <p className="soft">{owner}</p>
        <TextField
          label={t('ui.lock.pin')}
          type="password"
          inputMode="numeric"
          autoComplete="off"
          value={typed}
          error={wrong > 0 && typed === '' ? t('ui.lock.problem') : null}
          onChange={(event) => setTyped(event.target.value)}
        />
        <Button type="submit" kind="primary" large busy={busy}>
          {t('ui.lock.button')}
        </Button>
      </form>
      {otherWay}
    </main>
  );
}
