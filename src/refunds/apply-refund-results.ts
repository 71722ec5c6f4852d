import { readShopRates } from '#accounts/shop-rates.ts';
import { bookMovements } from '#books/book-movements.ts';
import { type Answer, answerWith } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { failpoint } from '#core/failpoints.ts';
import { type Tenant, tenantOf } from '#core/mode.ts';
import { type Stamp, stampOrders } from '#db/commit-order.ts';
import type { Tx } from '#db/database.ts';
import { appendEvents, type EventDraft } from '#events/append-events.ts';
import { insertFiscalReceipts } from '#fiscal/fiscal-queries.ts';
import { FISCAL_WAKEUP } from '#fiscal/sign-receipts.ts';
import { updateWaiting } from '#idempotency/key-queries.ts';
import type { ResultContext } from '#payments/apply-settlements.ts';
import type { Payment } from '#payments/payment.ts';
import { selectPayment } from '#payments/payment-queries.ts';
import { giveReceiptNumbers } from '#payments/receipt-numbers.ts';
import type { ReceiptPages } from '#payments/receipt-url.ts';
import { renderPayment } from '#payments/render.ts';
import { type Refund, type RefundFailure, toReceipted } from '#refunds/refund.ts';
import {
  book,
  lockRefunds,
  release,
  updateEnded,
  updateReceiptNumbers,
} from '#refunds/refund-queries.ts';
import { renderRefund } from '#refunds/render.ts';
import { alarmUnfit } from '#settlement/alarms.ts';
import {
  applied,
  type FailureReason,
  type Outcome,
  takeOutcomes,
} from '#settlement/chain-requests.ts';

/** Maximum number of refunds per transaction, which takes a few milliseconds. */
const BATCH = 50;
const PLACES_PER_REFUND = 4;

type Ended = Refund & { status: 'succeeded' | 'failed' };

function failureOf(reason: FailureReason): RefundFailure {
  if (reason === 'insufficient_balance' || reason === 'transfer_blocked') return reason;
  return 'transaction_reverted';
}

/** Returns the refund after this result; `null` if it is no longer pending. */
function endOf(
  refund: Refund,
  outcome: Outcome<'refund'>,
  { updated, shop_rate }: Pick<Refund, 'updated' | 'shop_rate'>,
): Ended | null {
  if (refund.status !== 'pending') return null;
  const { result } = outcome;
  if (result.succeeded) {
    return { ...refund, updated, shop_rate, status: 'succeeded', tx_hash: result.facts.txHash };
  }
  const { txHash: tx_hash, reason } = result;
  return { ...refund, updated, status: 'failed', failure_code: failureOf(reason), tx_hash };
}

/** An ended refund, and its payment afterwards. */
interface Written {
  readonly refund: Ended;
  readonly payment: Payment;
}

function draftsOf(
  { refund, payment }: Written,
  stamp: Stamp,
  receipts: ReceiptPages,
): EventDraft[] {
  const tenant = tenantOf(refund);
  const about = { tenant, objectId: refund.id, object: renderRefund(refund, receipts), stamp };
  const previous = { status: 'pending', tx_hash: null };
  const type = 'refund.updated';
  if (refund.status === 'failed') {
    const updated: EventDraft = { ...about, type, previousAttributes: previous };
    return [updated, { ...about, type: 'refund.failed' }];
  }
  const previousAttributes = {
    ...previous,
    receipt_url: null,
    receipt_number: null,
    ...(refund.shop_rate === null ? {} : { shop_rate: null }),
  };
  const object = renderPayment(payment, receipts);
  return [
    { ...about, type, previousAttributes },
    { ...about, type: 'refund.succeeded' },
    { tenant, type: 'payment.refunded', objectId: payment.id, object, stamp },
  ];
}

/**
 * Returns the response for a client that waits for the refund, or retries with its idempotency key.
 */
function waitingAnswer(
  refund: Ended,
  receipts: ReceiptPages,
): Answer & { readonly resource: string } {
  return { resource: refund.id, ...answerWith(201, renderRefund(refund, receipts)) };
}

/** Books or releases the reserved amount, and writes the refund's end. */
async function writeEnd(tx: Tx, refund: Ended): Promise<Written> {
  const { payment_id: paymentId, amount } = refund;
  if (refund.status === 'succeeded')
    await updateEnded(tx, refund, await book(tx, paymentId, amount));
  else {
    await release(tx, paymentId, amount);
    await updateEnded(tx, refund, null);
  }
  const payment = await selectPayment(tx, tenantOf(refund), refund.payment_id);
  return { refund, payment: present(payment, 'payment') };
}

