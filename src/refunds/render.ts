import type { Json } from '#core/canonical-json.ts';
import { networkOf } from '#core/mode.ts';
import { toJsonAtoms } from '#core/money.ts';
import { type ReceiptPages, refundReceiptUrl } from '#payments/receipt-url.ts';
import { renderQuote } from '#prices/quote-price.ts';
import { REFUND_FAILURES, type Refund } from '#refunds/refund.ts';

/** Renders the refund of behavior.md 7. */
export function renderRefund(refund: Refund, receipts: ReceiptPages): { [key: string]: Json } {
  const failed = refund.status === 'failed' ? refund : null;
  const { presentment } = refund;
  return {
    id: refund.id,
    object: 'refund',
    livemode: refund.livemode,
    amount: toJsonAtoms(refund.amount),
    currency: 'usdc',
    presentment: presentment === null ? null : renderQuote(presentment, presentment.expiresAt),
    shop_rate: refund.shop_rate,
    line_items: refund.line_items?.map(({ line, quantity }) => ({ line, quantity })) ?? null,
    taxes: refund.taxes?.map((row) => ({ ...row })) ?? null,
    payment: refund.payment_id,
    status: refund.status,
    reason: refund.reason,
    failure_code: failed?.failure_code ?? null,
    failure_message: failed === null ? null : REFUND_FAILURES[failed.failure_code],
    receipt_url: refundReceiptUrl(refund, receipts),
    receipt_number: refund.receipt_number,
    tx_hash: refund.status === 'pending' ? null : refund.tx_hash,
    source: refund.source,
    cashier: refund.cashier_id,
    metadata: { ...refund.metadata },
    network: networkOf(refund.livemode),
    created: refund.created.toISOString(),
    updated: refund.updated.toISOString(),
    ...(refund.recovered ? { recovered: true } : {}),
  };
}
