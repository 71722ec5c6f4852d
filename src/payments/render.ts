import type { Json } from '#core/canonical-json.ts';
import { addSeconds } from '#core/clock.ts';
import { networkOf } from '#core/mode.ts';
import { toJsonAtoms } from '#core/money.ts';
import { DECLINES, type PaymentError } from '#payments/decline-codes.ts';
import type { PaymentIntent } from '#payments/intent-rows.ts';
import { renderPaidPrice, renderPrice, renderTotal } from '#payments/paid-quote.ts';
import {
  methodOf,
  type Payment,
  type PaymentStatus,
  paymentStatus,
  paymentTaxes,
  totalCharged,
} from '#payments/payment.ts';
import { byAccountClock } from '#payments/payment-intent.ts';
import { type ReceiptPages, receiptUrl } from '#payments/receipt-url.ts';
import { renderDiscount, renderLines } from '#prices/sale-lines.ts';

type JsonObject = { [key: string]: Json };

function iso(at: Date | null): string | null {
  return at === null ? null : at.toISOString();
}

function nextAction(intent: PaymentIntent): Json {
  if (intent.status !== 'requires_action') return null;
  return {
    type: 'payer_confirmation',
    reason_code: intent.attempt.reasonCode,
    expires_at: byAccountClock(intent, intent.confirm_by).toISOString(),
  };
}

function lastError(error: PaymentError | null): Json {
  if (error === null) return null;
  // A later release may have stored a code that this release does not know, together with its
  // message.
  return { customer_message: DECLINES[error.decline_code]?.customer ?? '', ...error };
}

/** Messages to the customer about a payment, by status. */
const CUSTOMER_MESSAGES: Readonly<Record<PaymentStatus, string>> = {
  succeeded: 'Paid. Thank you.',
  partially_refunded: 'Paid. Part of it was sent back to your wallet.',
  refunded: 'The whole amount was sent back to your wallet.',
};

/**
 * Only rebuilt objects have the field. (Spreading an empty object into the others costs 0.5 us
 * each.)
 */
function markRebuilt(shown: JsonObject, { recovered }: { readonly recovered: boolean }) {
  return recovered ? { ...shown, recovered } : shown;
}

function offlineOf({ offline = null }: PaymentIntent): Json {
  return offline === null ? null : { id: offline.id, accepted_at: offline.acceptedAt };
}

/**
 * Renders the payment intent of behavior.md 5. Pass `asOf(intent, now)`, so that an expired intent
 * is not shown as open.
 */
export function renderIntent(intent: PaymentIntent): JsonObject {
  const succeeded = intent.status === 'succeeded' ? intent : null;
  const canceled = intent.status === 'canceled' ? intent : null;
  const { lines } = intent;
  const expiresAt = byAccountClock(intent, intent.expires_at).toISOString();
  const shown = {
    id: intent.id,
    object: 'payment_intent',
    livemode: intent.livemode,
    amount: toJsonAtoms(intent.amount),
    currency: 'usdc',
    presentment: renderPrice(intent),
    line_items: renderLines(lines),
    ...renderDiscount(lines),
    tipping: intent.tipping === null ? null : { percentages: [...intent.tipping.percentages] },
    tip: succeeded === null ? null : toJsonAtoms(succeeded.attempt.tip),
    status: intent.status,
    terminal: intent.terminal_id,
    location: intent.location_id,
    order_id: intent.order_id,
    description: intent.description,
    metadata: { ...intent.metadata },
    source: intent.source,
    offline: offlineOf(intent),
    payment: succeeded?.payment_id ?? null,
    tx_hash: succeeded?.tx_hash ?? null,
    next_action: nextAction(intent),
    last_payment_error: lastError(intent.last_payment_error),
    cancellation_reason: canceled?.cancellation_reason ?? null,
    canceled_at: iso(canceled?.canceled_at ?? null),
    network: networkOf(intent.livemode),
    split_group: intent.split_group,
    cashier: intent.cashier_id,
    picked_up_at: iso(intent.picked_up_at),
    tapped_at: iso(intent.tapped_at),
    expires_at: expiresAt,
    created: intent.created.toISOString(),
  };
  return markRebuilt(shown, intent);
}

/** Renders the intent for people, who see the customer's total of each sale. */
export function renderIntentForPeople(intent: PaymentIntent): JsonObject {
  return { ...renderIntent(intent), ...renderTotal(intent) };
}

/** Renders the payment of behavior.md 6. */
export function renderPayment(payment: Payment, receipts: ReceiptPages): JsonObject {
  const { lines } = payment;
  const status = paymentStatus(payment);
  const shown = {
    id: payment.id,
    object: 'payment',
    livemode: payment.livemode,
    amount: toJsonAtoms(payment.amount),
    currency: 'usdc',
    presentment: renderPaidPrice(payment),
    shop_rate: payment.shop_rate,
    line_items: renderLines(lines),
    ...renderDiscount(lines),
    taxes: paymentTaxes(payment)?.map((row) => ({ ...row })) ?? null,
    tip: toJsonAtoms(payment.tip),
    amount_refunded: toJsonAtoms(payment.amount_refunded),
    status,
    customer_message: CUSTOMER_MESSAGES[status],
    fees: {
      acquirer: toJsonAtoms(payment.fee_acquirer),
      protocol: toJsonAtoms(payment.fee_protocol),
      cashback: toJsonAtoms(payment.fee_cashback),
    },
    total_charged: toJsonAtoms(totalCharged(payment)),
    net: toJsonAtoms(payment.amount),
    cashback_status: payment.fee_cashback === 0n ? 'none' : 'paid',
    payer: payment.payer_address,
    order_id: payment.order_id,
    terminal: payment.terminal_id,
    location: payment.location_id,
    payment_intent: payment.payment_intent_id,
    payment_method: { ...methodOf(payment.credential_type) },
    split_group: payment.split_group,
    cashier: payment.cashier_id,
    network: networkOf(payment.livemode),
    receipt_url: receiptUrl(payment, receipts),
    receipt_number: payment.receipt_number,
    chain_id: Number(payment.chain_id),
    tx_hash: payment.tx_hash,
    block_number: Number(payment.block_number),
    log_index: payment.log_index,
    settled_at: payment.settled_at.toISOString(),
    refundable_until: addSeconds(payment.refundable_until, payment.ahead_seconds).toISOString(),
    created: payment.created.toISOString(),
  };
  return markRebuilt(shown, payment);
}
