import { type ReactNode, useEffect, useState, useSyncExternalStore } from 'react';
import { Amount } from '../../ui/amount.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { formatUsdc } from '../../ui/money.ts';
import { Notice } from '../../ui/notice.tsx';
import { Facts } from '../../ui/table.tsx';
import { endRing, startRing } from '../alert.ts';
import { type Charge, chargeOf, sumLength } from '../allowance.ts';
import { Bell } from '../bell.ts';
import { askOwner, asksEach } from '../each-payment.ts';
import { useHere } from '../here.tsx';
import { useWallet } from '../queries.ts';
import { leftMs, type Ring, type RingOutcome } from '../ring-machine.ts';
import { CountdownRing } from './countdown-ring.tsx';
import { Refused } from './refused.tsx';
import './ring.css';
import { named } from '#core/isolates.ts';

const REASONS: Readonly<Record<string, string>> = {
  FIRST_MERCHANT_PAYMENT: 'You have not paid at this shop before.',
  HIGH_AMOUNT: 'This is more than this shop takes without asking.',
  VELOCITY: 'This is one of several payments within a short time.',
  STATIC_PASS: 'This pass can be copied, so first payments and larger amounts need your approval.',
  CARD_AFTER_RECOVERY: 'Did you tap your card? We ask once, to rule out a copy.',
};

const ENDS: Readonly<
  Record<RingOutcome, { tone: 'good' | 'bad' | 'plain'; title: string; hint: string }>
> = {
  paid: { tone: 'good', title: 'Paid', hint: 'It is in your history.' },
  rejected: { tone: 'plain', title: 'Rejected', hint: 'Nothing was paid.' },
  declined: { tone: 'bad', title: 'Declined', hint: 'Nothing was paid.' },
  expired: {
    tone: 'plain',
    title: 'Too late',
    hint: 'There was no answer in time. Nothing was paid.',
  },
  canceled: { tone: 'plain', title: 'Canceled', hint: 'The shop canceled it. Nothing was paid.' },
  gone: {
    tone: 'plain',
    title: 'Already answered',
    hint: 'It was answered in another window or on another device.',
  },
  refused: { tone: 'bad', title: 'Not paid', hint: 'Nothing was paid.' },
};

const DECLINES: Readonly<Record<string, string>> = {
  insufficient_funds: 'There is not enough USDC in the wallet.',
  approval_insufficient: 'You have not allowed enough: see Limits.',
  limit_exceeded: 'It is above your limits.',
  pass_revoked: 'The pass has been revoked.',
  settlement_failed: 'The chain did not accept it.',
};

function useBell(): { readonly bell: Bell | null; readonly ring: Ring | null } {
  const { api, vault, network } = useHere();
  const [bell, setBell] = useState<Bell | null>(null);
  useEffect(() => {
    const made = new Bell(api, `${network} ${vault.address}`);
    setBell(made);
    return () => made.stop();
  }, [api, vault, network]);
  const rings = useSyncExternalStore(
    (listener) => bell?.subscribe(listener) ?? (() => {}),
    () => bell?.rings() ?? null,
  );
  return { bell, ring: rings?.[0] ?? null };
}

interface SumProps {
  readonly ring: Ring;
  readonly charge: Charge | null;
}

function Sum({ ring, charge }: SumProps): ReactNode {
  const sum = charge?.total ?? BigInt(ring.confirmation.amount);
  return (
    <p className={`ring-sum ${sumLength(sum)}`}>
      {/* No button: a dialog would give it the focus. The digits are below, and in `Approve`. */}
      <Amount still atoms={sum} />
    </p>
  );
}

/** Above what may be long: the seconds are to be seen on the smallest screen. */
function Why({ confirmation }: Ring): ReactNode {
  const { api } = useHere();
  return (
    <p className="row ring-why">
      <CountdownRing left={() => leftMs(confirmation, api.now())} />
      <span>{REASONS[confirmation.reason_code ?? ''] ?? 'This payment needs your approval.'}</span>
    </p>
  );
}