/**
 * Gives the succeeded refunds their terminals' next receipt numbers. Call it after locking the
 * orders.
 */
async function number(tx: Tx, written: readonly Written[], now: Date): Promise<Written[]> {
  const paid = written.filter(({ refund }) => refund.status === 'succeeded');
  const numberOf = await giveReceiptNumbers(
    tx,
    paid.map(({ payment }) => payment),
    { kind: 'refund', now },
  );
  const numbered = written.map((one) => {
    if (one.refund.status === 'failed') return one;
    const receiptNumber = numberOf(one.payment.terminal_id);
    return { ...one, refund: { ...one.refund, receipt_number: receiptNumber } };
  });
  await updateReceiptNumbers(
    tx,
    numbered.map(({ refund }) => refund),
  );
  return numbered;
}

async function bookRefunds(
  tx: Tx,
  written: readonly Written[],
  stampOf: (tenant: Tenant) => Stamp,
): Promise<void> {
  await bookMovements(
    tx,
    written.flatMap(({ refund }) => {
      if (refund.status === 'failed') return [];
      const tenant = tenantOf(refund);
      const what = { tenant, objectId: refund.id, stamp: stampOf(tenant), happened: null };
      return [{ ...what, type: 'refund', amount: -refund.amount } as const];
    }),
  );
}

async function writeAll(
  tx: Tx,
  ended: readonly Ended[],
  { receipts, now }: { readonly receipts: ReceiptPages; readonly now: Date },
): Promise<number> {
  if (ended.length === 0) return 0;
  const counts = ended.map((refund) => {
    return { tenant: tenantOf(refund), count: PLACES_PER_REFUND };
  });
  const written: Written[] = [];
  // Writes one refund after the other, so that each of two refunds of one payment shows its own
  // total.
  for (const refund of ended) written.push(await writeEnd(tx, refund));
  const stampOf = await stampOrders(tx, counts, now);
  const numbered = await number(tx, written, now);
  await bookRefunds(tx, numbered, stampOf);
  await insertFiscalReceipts(
    tx,
    numbered.flatMap(({ refund }) => (refund.status === 'succeeded' ? [toReceipted(refund)] : [])),
    now,
  );
  const events = numbered.flatMap((one) => draftsOf(one, stampOf(tenantOf(one.refund)), receipts));
  await updateWaiting(
    tx,
    numbered.map(({ refund }) => waitingAnswer(refund, receipts)),
  );
  return appendEvents(tx, events);
}

async function applyBatch(
  tx: Tx,
  outcomes: readonly Outcome<'refund'>[],
  ctx: ResultContext,
): Promise<{ readonly ended: readonly Ended[]; readonly deliveries: number }> {
  const now = ctx.clock.now();
  const refunds = await lockRefunds(
    tx,
    outcomes.map((outcome) => outcome.subjectId),
  );
  const byId = new Map(refunds.map((refund) => [refund.id, refund]));
  const shopRateAt = await readShopRates(tx, refunds);
  const ended: Ended[] = [];
  for (const outcome of outcomes) {
    const refund = byId.get(outcome.subjectId);
    const end =
      refund === undefined
        ? null
        : endOf(refund, outcome, { updated: now, shop_rate: shopRateAt(refund) });
    const status = refund?.status ?? null;
    if (end === null) await alarmUnfit(tx, outcome, { status, now, log: ctx.log });
    else ended.push(end);
  }
  const deliveries = await writeAll(tx, ended, { receipts: ctx.pages, now });
  await applied(
    tx,
    outcomes.map((outcome) => outcome.requestId),
    now,
  );
  return { ended, deliveries };
}

/**
 * Applies the chain's results of refunds: refund, payment, events and the responses of waiting
 * requests, in one transaction. @returns true if there may be more.
 */
export async function applyRefundOutcomes(ctx: ResultContext): Promise<boolean> {
  const result = await ctx.db.transaction(async (tx) => {
    const outcomes = await takeOutcomes(tx, 'refund', BATCH);
    if (outcomes.length === 0) return null;
    return { count: outcomes.length, ...(await applyBatch(tx, outcomes, ctx)) };
  });
  if (result === null) return false;
  failpoint('refunds.outcome_committed');
  for (const refund of result.ended) ctx.wakeups.send('refund', refund.id);
  if (result.deliveries > 0) ctx.wakeups.send('deliveries');
  ctx.wakeups.send(FISCAL_WAKEUP);
  return result.count === BATCH;
}
