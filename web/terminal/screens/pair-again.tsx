import { type FormEvent, type ReactNode, useEffect, useState } from 'react';
import { named } from '#i18n/bidi-isolates.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { LockScreen } from '../../ui/lock-screen.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Facts } from '../../ui/table.tsx';
import { type TextKey, t } from '../../ui/text/t.ts';
import { type HeldSale, toForward } from '../offline/held-sales.ts';
import type { ShownDevice } from '../pair-device.ts';
import {
  becomeAnew,
  type Change,
  endPin,
  isSameMerchant,
  managerAgrees,
  type Proof,
  proofFor,
} from '../pair-device.ts';
import { hasSoldOffline, keptSettings } from '../till-storage.ts';
import { SaveSales } from './offline-sales.tsx';

function DeviceFacts({ title, device }: { title: string; device: ShownDevice | null }): ReactNode {
  return (
    <div className="card">
      <h2>{title}</h2>
      {device === null ? (
        <p className="soft">{t('till.pair_again.ended')}</p>
      ) : (
        <Facts
          facts={[
            [t('till.pair_again.merchant'), named(device.merchant_name)],
            [t('till.pair_again.terminal'), named(device.label)],
            [
              t('till.pair_again.mode'),
              device.livemode ? t('till.pair_again.live') : t('till.test_mode'),
            ],
          ]}
        />
      )}
    </div>
  );
}

/** Reads this browser's sales that were not forwarded yet. */
function useUnsentSales(): readonly HeldSale[] {
  const [sales, setSales] = useState<readonly HeldSale[]>([]);
  useEffect(() => {
    if (!hasSoldOffline()) return;
    const read = async () => (await import('../offline/sale-store.ts')).readSales();
    read().then(
      (all) => setSales(toForward(all)),
      // Without an answer of the storage, the till keeps the sales, too.
      () => {},
    );
  }, []);
  return sales;
}

/**
 * Says how many sales wait, before the device becomes another terminal. Only a terminal of the same
 * shop and mode can forward them.
 */
function UnsentSales(): ReactNode {
  const sales = useUnsentSales();
  if (sales.length === 0) return null;
  return (
    <Notice tone="warn" role="alert">
      <strong>{t('till.offline_sale.waits', { count: sales.length })}</strong>
      <p>{t('till.pair_again.unsent')}</p>
      <SaveSales sales={sales} />
    </Notice>
  );
}

/** Asks for a manager's code for the current terminal, if the till has no PIN. */
function ManagerForm({ change, onAgreed }: { change: Change; onAgreed: () => void }): ReactNode {
  const [code, setCode] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    const result = await managerAgrees(code, change.pairing);
    setBusy(false);
    setProblem(result?.problem ?? null);
    if (result === null) onAgreed();
  };
  return (
    <form className="stack" onSubmit={submit} noValidate>
      <TextField
        label={t('till.pair_again.unlock_code')}
        value={code}
        onChange={(event) => setCode(event.target.value)}
        error={problem}
        autoComplete="off"
        autoCapitalize="characters"
        spellCheck={false}
        placeholder="XXXX-XXXX"
        translate="no"
        hint={t('till.pair_again.unlock_code_hint')}
        className="input pair-code"
      />
      <Button type="submit" busy={busy}>
        {t('till.pair_again.unlock_code_button')}
      </Button>
    </form>
  );
}

export interface PairAgainProps {
  readonly change: Change;
  readonly onPaired: () => void;
  readonly onBack: () => void;
}

/** Moves a paired till to another terminal: shows both and asks for the required proof. */
export function PairAgain({ change, onPaired, onBack }: PairAgainProps): ReactNode {
  const [asksPin, setAsksPin] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const proof = proofFor(change);
  const { pin } = keptSettings();
  const act = async (endsPin: boolean) => {
    setAsksPin(false);
    setBusy(true);
    const failed = await becomeAnew(change);
    setBusy(false);
    if (failed !== null) return setProblem(failed.problem);
    if (endsPin) endPin();
    onPaired();
  };
  if (asksPin && pin !== null) {
    return (
      <LockScreen pin={pin} owner={t('till.pair_again.pin')} onUnlock={() => void act(false)} />
    );
  }
  const agreed = () => {
    if (change.to.device.id !== change.pairing.terminal) return void act(proof === 'pin');
    // The manager's code has already paired the device.
    endPin();
    onPaired();
  };
  const agree = () => (proof === 'pin' ? setAsksPin(true) : void act(proof === 'ends_pin'));
  return (
    <main className="sheet">
      <title>{t('till.pair.page')}</title>
      <div className="stack">
        <h1>{t('till.pair_again.heading')}</h1>
        <DeviceFacts title={t('till.pair_again.now')} device={change.from} />
        <DeviceFacts title={t('till.pair_again.then')} device={change.to.device} />
        {change.hasPin && !isSameMerchant(change) ? (
          <Notice tone="info">{t('till.pair_again.text')}</Notice>
        ) : null}
        {change.to.device.id === change.pairing.terminal ? null : <UnsentSales />}
        {problem === null ? null : <Notice tone="bad">{problem}</Notice>}
        <Agreement proof={proof} busy={busy} onAgree={agree} />
        {asksManager(proof) ? <ManagerForm change={change} onAgreed={agreed} /> : null}
        <Button onClick={onBack}>{t('till.pair_again.keep_button')}</Button>
      </div>
    </main>
  );
}

type Answer = ReturnType<typeof proofFor>;

function asksManager(proof: Answer): proof is 'pin' | 'manager' {
  return proof === 'pin' || proof === 'manager';
}

const WORDS: Record<Proof, TextKey> = {
  nothing: 'till.pair.button',
  click: 'till.pair.button',
  pin: 'till.pair_again.pin_button',
  ends_pin: 'till.pair_again.remove_pin_button',
  manager: 'till.pair.button',
};

interface AgreementProps {
  readonly proof: Answer;
  readonly busy: boolean;
  readonly onAgree: () => void;
}

function Agreement({ proof, busy, onAgree }: AgreementProps): ReactNode {
  if (typeof proof !== 'string') {
    return (
      <Notice tone="bad" role="alert">
        {proof.problem}
      </Notice>
    );
  }
  if (proof === 'manager') {
    return <p>{t('till.pair_again.needs_manager')}</p>;
  }
  return (
    <Button data-name="Pair" kind="primary" large busy={busy} onClick={onAgree}>
      {t(WORDS[proof])}
    </Button>
  );
}
