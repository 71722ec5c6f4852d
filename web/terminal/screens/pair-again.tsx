import { type FormEvent, type ReactNode, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { LockScreen } from '../../ui/lock-screen.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Facts } from '../../ui/table.tsx';
import { named } from '../../ui/text/fixed.ts';
import { keptSettings } from '../kept.ts';
import type { ShownDevice } from '../pairing.ts';
import {
  become,
  type Change,
  endPin,
  forgetMerchant,
  isSameMerchant,
  managerAgrees,
  type Proof,
  proofFor,
} from '../pairing.ts';

function DeviceFacts({ title, device }: { title: string; device: ShownDevice | null }): ReactNode {
  return (
    <div className="card">
      <h2>{title}</h2>
      {device === null ? (
        <p className="soft">A terminal whose key is no longer valid.</p>
      ) : (
        <Facts
          facts={[
            ['Merchant', named(device.merchant_name)],
            ['Terminal', named(device.label)],
            ['Mode', device.livemode ? 'Real money' : 'Test mode'],
          ]}
        />
      )}
    </div>
  );
}

/** For those who have no PIN: a code that a manager has just made for the present terminal. */
function ManagerForm({ change, onAgreed }: { change: Change; onAgreed: () => void }): ReactNode {
  const [code, setCode] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    const found = await managerAgrees(code, change.pairing);
    setBusy(false);
    setProblem(found?.problem ?? null);
    if (found === null) onAgreed();
  };
  return (
    <form className="stack" onSubmit={submit} noValidate>
      <TextField
        label="Unlock code"
        value={code}
        onChange={(event) => setCode(event.target.value)}
        error={problem}
        autoComplete="off"
        autoCapitalize="characters"
        spellCheck={false}
        placeholder="XXXX-XXXX"
        hint="From this terminal’s page in the dashboard: “New unlock code”."
        className="input pair-code"
      />
      <Button type="submit" busy={busy}>
        Use the unlock code
      </Button>
    </form>
  );
}

export interface PairAgainProps {
  readonly change: Change;
  readonly onPaired: () => void;
  readonly onBack: () => void;
}

/** A till that is somebody's becomes another one: says from what to what, and asks who says so. */
export function PairAgain({ change, onPaired, onBack }: PairAgainProps): ReactNode {
  const [asksPin, setAsksPin] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const proof = proofFor(change);
  const { pin } = keptSettings();
  const act = async (endsPin: boolean) => {
    setAsksPin(false);
    setBusy(true);
    const failed = await become(change.to);
    setBusy(false);
    if (failed !== null) return setProblem(failed.problem);
    if (endsPin) endPin();
    if (!isSameMerchant(change)) forgetMerchant();
    onPaired();
  };
  if (asksPin && pin !== null) {
    return <LockScreen pin={pin} owner="This till’s PIN" onUnlock={() => void act(false)} />;
  }
  const agreed = () => {
    if (change.to.device.id !== change.pairing.terminal) return void act(proof === 'pin');
    // The manager's code has paired it already.
    endPin();
    onPaired();
  };
  const press = () => (proof === 'pin' ? setAsksPin(true) : void act(proof === 'ends_pin'));
  return (
    <main className="sheet">
      <title>Pair this device · Tapline</title>
      <div className="stack">
        <h1>Switch this till to another terminal?</h1>
        <DeviceFacts title="Now" device={change.from} />
        <DeviceFacts title="Then" device={change.to.device} />
        {change.hasPin && !isSameMerchant(change) ? (
          <Notice tone="info">This ends the till’s PIN, cashier and shift.</Notice>
        ) : null}
        {problem === null ? null : <Notice tone="bad">{problem}</Notice>}
        <Agreement proof={proof} busy={busy} onPress={press} />
        {asksManager(proof) ? <ManagerForm change={change} onAgreed={agreed} /> : null}
        <Button onClick={onBack}>Keep the current terminal</Button>
      </div>
    </main>
  );
}

type Answer = ReturnType<typeof proofFor>;

function asksManager(proof: Answer): proof is 'pin' | 'manager' {
  return proof === 'pin' || proof === 'manager';
}

const WORDS: Record<Proof, string> = {
  nothing: 'Pair',
  press: 'Pair',
  pin: 'Pair with this till’s PIN',
  ends_pin: 'Pair and remove the PIN',
  manager: 'Pair',
};

interface AgreementProps {
  readonly proof: Answer;
  readonly busy: boolean;
  readonly onPress: () => void;
}

function Agreement({ proof, busy, onPress }: AgreementProps): ReactNode {
  if (typeof proof !== 'string') {
    return (
      <Notice tone="bad" role="alert">
        {proof.problem}
      </Notice>
    );
  }
  if (proof === 'manager') {
    return <p>This till takes real money and has no PIN, so a manager has to approve.</p>;
  }
  return (
    <Button kind="primary" large busy={busy} onClick={onPress}>
      {WORDS[proof]}
    </Button>
  );
}
