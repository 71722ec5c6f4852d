import { selectMerchants } from '#accounts/merchant-queries.ts';
import { bookMovements, type Movement } from '#books/book-movements.ts';
import { answerWith, isRefusal } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { addSeconds } from '#core/clock.ts';
import { derivedOrderId, type IdKey, numberedId } from '#core/ids.ts';
import { type Tenant, tenantOf } from '#core/mode.ts';
import { atoms, ZERO } from '#core/money.ts';
import { type Stamp, stampOrders, tenantKey } from '#db/commit-order.ts';
import type { Tx } from '#db/database.ts';
import { appendEvents, type EventDraft } from '#events/append-events.ts';
import { insertFiscalReceipts } from '#fiscal/fiscal-queries.ts';
import { updateWaiting } from '#idempotency/key-queries.ts';
import { newPayment, paymentDrafts, toReceipted, toSale } from '#payments/apply-settlements.ts';
import {
  insertIntents,
  lockIntents,
  markRecovered,
  selectOrderIdsInUse,
} from '#payments/intent-queries.ts';
import { newIntent, type OpenIntent, type PaymentIntent } from '#payments/intent-rows.ts';
import { endPaidOffline } from '#payments/offline/offline-queries.ts';
import { offlineDraft } from '#payments/offline/render-offline-payment.ts';
import type { Payment } from '#payments/payment.ts';
import { type IntentCommand, transition } from '#payments/payment-intent.ts';
import { insertPayments } from '#payments/payment-queries.ts';
import { giveReceiptNumbers } from '#payments/receipt-numbers.ts';
import type { ReceiptPages } from '#payments/receipt-url.ts';
import { renderIntent } from '#payments/render.ts';
import { type Change, saveStates, stepDrafts } from '#payments/save-intent-steps.ts';
import type { Hex, OutcomeFacts } from '#settlement/chain-requests.ts';
import { countSales } from '#settlement/hourly-ceiling-queries.ts';

/** A settlement on the chain whose payment the database has lost. */
export interface LostPayment {
  readonly tenant: Tenant;
  readonly number: bigint;
  readonly payerId: string;
  readonly payerAddress: Hex;
  readonly amount: bigint;
  readonly orderId: string;
  /** The ID of the intent if the database still has it, open or canceled; otherwise `null`. */
  readonly intentId: string | null;
  /** The terminal that is recorded for an intent that the database has lost. */
  readonly terminalId: string;
  readonly facts: OutcomeFacts['payment'];
}

export interface Rebuilt {
  readonly intents: readonly PaymentIntent[];
  /**
   * Rebuilt intents whose order ID another intent has taken since the data loss. They get another
   * order ID, so a search for the original ID does not find them.
   */
  readonly displaced: readonly PaymentIntent[];
  /** The creation time of the oldest rebuilt intent; `null` if there is none. */
  readonly oldest: Date | null;
  readonly deliveries: number;
}

/** The time of a booking, and the inputs of the receipt URLs in its events. */
interface Booking {
  readonly pages: ReceiptPages;
  readonly now: Date;
}

/**
 * Positions in the account's order: the intent, its payment, at most five events, and the ledger
 * entry.
 */
const PLACES = 8;

/** Builds the intent in its state before the payment, from what the chain shows. */
function emptyIntent(lost: LostPayment, orderId: string, stamp: Stamp, idKey: IdKey): OpenIntent {
  const { tenant, number, amount, terminalId: terminal_id } = lost;
  return newIntent({
    id: numberedId(idKey, 'paymentIntent', { livemode: tenant.livemode, number }),
    settlement_number: number,
    recovered: true,
    account_id: tenant.accountId,
    livemode: tenant.livemode,
    position: stamp.next(),
    created: stamp.created,
    ahead_seconds: BigInt(stamp.aheadSeconds),
    amount: atoms(amount),
    terminal_id,
    order_id: orderId,
    source: 'api',
    expires_at: addSeconds(stamp.created, -stamp.aheadSeconds),
  });
}

function toCommand(lost: LostPayment, idKey: IdKey): IntentCommand {
  const { tenant, number, payerId, payerAddress, facts } = lost;
  return {
    type: 'rebuild',
    attempt: {
      payerId,
      payerAddress,
      credential: { type: 'unknown' },
      tip: ZERO,
      reasonCode: null,
    },
    paymentId: numberedId(idKey, 'payment', { livemode: tenant.livemode, number }),
    txHash: facts.txHash,
  };
}

function createdDraft(intent: PaymentIntent, stamp: Stamp): EventDraft {
  const type = 'payment_intent.created';
  const object = renderIntent(intent);
  return { tenant: tenantOf(intent), type, objectId: intent.id, object, stamp };
}

/**
 * Chooses order IDs for rebuilt intents: their own if still free, otherwise a derived one. The
 * rebuilt payment always keeps its own.
 */
async function chooseOrderIds(
  tx: Tx,
  lost: readonly LostPayment[],
  idKey: IdKey,
): Promise<Map<LostPayment, string>> {
  const rows = await selectOrderIdsInUse(tx, lost);
  const keyOf = (tenant: Tenant, orderId: string) => `${tenantKey(tenant)} ${orderId}`;
  const taken = new Set(rows.map((row) => keyOf(tenantOf(row), row.order_id)));
  return new Map(
    lost.map((one) => {
      const { tenant, orderId, number } = one;
      const isFree = !taken.has(keyOf(tenant, orderId));
      taken.add(keyOf(tenant, orderId));
      const own = derivedOrderId(idKey, { tenant, caller: '', key: `rebuilt ${number}` }, 0);
      return [one, isFree ? orderId : own];
    }),
  );
}

