import { type ReactNode, useState } from 'react';
import { refundableLines } from '../../data/refund-lines.ts';
import { type RefundPart, refundFields } from '../../data/refund-request-fields.ts';
import { readRefund, refundLeft, usdcLeft } from '../../data/refund-sum.ts';
import type { Payment, Refund } from '../../data/types/dashboard.ts';
import { useRefundItems } from '../../data/use-refund-items.ts';
import { FormDialog } from '../../desk/form-dialog.tsx';
import { type Sending, useSend } from '../../desk/use-send.ts';
import { Amount } from '../../ui/amount.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { formatMoney, sumRules } from '../../ui/format-price.ts';
import { Notice } from '../../ui/notice.tsx';
import { priceOf } from '../../ui/quoted-price.ts';
import { RefundCrumb } from '../../ui/refund-crumb.tsx';
import { ItemsButton, RefundItems } from '../../ui/refund-items.tsx';
import { SumField } from '../../ui/sum-field.tsx';
import { t } from '../../ui/text/t.ts';
import { rich } from '../../ui/text/tagged-text.ts';
import { given } from '../../ui/text/untranslated-parts.ts';
import { readSum, sumIn, writeSum } from '../../ui/typed-sum.ts';
import { useMerchant, useRead } from '../use-merchant.ts';

/** The service itself waits up to a minute for the chain, so wait a little longer. */
const WITHIN = { timeoutMs: 75_000 };

export interface RefundDialogProps {
  readonly payment: Payment;
  readonly onClose: () => void;
}

/**
 * Returns the amount in a link that prepares a refund (`?refund=2.50`), or `null` without one.
 * Programs write a decimal point, as in `2.005`. Padding to six decimals makes that unambiguous.
 */
export function refundWish(): bigint | null {
  const wish = new URLSearchParams(location.search).get('refund') ?? '';
  const [, whole, decimals = ''] = /^(\d+)(?:\.(\d{1,6}))?$/.exec(wish) ?? [];
  if (whole === undefined) return null;
  return sumIn(readSum(`${whole}.${decimals.padEnd(6, '0')}`));
}

/** Holds the typed amount in the currency of the sale, or in USDC if a link prepared the refund. */
function useTypedRefund(payment: Payment) {
  // Keeps the refundable amount from when the dialog opened, so that the typed amount keeps its
  // meaning.
  const [all] = useState(() => (refundWish() === null ? refundLeft(payment) : usdcLeft(payment)));
  const [wrote] = useState(() => refundWish() ?? all.left);
  const [typed, setTyped] = useState(() => writeSum(wrote, sumRules(all.currency)));
  return { ...all, typed, setTyped, read: readRefund(typed, { ...all, wrote }) };
}

function useItems(payment: Payment) {
  const { data } = useRead(
    'GET /accounts/{account}/{mode}/refunds',
    { query: { payment: payment.id, limit: 100 } },
    { enabled: payment.line_items !== null },
  );
  return useRefundItems(refundableLines(payment, data));
}

function sendWords(part: RefundPart | null): string {
  if (part === null) return t('dashboard.button.refund');
  return t('dashboard.refund_dialog.button', { sum: formatMoney(part.units, part.currency) });
}

export function RefundDialog({ payment, onClose }: RefundDialogProps): ReactNode {
  const { call } = useMerchant();
  const amount = useTypedRefund(payment);
  const items = useItems(payment);
  const [reason, setReason] = useState('');
  const [refund, setRefund] = useState<Refund | null>(null);
  const sending = useSend(['amount', 'presentment_amount', 'line_items', 'reason']);
  const part = items.opened === null ? amount.read.part : items.part;
  const send = async () => {
    if (part === null && items.opened !== null) return sending.refuse('line_items', items.problem);
    if (part === null)
      return sending.refuse(
        'amount',
        amount.read.problem ?? t('dashboard.refund_dialog.amount_missing'),
      );
    const body = {
      payment: payment.id,
      ...refundFields(part),
      ...(reason.trim() === '' ? {} : { reason: reason.trim() }),
    };
    const made = await sending.send((idempotencyKey) =>
      call('POST /accounts/{account}/{mode}/refunds', { ...WITHIN, body, idempotencyKey }),
    );
    if (made !== null) setRefund(made);
  };
  const isSent = sending.busy || sending.isUnknown;
  if (refund !== null) return <RefundResult refund={refund} onClose={onClose} />;
  const wallet = () => <span className="id">{payment.payer}</span>;
  return (
    <FormDialog
      title={t('dashboard.button.refund')}
      onClose={onClose}
      sending={sending}
      onSend={send}
      send={sendWords(part)}
      data-name="Refund"
    >
      <p>{rich('dashboard.refund_dialog.text', { wallet })}</p>
      <WhatToRefund amount={amount} items={items} sending={sending} isSent={isSent} />
      <Reason
        value={reason}
        readOnly={isSent}
        onText={setReason}
        error={sending.problemAt('reason')}
      />
    </FormDialog>
  );
}

