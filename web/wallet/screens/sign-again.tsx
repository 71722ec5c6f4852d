import type { ReactNode } from 'react';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { t } from '../../ui/text/t.ts';
import { opensBy, type Vault } from '../key-vault.ts';
import { signAgain } from '../sign-in.ts';
import type { Network } from '../wallet-storage.ts';
import { ProblemNotice } from './problem-notice.tsx';
import { OpenerField } from './unlock-method.tsx';
import { useUnlocking } from './use-unlocking.ts';

export interface SignAgainProps {
  readonly vault: Vault;
  readonly network: Network;
  readonly token: string;
  /** Called at the end, with true if the wallet has signed. */
  readonly onEnd: (signed: boolean) => void;
}

/**
 * Asks the owner to unlock the key again, so that someone who finds the wallet open cannot add a
 * way to pay.
 */
export function SignAgainSheet({ vault, network, token, onEnd }: SignAgainProps): ReactNode {
  const { password, setPassword, busy, wrong, problem, submit } = useUnlocking(
    vault,
    async (account) => {
      await signAgain(account, { network, token });
      onEnd(true);
    },
  );
  return (
    <Dialog title={t('wallet.sign_again.heading')} onClose={() => onEnd(false)}>
      <form className="stack" onSubmit={submit} noValidate>
        <p className="soft">{t('wallet.sign_again.text')}</p>
        <OpenerField vault={vault} password={password} error={wrong} onChange={setPassword} />
        <ProblemNotice problem={problem} />
        <Button type="submit" kind="primary" large busy={busy}>
          {opensBy(vault, 'passkey')
            ? t('wallet.sign_again.passkey_button')
            : t('wallet.sign_again.button')}
        </Button>
        <Button kind="quiet" onClick={() => onEnd(false)}>
          {t('wallet.not_now')}
        </Button>
      </form>
    </Dialog>
  );
}
