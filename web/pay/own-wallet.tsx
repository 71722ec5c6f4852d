import { type FormEvent, type ReactNode, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { t } from '../ui/text/t.ts';
import { opensBy, type Vault, WrongOpener } from '../wallet/key-vault.ts';
import { unlock } from '../wallet/keyring.ts';
import { problemOf } from '../wallet/problem-words.ts';
import { OpenerField, openerOf } from '../wallet/screens/unlock-method.tsx';
import type { Message } from './build-payment-message.ts';
import { payWords, type WayProps } from './injected-wallet.tsx';

/**
 * Pays with the encrypted wallet that this site stores in the browser. The wallet is unlocked and
 * signs on this page.
 */
export function OwnWallet(props: WayProps & { readonly vault: Vault }): ReactNode {
  const { vault, step, payment } = props;
  const [password, setPassword] = useState('');
  const [error, setError] = useState<string | null>(null);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setError(null);
    payment.pay(async () => {
      try {
        const account = await unlock(vault, openerOf(vault, password));
        // viem accepts integers as strings, but its types do not say so.
        const sign = (message: Message) =>
          account.signTypedData(message as unknown as Parameters<typeof account.signTypedData>[0]);
        return { address: account.address, sign };
      } catch (thrown) {
        if (!(thrown instanceof WrongOpener) && !(thrown instanceof Error)) throw thrown;
        setError(problemOf(thrown));
        return null;
      }
    });
  };
  return (
    <form className="stack" onSubmit={submit} noValidate>
      <p className="soft small">{t('pay.from_wallet', { end: vault.address.slice(-4) })}</p>
      <OpenerField
        vault={vault}
        password={password}
        error={error}
        onChange={(typed) => {
          setPassword(typed);
          setError(null);
        }}
      />
      {opensBy(vault, 'passkey') && password === '' && error !== null ? (
        <p className="field-error" role="alert">
          {error}
        </p>
      ) : null}
      <Button data-name="Pay" type="submit" kind="primary" large wide busy={step.busy}>
        {payWords(step.link)}
      </Button>
    </form>
  );
}
