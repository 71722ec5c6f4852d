import { type ReactNode, useState } from 'react';
import type { Answer } from '../../data/api.ts';
import { FormDialog } from '../../desk/form-dialog.tsx';
import { useSend } from '../../desk/use-send.ts';
import { Button } from '../../ui/button.tsx';
import { CopyField } from '../../ui/copy-field.tsx';
import { TextField } from '../../ui/field.tsx';
import { t } from '../../ui/text/t.ts';
import { useMerchant } from '../use-merchant.ts';

/** The message for the wallet to sign and its expiry. */
interface Consent {
  readonly deadline: number;
  readonly typed_data: Record<string, unknown>;
}

export interface SignedConsent {
  readonly wallet: string;
  readonly deadline: number;
  readonly signature: string;
}

export interface ConsentDialogProps<Value> {
  readonly title: string;
  /** Label of the send button, with the same verb as the button that opened the dialog. */
  readonly send: string;
  readonly 'data-name'?: string;
  readonly consentOf: (wallet: string) => Promise<Answer<Consent>>;
  readonly request: (signed: SignedConsent) => Promise<Answer<Value>>;
  readonly onDone: () => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

function useConsent<Value>({ consentOf, request, onDone }: ConsentDialogProps<Value>) {
  const [wallet, setWallet] = useState('');
  const [consent, setConsent] = useState<Consent | null>(null);
  const [signature, setSignature] = useState('');
  const sending = useSend(['wallet', 'signature']);
  const ask = async (address: string) => {
    const result = await sending.send(() => consentOf(address));
    setConsent(result);
    return result;
  };
  const makeTestWallet = async () => {
    const { generatePrivateKey, privateKeyToAccount } = await import('viem/accounts');
    const account = privateKeyToAccount(generatePrivateKey());
    setWallet(account.address);
    const result = await ask(account.address);
    if (result !== null) setSignature(await account.signTypedData(result.typed_data as never));
  };
  const go = async () => {
    if (wallet.trim() === '')
      return sending.refuse('wallet', t('dashboard.consent.address_missing'));
    const known = consent ?? (await ask(wallet.trim()));
    if (known === null) return;
    if (signature.trim() === '') {
      return sending.refuse('signature', t('dashboard.consent.signature_missing'));
    }
    const { deadline } = known;
    const signed = { wallet: wallet.trim(), deadline, signature: signature.trim() };
    if ((await sending.send(() => request(signed))) !== null) onDone();
  };
  const change = (address: string) => {
    setWallet(address);
    setConsent(null);
    setSignature('');
  };
  return {
    ...{ sending, wallet, consent, signature, setSignature },
    ...{ ask, makeTestWallet, go, setWallet: change },
  };
}

/**
 * Asks the receiving wallet to sign that it receives the payouts, so that a mistyped address is
 * noticed.
 */
export function ConsentDialog<Value>(props: ConsentDialogProps<Value>): ReactNode {
  const { title, send, onClose, children } = props;
  const { mode } = useMerchant();
  const form = useConsent(props);
  const { sending, wallet, consent, signature, setSignature } = form;
  return (
    <FormDialog
      title={title}
      onClose={onClose}
      {...{ sending, send }}
      data-name={props['data-name']}
      onSend={form.go}
    >
      {children}
      <TextField
        label={t('dashboard.field.wallet_address')}
        autoComplete="off"
        value={wallet}
        onChange={(event) => form.setWallet(event.target.value)}
        hint={t('dashboard.consent.address_hint')}
        error={sending.problemAt('wallet')}
      />
      <div className="row">
        <Button onClick={() => void form.ask(wallet.trim())}>
          {t('dashboard.consent.show_the_message.button')}
        </Button>
        {mode === 'test' ? (
          <Button onClick={() => void form.makeTestWallet()}>
            {t('dashboard.consent.create_a_test_wallet.button')}
          </Button>
        ) : null}
      </div>
      {consent === null ? null : (
        <CopyField
          label={t('dashboard.consent.message.label')}
          value={JSON.stringify(consent.typed_data)}
        />
      )}
      {consent === null ? null : <BrowserWallet {...{ wallet, consent, setSignature }} />}
      <TextField
        label={t('dashboard.consent.signature.label')}
        autoComplete="off"
        value={signature}
        onChange={(event) => setSignature(event.target.value)}
        hint={t('dashboard.consent.signature_hint')}
        error={sending.problemAt('signature')}
      />
    </FormDialog>
  );
}

/** The provider that wallets inject into the page (EIP-1193). */
interface Injected {
  request(call: { readonly method: string; readonly params: readonly unknown[] }): Promise<unknown>;
}

interface BrowserWalletProps {
  readonly wallet: string;
  readonly consent: Consent;
  readonly setSignature: (signature: string) => void;
}

function BrowserWallet({ wallet, consent, setSignature }: BrowserWalletProps): ReactNode {
  const [problem, setProblem] = useState<string | null>(null);
  const injected = (window as { readonly ethereum?: Injected }).ethereum;
  if (injected === undefined) return null;
  const sign = async () => {
    try {
      await injected.request({ method: 'eth_requestAccounts', params: [] });
      const params = [wallet.trim(), JSON.stringify(consent.typed_data)];
      setSignature(String(await injected.request({ method: 'eth_signTypedData_v4', params })));
      setProblem(null);
    } catch {
      setProblem(t('dashboard.consent.not_signed'));
    }
  };
  return (
    <div className="stack stack-tight">
      <Button onClick={() => void sign()}>{t('dashboard.consent.browser_wallet.button')}</Button>
      {problem === null ? null : (
        <p className="field-error" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}
