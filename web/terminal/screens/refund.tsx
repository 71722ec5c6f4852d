import { type FormEvent, type ReactNode, useCallback, useEffect, useRef, useState } from 'react';
import type { Payment, Refund } from '../../data/device.ts';
import { endOfAddress } from '../../ui/address.ts';
import { Amount } from '../../ui/amount.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { formatUsdc } from '../../ui/money.ts';
import { Notice } from '../../ui/notice.tsx';
import { RefundCrumb } from '../../ui/refund-crumb.tsx';
import { readRefund } from '../../ui/refund-sum.ts';
import { SumField } from '../../ui/sum-field.tsx';
import { writeSum } from '../../ui/typed-sum.ts';
import { keepRefund, keptRefund, type PendingRefund } from '../kept.ts';
import { WORDS } from '../words.ts';
import type { TillContext } from './shift.tsx';

const RETRY_MS = 2_000;
/** Refusals that leave open whether the refund is under way. */
const STILL_OPEN = new Set([
  'idempotency_request_in_progress',
  'internal_error',
  'request_timeout',
  'service_unavailable',
  'rate_limit_exceeded',
]);

/** Said before the service looks for the key: nothing about a refund that was sent before. */
const SAYS_NOTHING = new Set([401, 403]);

/** Said after the service has looked for the key: nothing was refunded under it. */
const MANAGER = 'manager_required';

type Outcome =
  | { readonly is: 'done'; readonly refund: Refund }
  | { readonly is: 'refused'; readonly code: string; readonly message: string };

/**
 * Sends the refund, and the same one with the same key again, until it is known what became of it;
 * after a reload too. Nothing else can be refunded meanwhile.
 */