interface Written {
  readonly changes: Change[];
  readonly created: OpenIntent[];
  readonly payments: Payment[];
  readonly drafts: EventDraft[];
  readonly movements: Movement[];
}

/** Marks the offline sale of this intent, if it is one, as paid, and drafts its event. */
async function endedDrafts(
  tx: Tx,
  after: PaymentIntent & { readonly status: 'succeeded' },
  stamp: Stamp,
): Promise<EventDraft[]> {
  if (after.offline === null) return [];
  const { id: intentId, payment_id: paymentId } = after;
  const rows = await endPaidOffline(tx, [{ intentId, paymentId }]);
  return rows.map((row) => offlineDraft(row, stamp));
}

function movementOf(payment: Payment, stamp: Stamp): Movement {
  const { id: objectId, amount, settled_at: happened } = payment;
  return { tenant: tenantOf(payment), type: 'payment', objectId, amount, happened, stamp };
}

/** Prepares the rows of lost payments, in the order of each account. */
async function prepare(
  tx: Tx,
  lost: readonly LostPayment[],
  booking: Booking & { readonly before: ReadonlyMap<string, PaymentIntent> },
): Promise<Written> {
  const { now } = booking;
  const { idKey } = booking.pages;
  const counts = lost.map(({ tenant }) => ({ tenant, count: PLACES }));
  const stampOf = await stampOrders(tx, counts, now);
  const missing = lost.filter(({ intentId }) => intentId === null);
  const orderIds = await chooseOrderIds(tx, missing, idKey);
  const accountIds = [...new Set(lost.map(({ tenant }) => tenant.accountId))];
  const merchants = new Map(
    (await selectMerchants(tx, accountIds)).map((row) => [tenantKey(tenantOf(row)), row]),
  );
  const written: Written = { changes: [], created: [], payments: [], drafts: [], movements: [] };
  for (const one of lost) {
    const stamp = stampOf(one.tenant);
    const orderId = orderIds.get(one) ?? one.orderId;
    const known = one.intentId === null ? undefined : booking.before.get(one.intentId);
    const empty = known === undefined ? emptyIntent(one, orderId, stamp, idKey) : null;
    const before = empty ?? { ...present(known, 'intent'), recovered: true };
    const steps = transition(before, toCommand(one, idKey), now);
    // A worker has booked the settlement meanwhile.
    if (isRefusal(steps)) continue;
    const after = steps.at(-1)?.intent;
    if (after?.status !== 'succeeded') continue;
    if (empty !== null) {
      written.created.push(empty);
      written.drafts.push(createdDraft(empty, stamp));
    }
    const change = { before, steps };
    written.changes.push(change);
    const merchant = present(merchants.get(tenantKey(one.tenant)), 'merchant');
    const numberOf = await giveReceiptNumbers(tx, [after], { kind: 'payment', now });
    const amount = atoms(one.amount);
    const settled = newPayment(after, one.facts, {
      ...{ stamp, merchant, numberOf, amount },
      // The rate at the time of the sale was lost.
      shopRate: null,
    });
    // The chain stores only the sum of sale and tip, so the quote and the lines are left out.
    const unknown = { presentment: null, lines: null, taxes: null };
    const payment = { ...settled, ...unknown, recovered: true, order_id: one.orderId };
    written.drafts.push(...stepDrafts(change, stamp));
    written.payments.push(payment);
    written.drafts.push(...paymentDrafts(payment, stamp, booking.pages));
    written.drafts.push(...(await endedDrafts(tx, after, stamp)));
    written.movements.push(movementOf(payment, stamp));
  }
  return written;
}

/**
 * Books settlements that the database has lost: the intent as `succeeded`, its payment and the
 * usual events, all with their original IDs. Facts that the chain does not know stay empty.
 */
export async function rebuildPayments(
  tx: Tx,
  lost: readonly LostPayment[],
  booking: Booking,
): Promise<Rebuilt> {
  const intents = await lockIntents(
    tx,
    lost.flatMap(({ intentId }) => intentId ?? []),
  );
  const before = new Map(intents.map((intent) => [intent.id, intent]));
  const { changes, created, payments, drafts, movements } = await prepare(tx, lost, {
    ...booking,
    before,
  });
  await insertIntents(tx, created);
  await saveStates(tx, changes);
  await insertPayments(tx, payments);
  await bookMovements(tx, movements);
  await insertFiscalReceipts(tx, payments.map(toReceipted), booking.now);
  await countSales(tx, payments.map(toSale));
  const after = changes.map(({ steps }) => present(steps.at(-1), 'rebuilt intent').intent);
  await markRecovered(
    tx,
    payments.map(({ payment_intent_id: id, settlement_number: number }) => ({ id, number })),
  );
  const deliveries = await appendEvents(tx, drafts);
  await updateWaiting(
    tx,
    after
      .filter((_, index) => changes[index]?.before.status === 'processing')
      .map((intent) => ({ resource: intent.id, ...answerWith(200, renderIntent(intent)) })),
  );
  const orders = new Map(payments.map((payment) => [payment.payment_intent_id, payment.order_id]));
  const times = after.map((intent) => intent.created.getTime());
  return {
    intents: after,
    displaced: after.filter(({ id, order_id: orderId }) => orders.get(id) !== orderId),
    oldest: times.length === 0 ? null : new Date(Math.min(...times)),
    deliveries,
  };
}
