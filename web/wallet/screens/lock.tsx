import { type FormEvent, type ReactNode, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { LockScreen } from '../../ui/lock-screen.tsx';
import type { SealedPin } from '../../ui/pin.ts';
import { keep } from '../kept.ts';
import { unlock } from '../keyring.ts';
import { type Vault, WrongOpener } from '../vault.ts';
import { problemOf, shortAddress } from '../words.ts';
import { OpenerField, openerOf } from './opener.tsx';
import { Refused } from './refused.tsx';

export interface WalletLockProps {
  readonly vault: Vault;
  readonly pin: SealedPin;
  readonly onUnlock: () => void;
}

/** The PIN only locks the screen, so what opens the wallet itself ends it as well. */
export function WalletLock({ vault, pin, onUnlock }: WalletLockProps): ReactNode {
  const [forgotten, setForgotten] = useState(false);
  const owner = shortAddress(vault.address);
  const otherWay = forgotten ? (
    <ForgottenPin vault={vault} onUnlock={onUnlock} />
  ) : (
    <div className="stack sign-in-more">
      <Button onClick={() => setForgotten(true)}>Forgot the PIN?</Button>
    </div>
  );
  return <LockScreen pin={pin} owner={owner} onUnlock={onUnlock} otherWay={otherWay} />;
}

function ForgottenPin({ vault, onUnlock }: Omit<WalletLockProps, 'pin'>): ReactNode {
  const [password, setPassword] = useState('');
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const [wrong, setWrong] = useState<string | null>(null);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    setProblem(null);
    setWrong(null);
    try {
      await unlock(vault, openerOf(vault, password));
      keep('pin', null);
      onUnlock();
    } catch (error) {
      if (error instanceof WrongOpener) setWrong(problemOf(error));
      else setProblem(problemOf(error));
      setBusy(false);
    }
  };
  return (
    <form className="stack sign-in-more" onSubmit={submit} noValidate>
      <p className="soft">What opens the wallet itself removes the PIN. Set another in Settings.</p>
      <OpenerField vault={vault} password={password} error={wrong} onChange={setPassword} />
      <Refused problem={problem} />
      <Button type="submit" busy={busy}>
        {vault.seal.by === 'passkey' ? 'Open with your passkey' : 'Open with your password'}
      </Button>
    </form>
  );
}
