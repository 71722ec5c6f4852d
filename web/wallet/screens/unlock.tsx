import { type FormEvent, type ReactNode, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { useKept } from '../kept.ts';
import { unlock } from '../keyring.ts';
import { signIn } from '../sign-in.ts';
import { type Vault, WrongOpener } from '../vault.ts';
import { problemOf, shortAddress } from '../words.ts';
import { PageLink } from './frame.tsx';
import { NetworkSwitch } from './network-switch.tsx';
import { OpenerField, openerOf } from './opener.tsx';
import { Refused } from './refused.tsx';

/** The wallet is here and its session is not: one signature opens one for a day. */
export function SignInScreen({ vault }: { readonly vault: Vault }): ReactNode {
  const network = useKept('network');
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
      await signIn(await unlock(vault, openerOf(vault, password)), network);
    } catch (error) {
      if (error instanceof WrongOpener) setWrong(problemOf(error));
      else setProblem(problemOf(error));
      setBusy(false);
    }
  };
  return (
    <main className="sheet">
      <title>Sign in · Tapline</title>
      <form className="stack" onSubmit={submit} noValidate>
        <h1>Welcome back</h1>
        <p className="soft">
          Wallet <span className="id">{shortAddress(vault.address)}</span>
        </p>
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
