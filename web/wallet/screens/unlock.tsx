import type { ReactNode } from 'react';
import { endOfAddress } from '../../ui/address.ts';
import { Button } from '../../ui/button.tsx';
import { useKept } from '../kept.ts';
import { signIn } from '../sign-in.ts';
import type { Vault } from '../vault.ts';
import { ContractsNotice } from './contracts-notice.tsx';
import { PageLink } from './frame.tsx';
import { NetworkSwitch } from './network-switch.tsx';
import { OpenerField } from './opener.tsx';
import { Refused } from './refused.tsx';
import { useUnlocking } from './use-unlocking.ts';

/** The wallet is here and its session is not: one signature opens one for a day. */
export function SignInScreen({ vault }: { readonly vault: Vault }): ReactNode {
  const network = useKept('network');
  const { password, setPassword, busy, wrong, problem, submit } = useUnlocking(vault, (account) =>
    signIn(account, network),
  );
  return (
    <main className="sheet">
      <title>Sign in · Tapline</title>
      <form className="stack" onSubmit={submit} noValidate>
        <h1>Welcome back</h1>
        <p className="soft">
          Wallet <span className="id">{endOfAddress(vault.address)}</span>
        </p>
        <ContractsNotice network={network} />
        <OpenerField vault={vault} password={password} error={wrong} onChange={setPassword} />
        <Refused problem={problem} />
        <Button type="submit" kind="primary" large busy={busy}>
          {vault.seal.by === 'passkey' ? 'Sign in with your passkey' : 'Sign in'}
        </Button>
      </form>
      <div className="stack sign-in-more">
        <NetworkSwitch vault={vault} />
        <PageLink path="wallet/take-back">End the permission without this service</PageLink>
      </div>
    </main>
  );
}
