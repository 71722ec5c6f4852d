import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { signalUnknownPasskey } from '../../data/signal-unknown-passkey.ts';
import { Button } from '../../ui/button.tsx';
import { Switch } from '../../ui/choice.tsx';
import { CopyField } from '../../ui/copy-field.tsx';
import { LanguageChoice } from '../../ui/language-choice.tsx';
import { Notice } from '../../ui/notice.tsx';
import { PinForm } from '../../ui/pin-form.tsx';
import { type TextKey, t } from '../../ui/text/t.ts';
import { useToast } from '../../ui/toast.tsx';
import { opensBy, passkeyOf, type Vault } from '../key-vault.ts';
import { dropKey } from '../keyring.ts';
import { askOwner } from '../passkey-per-payment.ts';
import { dropSession } from '../sign-in.ts';
import { useHere } from '../wallet-context.tsx';
import { forgetWallet, keep, useKept } from '../wallet-storage.ts';
import { AgreedDialog } from './agreed-dialog.tsx';
import { BackupButton } from './backup-button.tsx';
import { CurrencyChoice } from './currency-choice.tsx';
import { NetworkSwitch } from './network-switch.tsx';
import { Openers } from './openers.tsx';
import { ProblemNotice } from './problem-notice.tsx';
import { RingsSection } from './rings.tsx';

function RemoveSheet({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { api, vault } = useHere();
  const backedUp = useKept('backedUp');
  const remove = async () => {
    await api.signOut();
    const passkey = passkeyOf(vault);
    if (passkey !== null) await signalUnknownPasskey(passkey);
    dropKey();
    forgetWallet();
  };
  return (
    <AgreedDialog
      title={t('wallet.remove.heading')}
      agree={t('wallet.remove.agree')}
      act={t('wallet.remove.button')}
      keep={t('wallet.remove.keep_button')}
      onAct={() => void remove()}
      onClose={onClose}
    >
      {backedUp ? null : <Notice tone="bad">{t('wallet.remove.not_backed_up')}</Notice>}
      <p>{t('wallet.remove.text')}</p>
    </AgreedDialog>
  );
}

/**
 * Switches the passkey per payment. Switching it off also requires the passkey; otherwise someone
 * who finds the phone could switch it off first.
 */
function EachPayment(): ReactNode {
  const { vault } = useHere();
  const isOn = useKept('passkeyEach');
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  if (!opensBy(vault, 'passkey')) return null;
  const change = async (on: boolean) => {
    setBusy(true);
    const wrong = on ? null : await askOwner(vault);
    setProblem(wrong);
    if (wrong === null) keep('passkeyEach', on);
    setBusy(false);
  };
  return (
    <>
      <Switch
        label={t('wallet.settings.each_payment')}
        checked={isOn}
        disabled={busy}
        onChange={(on) => void change(on)}
      />
      <p className="soft small">{t('wallet.settings.each_payment_text')}</p>
      <ProblemNotice problem={problem} />
    </>
  );
}

function openedBy(vault: Vault): TextKey {
  if (!opensBy(vault, 'passkey')) return 'wallet.settings.key.by_password';
  return opensBy(vault, 'password')
    ? 'wallet.settings.key.by_both'
    : 'wallet.settings.key.by_passkey';
}

function KeySection(): ReactNode {
  const { vault } = useHere();
  const backedUp = useKept('backedUp');
  const [removing, setRemoving] = useState(false);
  return (
    <section className="card stack">
      <h2>{t('wallet.settings.key.heading')}</h2>
      <p className="soft">
        {t(openedBy(vault))}{' '}
        {backedUp ? t('wallet.settings.key.backed_up') : t('wallet.settings.key.not_backed_up')}
      </p>
      <div className="row">
        <BackupButton isDone={backedUp} />
        <Openers />
        <Button onClick={() => setRemoving(true)}>{t('wallet.remove.button')}</Button>
      </div>
      <EachPayment />
      {removing ? <RemoveSheet onClose={() => setRemoving(false)} /> : null}
    </section>
  );
}

export function SettingsPage(): ReactNode {
  const { vault, network, api } = useHere();
  const pin = useKept('pin');
  const toast = useToast();
  const queries = useQueryClient();
  const signOut = async () => {
    await api.signOut();
    dropKey();
    queries.clear();
    dropSession(network);
  };
  return (
    <>
      <title>{t('wallet.settings.page')}</title>
      <h1>{t('wallet.settings.heading')}</h1>
      <section className="card stack">
        <h2>{t('wallet.heading')}</h2>
        <CopyField label={t('wallet.address')} value={vault.address} />
        <p className="soft small">{t('wallet.settings.address_text')}</p>
        <NetworkSwitch vault={vault} />
        <LanguageChoice />
        <CurrencyChoice />
      </section>
      <KeySection />
      <RingsSection />
      <section className="card">
        <PinForm
          title={t('wallet.settings.pin.heading')}
          hint={t('wallet.settings.pin.hint')}
          pin={pin}
          onChange={(sealed) => {
            keep('pin', sealed);
            if (sealed !== null) toast(t('wallet.settings.pin.done'));
          }}
        />
      </section>
      <Button data-name="Sign out" onClick={signOut}>
        {t('wallet.settings.sign_out')}
      </Button>
    </>
  );
}
