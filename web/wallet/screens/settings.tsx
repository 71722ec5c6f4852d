import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Choice, Switch } from '../../ui/choice.tsx';
import { CopyField } from '../../ui/copy-field.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Notice } from '../../ui/notice.tsx';
import { PinForm } from '../../ui/pin-form.tsx';
import { useToast } from '../../ui/toast.tsx';
import { askOwner } from '../each-payment.ts';
import { useHere } from '../here.tsx';
import { forgetWallet, keep, useKept } from '../kept.ts';
import { dropKey } from '../keyring.ts';
import { dropSession } from '../sign-in.ts';
import { BackupSheet } from './backup.tsx';
import { NetworkSwitch } from './network-switch.tsx';
import { Refused } from './refused.tsx';
import { RingsSection } from './rings.tsx';

function RemoveSheet({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { api } = useHere();
  const backedUp = useKept('backedUp');
  const [agreed, setAgreed] = useState(false);
  const [missing, setMissing] = useState(false);
  const remove = async () => {
    if (!agreed) return setMissing(true);
    await api.signOut();
    dropKey();
    forgetWallet();
  };
  return (
    <Dialog title="Remove the wallet from this browser?" onClose={onClose}>
      {backedUp ? null : (
        <Notice tone="bad">
          This wallet is not backed up. If you continue, everything in it is lost for good.
        </Notice>
      )}
      <p>Passes and cards keep working after this. Revoke them or stop all payments first.</p>
      <Choice
        type="checkbox"
        name="agreed"
        value="yes"
        label="I have saved the key elsewhere, or no longer need this wallet"
        checked={agreed}
        onChange={setAgreed}
      />
      {missing && !agreed ? (
        <Notice tone="bad" role="alert">
          Tick the box first.
        </Notice>
      ) : null}
      <Button kind="danger" large onClick={remove}>
        Remove wallet
      </Button>
      <Button kind="quiet" onClick={onClose}>
        Keep wallet
      </Button>
    </Dialog>
  );
}

/** Off again asks the passkey too: else whoever finds the phone would turn it off first. */
function EachPayment(): ReactNode {
  const { vault } = useHere();
  const isOn = useKept('passkeyEach');
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  if (vault.seal.by !== 'passkey') return null;
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
        label="Ask my passkey for each payment"
        checked={isOn}
        disabled={busy}
        onChange={(on) => void change(on)}
      />
      <p className="soft small">
        Before each approval of a payment and each code for a till. Cards and tags that you tap do
        not ask for it.
      </p>
      <Refused problem={problem} />
    </>
  );
}

function KeySection(): ReactNode {
  const { vault } = useHere();
  const backedUp = useKept('backedUp');
  const [open, setOpen] = useState<'backup' | 'remove' | null>(null);
  const close = () => setOpen(null);
  return (
    <section className="card stack">
      <h2>Your key</h2>
      <p className="soft">
        {vault.seal.by === 'passkey'
          ? 'Protected by a passkey on this device.'
          : 'Protected by your wallet password.'}{' '}
        {backedUp ? 'It is backed up.' : 'It is not backed up yet.'}
      </p>
      <div className="row">
        <Button kind={backedUp ? 'plain' : 'primary'} onClick={() => setOpen('backup')}>
          Back up wallet
        </Button>
        <Button onClick={() => setOpen('remove')}>Remove wallet</Button>
      </div>
      <EachPayment />
      {open === 'backup' ? <BackupSheet onClose={close} /> : null}
      {open === 'remove' ? <RemoveSheet onClose={close} /> : null}
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
      <title>Settings · Tapline</title>
      <h1>Settings</h1>
      <section className="card stack">
        <h2>Wallet</h2>
        <CopyField label="Wallet address" value={vault.address} />
        <p className="soft small">USDC sent to this address arrives here.</p>
        <NetworkSwitch vault={vault} />
      </section>
      <KeySection />
      <RingsSection />
      <section className="card">
        <PinForm
          title="Screen PIN"
          hint="Locks this screen. It does not unlock your key. At least four digits."
          pin={pin}
          onChange={(sealed) => {
            keep('pin', sealed);
            if (sealed !== null) toast('The PIN is set. You enter it each time the wallet loads.');
          }}
        />
      </section>
      <Button onClick={signOut}>Sign out</Button>
    </>
  );
}