function useRefund({ api }: TillContext, onDone: () => void) {
  const [pending, setPending] = useState(keptRefund);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const running = useRef(false);
  /** Whether the service may have it already; one that was kept over a reload may. */
  const mayBeThere = useRef(pending !== null);
  const finish = useCallback(
    (found: Outcome) => {
      keepRefund(null);
      setPending(null);
      setOutcome(found);
      onDone();
    },
    [onDone],
  );
  useEffect(() => {
    if (pending === null || running.current) return;
    running.current = true;
    let isCurrent = true;
    const run = async () => {
      while (isCurrent) {
        const answer = await api.refund(pending);
        if (answer.is === 'done') return finish({ is: 'done', refund: answer.value });
        if (answer.is === 'refused' && !STILL_OPEN.has(answer.error.code)) {
          const { code, message } = answer.error;
          const says = code === MANAGER || !SAYS_NOTHING.has(answer.status);
          if (!mayBeThere.current || says) return finish({ is: 'refused', code, message });
        }
        if (answer.is === 'unknown') mayBeThere.current = true;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    };
    void run().finally(() => {
      running.current = false;
    });
    return () => {
      isCurrent = false;
    };
  }, [api, pending, finish]);
  const start = (refund: PendingRefund) => {
    // Before it is sent: whatever happens, the next attempt is the same refund.
    keepRefund(refund);
    mayBeThere.current = false;
    setOutcome(null);
    setPending(refund);
  };
  return { pending, outcome, start };
}

function Told({ outcome }: { readonly outcome: Outcome }): ReactNode {
  if (outcome.is === 'refused') {
    return (
      <Notice tone="bad" role="alert">
        <strong>No refund was made</strong>
        <p>{outcome.message}</p>
      </Notice>
    );
  }
  const { refund } = outcome;
  const amount = <Amount atoms={BigInt(refund.amount)} />;
  if (refund.status === 'failed') {
    return (
      <Notice tone="bad" role="alert">
        <strong>No refund was made</strong>
        <p>{refund.failure_message}</p>
      </Notice>
    );
  }
  return (
    <Notice tone={refund.status === 'succeeded' ? 'good' : 'info'} role="status">
      <strong>{refund.status === 'succeeded' ? 'Refunded' : 'On its way'}</strong>
      <p>
        {amount} {refund.status === 'succeeded' ? 'went' : 'goes'} back to the wallet that paid.
      </p>
    </Notice>
  );
}

interface RefundDialogProps {
  readonly payment: Payment;
  readonly left: bigint;
  readonly onClose: () => void;
  /** A clerk may not give this back alone. */
  readonly needsCode: boolean;
  readonly onRefund: (amount: bigint, managerCode: string | null) => void;
}

function RefundDialog(props: RefundDialogProps): ReactNode {
  const { payment, left, needsCode, onClose, onRefund } = props;
  const [code, setCode] = useState('');
  const [wrote] = useState(left);
  const [typed, setTyped] = useState(writeSum(wrote));
  const { sum, atoms, problem, crumb } = readRefund(typed, { left, wrote });
  const isReady = atoms !== null && (!needsCode || code.trim().length >= 8);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isReady) onRefund(atoms, needsCode ? code.trim() : null);
  };
  return (
    <Dialog title="Refund" onClose={onClose}>
      <form className="stack" onSubmit={submit} noValidate>
        <SumField
          label="Amount"
          value={typed}
          sum={sum}
          onText={setTyped}
          hint={`At most ${formatUsdc(left)}.`}
          error={sum.is === 'empty' ? `Enter an amount up to ${formatUsdc(left)}.` : problem}
        />
        {crumb === null ? null : (
          <RefundCrumb left={left} crumb={crumb} onAll={() => setTyped(writeSum(left))} />
        )}
        {needsCode ? (
          <TextField
            label="Manager code"
            autoComplete="off"
            value={code}
            onChange={(event) => setCode(event.target.value)}
            hint="From Terminals in the dashboard. It works once, for ten minutes."
          />
        ) : null}
        <p>
          It goes back within seconds to the wallet that paid
          {payment.payer === undefined ? null : <> ({endOfAddress(payment.payer)})</>}. It is taken
          from your balance. The customer’s network fee is not refunded.
        </p>
        <Button type="submit" kind="danger" large disabled={!isReady}>
          {atoms !== null ? `Refund ${formatUsdc(atoms)}` : 'Refund'}
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </form>
    </Dialog>
  );
}

export interface RefundPartProps extends TillContext {
  readonly payment: Payment;
  /** Something may have changed: what is shown has to be loaded again. */
  readonly onDone: () => void;
}

/** The way to give a payment back, and what became of it. */
export function RefundPart(props: RefundPartProps): ReactNode {
  const { payment, onDone, settings, device } = props;
  const { pending, outcome, start } = useRefund(props, onDone);
  const [open, setOpen] = useState(false);
  const left = BigInt(payment.amount - payment.amount_refunded);
  const isOther = device !== null && payment.terminal !== device.id;
  const needsCode = isOther || (outcome?.is === 'refused' && outcome.code === MANAGER);
  return (
    <>
      {pending === null ? null : (
        <Notice tone="info" icon="wait" role="status">
          <strong>{WORDS.checking}</strong>
          <p>
            {pending.payment === payment.id ? 'The refund' : 'Another refund'} of{' '}
            <Amount atoms={pending.amount} /> is under way. Do not make another one.
          </p>
        </Notice>
      )}
      {outcome === null ? null : <Told outcome={outcome} />}
      {left > 0n ? (
        <Button disabled={pending !== null} onClick={() => setOpen(true)}>
          Refund
        </Button>
      ) : null}
      {open ? (
        <RefundDialog
          payment={payment}
          left={left}
          needsCode={needsCode}
          onClose={() => setOpen(false)}
          onRefund={(amount, managerCode) => {
            setOpen(false);
            const cashier = settings.cashier || null;
            const key = crypto.randomUUID();
            start({ key, payment: payment.id, amount, cashier, managerCode });
          }}
        />
      ) : null}
    </>
  );
}
