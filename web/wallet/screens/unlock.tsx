import type { ReactNode } from 'react';
import { Button } from '../../ui/button.tsx';
import { t } from '../../ui/text/t.ts';
import { opensBy, type Vault } from '../key-vault.ts';
import { signIn } from '../sign-in.ts';
import { useKept } from '../wallet-storage.ts';
import { ContractsNotice } from './contracts-notice.tsx';
import { PageLink } from './frame.tsx';
import { NetworkSwitch } from './network-switch.tsx';
import { PayButton } from './pay-button.tsx';
import { ProblemNotice } from './problem-notice.tsx';
import { OpenerField } from './unlock-method.tsx';
import { useUnlocking } from './use-unlocking.ts';

/**
 * Shown if the browser has a wallet without a session. One signature starts a session for a day.
 */
export function SignInScreen({ vault }: { readonly vault: Vault }): ReactNode {
  const network = useKept('network');
  const { password, setPassword, busy, wrong, problem, submit } = useUnlocking(vault, (account) =>
    signIn(account, network),
  );
  return (
    <main className="sheet">
      <title>{t('wallet.sign_in.page')}</title>
      <form className="stack" onSubmit={submit} noValidate>
        <h1>{t('wallet.sign_in.heading')}</h1>
        <p className="soft">{t('wallet.sign_in.wallet', { end: vault.address.slice(-4) })}</p>
        <ContractsNotice network={network} />
        <OpenerField vault={vault} password={password} error={wrong} onChange={setPassword} />
        <ProblemNotice problem={problem} />
        <Button data-name="Sign in" type="submit" kind="primary" large busy={busy}>
          {opensBy(vault, 'passkey')
            ? t('wallet.sign_in.passkey_button')
            : t('wallet.sign_in.button')}
        </Button>
      </form>
      <div className="stack sign-in-more">
        <NetworkSwitch vault={vault} />
        <PayButton wallet={null} />
        <PageLink path="wallet/take-back">{t('wallet.sign_in.end_link')}</PageLink>
      </div>
    </main>
  );
}
