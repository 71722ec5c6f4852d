import type { Json } from '#core/canonical-json.ts';
import { networkOf } from '#core/mode.ts';
import { toJsonAtoms } from '#core/money.ts';
import type { Payment } from '#payments/payment.ts';
import type { ShownIntent } from '#payments/payment-intent.ts';

type JsonObject = { [key: string]: Json };

function iso(at: Date | null): string | null {
  return at === null ? null : at.toISOString();
}

function nextAction(intent: ShownIntent): Json {
  if (intent.status !== 'requires_action') return null;
  return {
    type: 'payer_confirmation',
    reason_code: intent.attempt.reasonCode,
    expires_at: intent.confirmBy.toISOString(),
  };
}

/** Objects that never were lost do not have the field. */
const RECOVERED = { recovered: true } as const;

/**
 * The payment intent as api-v1.md section 2 shows it. Pass `asOf(intent, now)`: no response shows
 * an expired intent as open.
 */
export function renderIntent(intent: ShownIntent): JsonObject {
  const succeeded = intent.status === 'succeeded' ? intent : null;
  const canceled = intent.status === 'canceled' ? intent : null;
  return {
    id: intent.id,
    object: 'payment_intent',
    livemode: intent.tenant.livemode,
    amount: toJsonAtoms(intent.amount),
    currency: 'usdc',
    status: intent.status,
    terminal: intent.terminalId,
    order_id: intent.orderId,
    description: intent.description,
    metadata: { ...intent.metadata },
    source: intent.source,
    payment: succeeded?.paymentId ?? null,
    tx_hash: succeeded?.txHash ?? null,
    next_action: nextAction(intent),
    last_payment_error: intent.lastPaymentError === null ? null : { ...intent.lastPaymentError },
    cancellation_reason: canceled?.cancellationReason ?? null,
    canceled_at: iso(canceled?.canceledAt ?? null),
    network: networkOf(intent.tenant.livemode),
    split_group: intent.splitGroup,
    picked_up_at: iso(intent.pickedUpAt),
    tapped_at: iso(intent.tappedAt),
    expires_at: intent.expiresAt.toISOString(),
    created: intent.created.toISOString(),
    ...(intent.recovered ? RECOVERED : {}),
  };
}

/** The payment as api-v1.md section 2 shows it. */
export function renderPayment(payment: Payment): JsonObject {
  const { fees } = payment;
  return {
    id: payment.id,
    object: 'payment',
    livemode: payment.tenant.livemode,
    amount: toJsonAtoms(payment.amount),
    currency: 'usdc',
    amount_refunded: toJsonAtoms(payment.amountRefunded),
    status: payment.status,
    fees: {
      acquirer: toJsonAtoms(fees.acquirer),
      protocol: toJsonAtoms(fees.protocol),
      cashback: toJsonAtoms(fees.cashback),
    },
    total_charged: toJsonAtoms(payment.totalCharged),
    net: toJsonAtoms(payment.amount),
    cashback_status: fees.cashback === 0n ? 'none' : 'paid',
    payer: payment.payerAddress,
    order_id: payment.orderId,
    terminal: payment.terminalId,
    payment_intent: payment.paymentIntentId,
    payment_method: { ...payment.method },
    split_group: payment.splitGroup,
    network: networkOf(payment.tenant.livemode),
    chain_id: payment.chainId,
    tx_hash: payment.place.txHash,
    block_number: Number(payment.place.blockNumber),
    log_index: payment.place.logIndex,
    settled_at: payment.settledAt.toISOString(),
    refundable_until: payment.refundableUntil.toISOString(),
    created: payment.created.toISOString(),
    ...(payment.recovered ? RECOVERED : {}),
  };
}
