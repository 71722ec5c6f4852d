import { type ReactNode, useState } from 'react';
import type { Payment, Refund } from '../../data/types/dashboard.ts';
import { Form } from '../../desk/form.tsx';
import { useSend } from '../../desk/send.ts';
import { Amount } from '../../ui/amount.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { formatAtoms, formatUsdc } from '../../ui/money.ts';
import { Notice } from '../../ui/notice.tsx';
import { RefundCrumb } from '../../ui/refund-crumb.tsx';
import { readRefund } from '../../ui/refund-sum.ts';
import { SumField } from '../../ui/sum-field.tsx';
import { readSum, sumIn, writeSum } from '../../ui/typed-sum.ts';
import { useMerchant } from '../merchant.ts';

/** The service itself waits up to a minute for the chain. */
const TIMEOUT_MS = 75_000;

export interface RefundDialogProps {
  readonly payment: Payment;
  readonly onClose: () => void;
}

/**
 * The amount of a link that prepares a refund (`?refund=2.50`); null: it is no such link. Programs
 * write `2.005` with a point for decimals. With all six decimals it has that one reading.
 */
export function refundWish(): bigint | null {
  const wish = new URLSearchParams(location.search).get('refund') ?? '';
  const [, whole, decimals = ''] = /^(\d+)(?:\.(\d{1,6}))?$/.exec(wish) ?? [];
  if (whole === undefined) return null;
  return sumIn(readSum(`${whole}.${decimals.padEnd(6, '0')}`));
}

export function leftOf({ amount, amount_refunded }: Payment): bigint {
  return BigInt(amount) - BigInt(amount_refunded);
}

/** Gives back all of a payment, or a part. */
export function RefundDialog({ payment, onClose }: RefundDialogProps): ReactNode {
  const { call } = useMerchant();
  // What could be given back when the dialog was opened: what was typed stays meant.
  const [left] = useState(() => leftOf(payment));
  const [wrote] = useState(() => refundWish() ?? left);
  const [typed, setTyped] = useState(() => writeSum(wrote));
  const [reason, setReason] = useState('');
  const [refund, setRefund] = useState<Refund | null>(null);
  const sending = useSend(['amount', 'reason']);
  const { sum, atoms, problem, crumb } = readRefund(typed, { left, wrote });
  const send = async () => {
    if (atoms === null) return sending.refuse('amount', problem ?? 'Enter an amount such as 2.50.');
    const body = {
      payment: payment.id,
      amount: Number(atoms),
      ...(reason.trim() === '' ? {} : { reason: reason.trim() }),
    };
    const made = await sending.send((idempotencyKey) =>
      call('POST /accounts/{account}/{mode}/refunds', {
        body,
        idempotencyKey,
        timeoutMs: TIMEOUT_MS,
      }),
    );
    if (made !== null) setRefund(made);
  };
  const isSent = sending.busy || sending.isUnknown;
  if (refund !== null) return <RefundTold refund={refund} onClose={onClose} />;
  const words = atoms === null ? 'Refund' : `Refund ${formatUsdc(atoms)}`;
  return (
    <Dialog title="Refund" onClose={onClose}>
      <Form sending={sending} onSend={send} send={words} onCancel={onClose}>
        <p>
          It goes to the wallet that paid, <span className="id">{payment.payer}</span>. Fees are not
          refunded.
        </p>
        <SumField
          label="Amount"
          value={typed}
          sum={sum}
          readOnly={isSent}
          onText={setTyped}
          hint={`In USDC, at most ${formatAtoms(left)}.`}
          error={sending.problemAt('amount') ?? problem}
        />
        {crumb === null || isSent ? null : (
          <RefundCrumb left={left} crumb={crumb} onAll={() => setTyped(writeSum(left))} />
        )}
        <TextField
          label="Reason"
          value={reason}
          readOnly={isSent}
          onChange={(event) => setReason(event.target.value)}
          hint="Optional, for your records."
          error={sending.problemAt('reason')}
        />
      </Form>
    </Dialog>
  );
}

interface RefundToldProps {
  readonly refund: Refund;
  readonly onClose: () => void;
}

function RefundTold({ refund, onClose }: RefundToldProps): ReactNode {
  return (
    <Dialog title="Refund" onClose={onClose}>
      <Outcome refund={refund} />
      <div className="row">
        <Button onClick={onClose}>Done</Button>
      </div>
    </Dialog>
  );
}

function Outcome({ refund }: { readonly refund: Refund }): ReactNode {
  const amount = <Amount atoms={BigInt(refund.amount)} />;
  if (refund.status === 'failed') {
    return (
      <Notice tone="bad" role="alert">
        <strong>No refund was made</strong>
        <p>{refund.failure_message}</p>
      </Notice>
    );
  }
  if (refund.status === 'pending') {
    return (
      <Notice tone="info" role="status">
        <strong>Pending</strong>
        <p>{amount} is on its way. The list of refunds says when it has arrived.</p>
      </Notice>
    );
  }
  return (
    <Notice tone="good" role="status">
      <strong>Refunded</strong>
      <p>{amount} went back to the wallet that paid.</p>
    </Notice>
  );
}
