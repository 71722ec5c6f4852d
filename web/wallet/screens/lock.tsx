import { type ReactNode, useState } from 'react';
import { endOfAddress } from '../../ui/address.ts';
import { Button } from '../../ui/button.tsx';
import { LockScreen } from '../../ui/lock-screen.tsx';
import type { SealedPin } from '../../ui/pin.ts';
import { t } from '../../ui/text/t.ts';
import { opensBy, type Vault } from '../key-vault.ts';
import { keep } from '../wallet-storage.ts';
import { ProblemNotice } from './problem-notice.tsx';
import { OpenerField } from './unlock-method.tsx';
import { useUnlocking } from './use-unlocking.ts';

export interface WalletLockProps {
  readonly vault: Vault;
  readonly pin: SealedPin;
  readonly onUnlock: () => void;
}

/** The PIN only locks the screen, so anyone who can unlock the wallet itself may remove the PIN. */
export function WalletLock({ vault, pin, onUnlock }: WalletLockProps): ReactNode {
  const [forgotten, setForgotten] = useState(false);
  const owner = endOfAddress(vault.address);
  const otherWay = forgotten ? (
    <ForgottenPin vault={vault} onUnlock={onUnlock} />
  ) : (
    <div className="stack sign-in-more">
      <Button onClick={() => setForgotten(true)}>{t('wallet.lock.forgot_button')}</Button>
    </div>
  );
  return <LockScreen pin={pin} owner={owner} onUnlock={onUnlock} otherWay={otherWay} />;
}

function ForgottenPin({ vault, onUnlock }: Omit<WalletLockProps, 'pin'>): ReactNode {
  const { password, setPassword, busy, wrong, problem, submit } = useUnlocking(vault, () => {
    keep('pin', null);
    onUnlock();
  });
  return (
    <form className="stack sign-in-more" onSubmit={submit} noValidate>
      <p className="soft">
        {t(opensBy(vault, 'passkey') ? 'wallet.lock.by_passkey' : 'wallet.lock.by_password')}
      </p>
      <OpenerField vault={vault} password={password} error={wrong} onChange={setPassword} />
      <ProblemNotice problem={problem} />
      <Button type="submit" busy={busy}>
        {opensBy(vault, 'passkey')
          ? t('wallet.lock.passkey_button')
          : t('wallet.lock.password_button')}
      </Button>
    </form>
  );
}