function Parts({ ring, charge }: SumProps): ReactNode {
  const { confirmation } = ring;
  const all = BigInt(confirmation.amount);
  return (
    <Facts
      facts={[
        ['Sale', <Amount key="sale" exact unit={false} atoms={all - BigInt(confirmation.tip)} />],
        [
          'Tip',
          confirmation.tip === 0 ? null : (
            <Amount key="tip" exact unit={false} atoms={BigInt(confirmation.tip)} />
          ),
        ],
        [
          'Fees',
          charge === null ? null : <Amount key="fees" exact unit={false} atoms={charge.fees} />,
        ],
        [
          'You get back',
          charge === null || charge.cashback === 0n ? null : (
            <Amount key="cashback" exact unit={false} atoms={charge.cashback} />
          ),
        ],
        ['For', confirmation.description],
        ['Order', confirmation.order_id],
      ]}
    />
  );
}

function endHint({ outcome, message, confirmation }: Extract<Ring, { at: 'ended' }>): string {
  if (outcome === 'declined')
    return DECLINES[confirmation.decline_code ?? ''] ?? ENDS.declined.hint;
  return message ?? ENDS[outcome].hint;
}

function Answering({ ring }: { readonly ring: Extract<Ring, { at: 'answering' }> }): ReactNode {
  const isUnknown = ring.sends > 1 && !ring.isTaken;
  return (
    <Notice tone="info" role="status">
      <strong>{isUnknown ? 'Checking…' : ring.yes ? 'Paying…' : 'Rejecting…'}</strong>
      {isUnknown ? <p>We don’t know yet whether your answer has arrived.</p> : null}
      {ring.isTaken ? <p>Your approval has arrived. The chain is processing it.</p> : null}
    </Notice>
  );
}

interface PartProps<R extends Ring> {
  readonly ring: R;
  readonly bell: Bell;
  readonly charge: Charge | null;
}

function Asked({ ring, bell, charge }: PartProps<Extract<Ring, { at: 'asked' }>>): ReactNode {
  const { confirmation, remark } = ring;
  const { vault } = useHere();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const id = confirmation.payment_intent;
  const approve = async () => {
    if (asksEach(vault)) {
      setBusy(true);
      const wrong = await askOwner(vault);
      setBusy(false);
      setProblem(wrong);
      if (wrong !== null) return;
    }
    void bell.answer(id, true);
  };
  return (
    <>
      <Refused problem={problem ?? remark} />
      <div className="ring-answers">
        <Button kind="primary" large busy={busy} onClick={approve}>
          {`Approve ${formatUsdc(charge?.total ?? BigInt(confirmation.amount))}`}
        </Button>
        <Button large onClick={() => void bell.answer(id, false)}>
          Reject
        </Button>
      </div>
    </>
  );
}

function Ended({ ring, bell }: PartProps<Extract<Ring, { at: 'ended' }>>): ReactNode {
  const { tone, title } = ENDS[ring.outcome];
  const intent = ring.confirmation.payment_intent;
  return (
    <>
      <Notice tone={tone} role="status">
        <strong>{title}</strong>
        <p>{endHint(ring)}</p>
      </Notice>
      <Button kind="primary" large onClick={() => bell.dispatch({ type: 'closed', intent })}>
        Done
      </Button>
    </>
  );
}

/** Stands on every page: whatever one is doing, the question comes first. */
export function RingSheet(): ReactNode {
  const { refresh } = useHere();
  const { bell, ring } = useBell();
  const rates = useWallet().data?.fee_rates;
  const at = ring?.at ?? null;
  useEffect(() => {
    if (at === 'asked') startRing();
    if (at === 'answering' || at === 'ended') endRing();
    if (at === 'ended') refresh();
  }, [at, refresh]);
  if (bell === null || ring === null) return null;
  const { confirmation } = ring;
  const intent = confirmation.payment_intent;
  const charge = rates === undefined ? null : chargeOf(BigInt(confirmation.amount), rates);
  const part = { bell, charge };
  return (
    <Dialog
      key={intent}
      title={named(confirmation.merchant_name)}
      // A payer who is asked says yes or no: Escape is neither.
      onClose={() => bell.dispatch({ type: 'closed', intent })}
    >
      <Sum ring={ring} charge={charge} />
      {ring.at === 'asked' ? <Why {...ring} /> : null}
      <Parts ring={ring} charge={charge} />
      {ring.at === 'asked' ? <Asked ring={ring} {...part} /> : null}
      {ring.at === 'answering' ? <Answering ring={ring} /> : null}
      {ring.at === 'ended' ? <Ended ring={ring} {...part} /> : null}
    </Dialog>
  );
}
