import { type FormEvent, useState } from 'react';
import { type Vault, WrongOpener } from '../key-vault.ts';
import { unlock } from '../keyring.ts';
import type { Account } from '../private-key-account.ts';
import { problemOf } from '../problem-words.ts';
import { openerOf } from './unlock-method.tsx';

export interface Unlocking {
  readonly password: string;
  readonly setPassword: (password: string) => void;
  readonly busy: boolean;
  /** The error at the password field. */
  readonly wrong: string | null;
  /** Any other error. */
  readonly problem: string | null;
  submit(event: FormEvent): void;
}

export function useUnlocking(
  vault: Vault,
  proceed: (account: Account) => void | Promise<void>,
  /** True to ask even while the wallet is unlocked, as a payment page does. */
  { always = false }: { readonly always?: boolean } = {},
): Unlocking {
  const [password, setPassword] = useState('');
  const [busy, setBusy] = useState(false);
  const [wrong, setWrong] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const run = async () => {
    setBusy(true);
    setWrong(null);
    setProblem(null);
    try {
      await proceed(await unlock(vault, openerOf(vault, password), { always }));
    } catch (error) {
      if (error instanceof WrongOpener) setWrong(problemOf(error));
      else setProblem(problemOf(error));
    }
    setBusy(false);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!busy) void run();
  };
  return { password, setPassword, busy, wrong, problem, submit };
}