interface SendingPart {
  readonly sending: Sending;
  /** True once the request may have been sent, so that only the same one may follow. */
  readonly isSent: boolean;
}

interface WhatProps extends SendingPart {
  readonly amount: ReturnType<typeof useTypedRefund>;
  readonly items: ReturnType<typeof useItems>;
}

/** The amount, or the lines of the sale. */
function WhatToRefund({ amount, items, sending, isSent }: WhatProps): ReactNode {
  return (
    <>
      {items.opened === null ? (
        <AmountPart {...amount} sending={sending} isSent={isSent} />
      ) : (
        <ItemsPart {...items} sending={sending} isSent={isSent} />
      )}
      {items.opened === null && items.lines === null ? null : (
        <ItemsButton
          isOpen={items.opened !== null}
          disabled={isSent}
          onClick={() => {
            sending.clear();
            items.turn();
          }}
        />
      )}
    </>
  );
}

function AmountPart(props: ReturnType<typeof useTypedRefund> & SendingPart): ReactNode {
  const { left, currency, typed, setTyped, sending, isSent } = props;
  const { sum, problem, crumb } = props.read;
  return (
    <>
      <SumField
        data-name="Amount"
        label={t('dashboard.field.amount')}
        value={typed}
        sum={sum}
        currency={currency}
        readOnly={isSent}
        onText={setTyped}
        hint={t('dashboard.refund_dialog.amount_hint', { left: formatMoney(left, currency) })}
        error={sending.problemAt('amount') ?? sending.problemAt('presentment_amount') ?? problem}
      />
      {crumb === null || isSent ? null : (
        <RefundCrumb left={left} crumb={crumb} onAll={() => setTyped(writeSum(left))} />
      )}
    </>
  );
}

type ItemsProps = ReturnType<typeof useItems> & SendingPart;

function ItemsPart({ opened, chosen, setChosen, part, sending, isSent }: ItemsProps): ReactNode {
  if (opened === null) return null;
  return (
    <RefundItems
      {...opened}
      chosen={chosen}
      sum={part === null ? null : formatMoney(part.units, part.currency)}
      error={sending.problemAt('line_items')}
      readOnly={isSent}
      onChosen={(next) => {
        sending.clear();
        setChosen(next);
      }}
    />
  );
}

interface ReasonProps {
  readonly value: string;
  readonly readOnly: boolean;
  readonly onText: (text: string) => void;
  readonly error: string | null;
}

function Reason({ onText, ...field }: ReasonProps): ReactNode {
  return (
    <TextField
      {...field}
      label={t('dashboard.field.reason')}
      onChange={(event) => onText(event.target.value)}
      hint={t('dashboard.refund_dialog.reason_hint')}
    />
  );
}

interface RefundResultProps {
  readonly refund: Refund;
  readonly onClose: () => void;
}

function RefundResult({ refund, onClose }: RefundResultProps): ReactNode {
  return (
    <Dialog title={t('dashboard.button.refund')} onClose={onClose}>
      <Outcome refund={refund} />
      <div className="row">
        <Button onClick={onClose}>{t('desk.button.done')}</Button>
      </div>
    </Dialog>
  );
}

function Outcome({ refund }: { readonly refund: Refund }): ReactNode {
  const amount = <Amount atoms={BigInt(refund.amount)} price={priceOf(refund.presentment)} />;
  if (refund.status === 'failed') {
    return (
      <Notice tone="bad" role="alert">
        <strong>{t('dashboard.refund_dialog.no_refund_was_made')}</strong>
        <p>{given(refund.failure_message)}</p>
      </Notice>
    );
  }
  if (refund.status === 'pending') {
    return (
      <Notice tone="info" role="status">
        <strong>{t('dashboard.status.pending')}</strong>
        <p>{rich('dashboard.refund_dialog.pending_text', { sum: () => amount })}</p>
      </Notice>
    );
  }
  return (
    <Notice tone="good" role="status">
      <strong>{t('dashboard.field.refunded')}</strong>
      <p>{rich('dashboard.refund_dialog.refunded_text', { sum: () => amount })}</p>
    </Notice>
  );
}
