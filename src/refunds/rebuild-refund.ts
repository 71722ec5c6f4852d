import { bookMovements } from '#books/book-movements.ts';
import { isRefusal } from '#core/answer.ts';
import { assert, present } from '#core/assert.ts';
import { addSeconds } from '#core/clock.ts';
import { type IdKey, refundId } from '#core/ids.ts';
import type { Tenant } from '#core/mode.ts';
import { atoms } from '#core/money.ts';
import { stampOrder } from '#db/commit-order.ts';
import type { Tx } from '#db/database.ts';
import { appendEvents, type EventDraft } from '#events/append-events.ts';
import { insertFiscalReceipts } from '#fiscal/fiscal-queries.ts';
import { lockPayment, selectPayment } from '#payments/payment-queries.ts';
import { giveReceiptNumbers } from '#payments/receipt-numbers.ts';
import type { ReceiptPages } from '#payments/receipt-url.ts';
import { renderPayment } from '#payments/render.ts';
import { newRefund, toReceipted } from '#refunds/refund.ts';
import { refundable } from '#refunds/refund-limits.ts';
import {
  book,
  insertRefund,
  reserve,
  selectEarlier,
  updateEnded,
} from '#refunds/refund-queries.ts';
import { decideShare } from '#refunds/refund-share.ts';
import { renderRefund } from '#refunds/render.ts';

/** A refund on the chain that the ledger has lost. */
export interface LostRefund {
  readonly tenant: Tenant;
  readonly paymentId: string;
  readonly reference: Buffer;
  readonly amount: bigint;
  readonly txHash: string;
  readonly blockTime: Date;
}

/**
 * Positions in the account's order: refund.created, refund.succeeded, payment.refunded, the refund
 * itself, and the books' entry.
 */
const PLACES = 5;

/**
 * Books a refund that the ledger has lost, with its original ID and its usual events.
 * @returns the number of deliveries; `null` while pending refunds reserve the amount, which will
 * fail and release it.
 */
export async function rebuildRefund(
  tx: Tx,
  lost: LostRefund,
  by: { readonly idKey: IdKey; readonly receipts: ReceiptPages; readonly now: Date },
): Promise<number | null> {
  const { idKey, receipts, now } = by;
  const { tenant, paymentId, reference, txHash } = lost;
  const payment = present(await lockPayment(tx, tenant, paymentId), 'payment of a lost refund');
  const amount = atoms(lost.amount);
  if (amount > refundable(payment)) return null;
  const share = decideShare(payment, Number(amount), await selectEarlier(tx, payment));
  assert(!isRefusal(share), 'a lost refund was refused, although its amount is left');
  await reserve(tx, paymentId, amount);
  const refundedBefore = await book(tx, paymentId, amount);
  const stamp = await stampOrder(tx, tenant, now, PLACES);
  const pending = newRefund({
    id: refundId(idKey, { livemode: tenant.livemode, reference }),
    reference,
    recovered: true,
    account_id: tenant.accountId,
    livemode: tenant.livemode,
    position: stamp.next(),
    created: stamp.created,
    payment_id: paymentId,
    location_id: payment.location_id,
    ...share,
    source: 'api',
  });
  const numberOf = await giveReceiptNumbers(tx, [payment], { kind: 'refund', now });
  const receipt_number = numberOf(payment.terminal_id);
  const refund = { ...pending, receipt_number, status: 'succeeded', tx_hash: txHash } as const;
  await insertRefund(tx, pending, null);
  await updateEnded(tx, refund, refundedBefore);
  await insertFiscalReceipts(tx, [toReceipted(refund)], now);
  const happened = addSeconds(lost.blockTime, stamp.aheadSeconds);
  const booked = { tenant, type: 'refund', objectId: refund.id, amount: -amount } as const;
  await bookMovements(tx, [{ ...booked, happened, stamp }]);
  const after = present(await selectPayment(tx, tenant, paymentId), 'refunded payment');
  const object = renderPayment(after, receipts);
  const about = { tenant, objectId: refund.id, object: renderRefund(refund, receipts), stamp };
  const drafts: EventDraft[] = [
    { ...about, type: 'refund.created' },
    { ...about, type: 'refund.succeeded' },
    { tenant, type: 'payment.refunded', objectId: paymentId, object, stamp },
  ];
  return appendEvents(tx, drafts);
}
