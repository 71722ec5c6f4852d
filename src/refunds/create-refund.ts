import type { CheckedPerson } from '#accounts/check-pin.ts';
import {
  limitOfManager,
  managerRefused,
  managerRequired,
  recordLifted,
  selectManagers,
} from '#accounts/manager-at-till.ts';
import { CODE_INVALID, takeManagerCode } from '#accounts/manager-code.ts';
import { readCredentialEnds } from '#accounts/recheck-credentials.ts';
import { type ShiftRights, selectShift } from '#accounts/shift-rows.ts';
import { type Answer, answerWith, isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { assert } from '#core/assert.ts';
import { startOfUtcDay } from '#core/check-day-range.ts';
import { addSeconds } from '#core/clock.ts';
import { failpoint } from '#core/failpoints.ts';
import { type IdKey, refundId, refundReference } from '#core/ids.ts';
import { networkOf, type Tenant, tenantOf } from '#core/mode.ts';
import { add } from '#core/money.ts';
import { excess, type Limit, rateOf, unitsUp } from '#core/shop-limit.ts';
import { type Stamp, stampOrder } from '#db/commit-order.ts';
import type { Database, Tx } from '#db/database.ts';
import type { LongPolls } from '#db/long-polls.ts';
import { createLongPolls } from '#db/long-polls.ts';
import type { Wakeups } from '#db/wakeups.ts';
import { appendEvents, type EventDraft } from '#events/append-events.ts';
import { awaitAnswer } from '#idempotency/await-answer.ts';
import { keyReused } from '#idempotency/key-refusals.ts';
import type { IdempotentRequest } from '#idempotency/request-fingerprint.ts';
import { type Done, REPLAYED, runOnce } from '#idempotency/run-once-per-key.ts';
import type { ApiContext } from '#payments/api-context.ts';
import type { Payment } from '#payments/payment.ts';
import { lockPayment } from '#payments/payment-queries.ts';
import type { ReceiptPages } from '#payments/receipt-url.ts';
import { selectRate } from '#prices/rate-queries.ts';
import { newRefund, type PendingRefund, REFUND_FAILURES, type Refund } from '#refunds/refund.ts';
import { checkAccountRules, type RefundDay } from '#refunds/refund-limits.ts';
import {
  insertRefund,
  reserve,
  selectDailyLimit,
  selectEarlier,
  selectReferencedRefund,
  selectRefundedSince,
  selectRefunds,
  selectTillLimit,
  selectUnitsRefunded,
  selectUnitsRefundedSince,
} from '#refunds/refund-queries.ts';
import { type AskedAmount, decideShare, type Share } from '#refunds/refund-share.ts';
import { renderRefund } from '#refunds/render.ts';
import { requestOnChain } from '#settlement/chain-requests.ts';
import { checkLedger } from '#settlement/ledger-gate.ts';

/** Maximum time for which a request waits for the chain (behavior.md 2.8). */
const RECEIPT_WAIT_MS = 60_000;
/** Positions in the account's order: the refund, refund.created and refund.failed. */
const PLACES = 3;

export interface NewRefund {
  readonly paymentId: string;
  readonly amount: AskedAmount;
  readonly reason: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly source: Refund['source'];
}

export interface RefundRequest {
  readonly tenant: Tenant;
  /** The API key or device key of the request; `null` for a person's session. */
  readonly keyHash: Buffer | null;
  /** The terminal that makes the refund. Some of its refunds need a manager's code. */
  readonly terminalId?: string;
  /** A code that a manager has created; `null` if none was entered. */
  readonly managerCode?: string | null;
  /** A manager at the till whose PIN was right; `null` if the request names none. */
  readonly manager?: CheckedPerson | null;
  readonly idempotency: IdempotentRequest;
  readonly requestId: string;
  readonly now: Date;
  readonly input: NewRefund;
}

/** The result of the first transaction, which is also the response if the refund need not wait. */
interface Begun extends Done {
  readonly refund: Refund;
  readonly deliveries: number;
}

function paymentUnknown(): Refusal {
  const message = "payment is not one of this account's payments in this mode.";
  return refuse('parameter_invalid', message, 'payment');
}

interface Beginning {
  readonly payment: Payment;
  readonly share: Share;
  readonly id: string;
  readonly reference: Buffer;
  readonly cashierId: string | null;
}

function toRefund(
  request: RefundRequest,
  beginning: Beginning & { readonly stamp: Stamp },
): PendingRefund {
  const { stamp } = beginning;
  return newRefund({
    id: beginning.id,
    reference: beginning.reference,
    account_id: request.tenant.accountId,
    livemode: request.tenant.livemode,
    position: stamp.next(),
    created: stamp.created,
    payment_id: request.input.paymentId,
    location_id: beginning.payment.location_id,
    ...beginning.share,
    reason: request.input.reason,
    source: request.input.source,
    cashier_id: beginning.cashierId,
    metadata: request.input.metadata,
  });
}

function drafter(refund: Refund, receipts: ReceiptPages, stamp: Stamp) {
  const object = renderRefund(refund, receipts);
  const about = { tenant: tenantOf(refund), objectId: refund.id, object, stamp };
  return (type: EventDraft['type']): EventDraft => ({ ...about, type });
}

interface Keys {
  readonly idKey: IdKey;
  readonly receipts: ReceiptPages;
}

/**
 * Reads the day's refunds in the unit of the daily limit. A limit in the shop's currency counts
 * other refunds at the last known rate, however old, or without one at the rate of the limit.
 */
async function countDay(
  tx: Tx,
  filter: { readonly tenant: Tenant; readonly since: Date },
  { amount, presentment }: Share,
): Promise<RefundDay> {
  const { tenant, since } = filter;
  const limit = await selectDailyLimit(tx, tenant.accountId);
  const { atoms, inShop } = limit;
  if (inShop === null) {
    const refundedToday = await selectRefundedSince(tx, tenant, since);
    return { amount, refundedToday, dailyLimit: atoms };
  }
  const { currency } = inShop;
  const priced = { currency, rate: (await selectRate(tx, currency)) ?? rateOf(atoms, inShop) };
  const isInIt = presentment?.currency === currency;
  return {
    amount: isInIt ? BigInt(presentment.amount) : unitsUp(amount, priced),
    refundedToday: await selectUnitsRefundedSince(tx, filter, priced),
    dailyLimit: BigInt(inShop.amount),
  };
}

/** Writes the new refund: pending with its settlement job, or failed immediately. */
async function begin(
  tx: Tx,
  { receipts }: Keys,
  request: RefundRequest,
  beginning: Beginning,
): Promise<{ readonly refund: Refund; readonly deliveries: number }> {
  const { tenant, now } = request;
  // Holds the order lock from here on, so that concurrent refunds cannot exceed the daily limit.
  const stamp = await stampOrder(tx, tenant, now, PLACES);
  const today = startOfUtcDay(addSeconds(now, stamp.aheadSeconds));
  const day = await countDay(tx, { tenant, since: today }, beginning.share);
  const failure = checkAccountRules(beginning.payment, now, day);
  const pending = toRefund(request, { ...beginning, stamp });
  if (failure !== null) {
    const refund: Refund = { ...pending, status: 'failed', failure_code: failure, tx_hash: null };
    await insertRefund(tx, refund, REFUND_FAILURES[failure]);
    const draft = drafter(refund, receipts, stamp);
    const drafts = [draft('refund.created'), draft('refund.failed')];
    return { refund, deliveries: await appendEvents(tx, drafts) };
  }
  await reserve(tx, pending.payment_id, pending.amount);
  await insertRefund(tx, pending, null);
  await requestOnChain(tx, {
    livemode: tenant.livemode,
    kind: 'refund',
    subjectId: pending.id,
    payload: {
      paymentId: pending.payment_id,
      paymentNumber: beginning.payment.settlement_number.toString(),
      amount: pending.amount.toString(),
      reference: `0x${beginning.reference.toString('hex')}`,
    },
    now,
  });
  const draft = drafter(pending, receipts, stamp);
  const deliveries = await appendEvents(tx, [draft('refund.created')]);
  return { refund: pending, deliveries };
}

/**
 * Maximum number of tries: each reuse of an idempotency key after its 48 hours takes the next
 * reference.
 */
const MAX_CLASHES = 1_000;

/**
 * Returns the reference for this request, or the rebuilt refund that already has that reference. A
 * request that is repeated after a loss of data gets the same reference.
 */
async function referenceFor(
  tx: Tx,
  idKey: IdKey,
  { tenant, idempotency }: RefundRequest,
): Promise<Buffer | Refund> {
  const { livemode } = tenant;
  for (let clash = 0; ; clash++) {
    assert(clash < MAX_CLASHES, 'too many references derived from one Idempotency-Key are in use');
    const reference = refundReference(idKey, idempotency, clash);
    const refund = await selectReferencedRefund(tx, { livemode, reference });
    if (refund === null) return reference;
    if (refund.recovered) return refund;
  }
}

/** Returns the response to a request whose refund was lost with the database and then rebuilt. */
function replayRebuilt(
  { receipts }: Keys,
  { input }: RefundRequest,
  rebuilt: Refund,
): Begun | Refusal {
  // If the request was in the shop's currency, its atoms are unknown after a loss of data, but the
  // key identifies the refund.
  const { amount } = input;
  const sameAmount = typeof amount !== 'number' || BigInt(amount) === rebuilt.amount;
  if (!sameAmount || input.paymentId !== rebuilt.payment_id) return keyReused();
  const answer = { ...answerWith(201, renderRefund(rebuilt, receipts)), headers: REPLAYED };
  return { answer, resource: rebuilt.id, refund: rebuilt, deliveries: 0 };
}

interface TillRefund {
  readonly payment: Payment;
  readonly share: Share;
  readonly id: string;
  readonly shift: ShiftRights | null;
}

interface TillRequest extends RefundRequest {
  readonly terminalId: string;
}

/**
 * Compares a till's refund with a limit. Counts all refunds of the payment, so that a large amount
 * cannot be split.
 * @param limit `null`: only the account's daily limit, which is checked later
 * @returns how far it is above the limit; `null` if that cannot be said without an exchange rate.
 */
async function excessOf(
  tx: Tx,
  limit: Limit | null,
  { payment, share }: TillRefund,
  now: Date,
): Promise<bigint | null> {
  if (limit === null) return 0n;
  const atoms = add(payment.amount_reserved, share.amount);
  const { presentment } = share;
  const currency = limit.inShop?.currency ?? null;
  if (presentment === null || presentment.currency !== currency) {
    const rate = currency === null ? null : await selectRate(tx, currency, now);
    return excess(limit, { atoms, inShop: null }, rate);
  }
  const amount = Number(await selectUnitsRefunded(tx, payment.id)) + presentment.amount;
  return excess(limit, { atoms, inShop: { currency, amount } }, null);
}

/** Returns the reason why a till's refund needs a manager; `null` if it does not. */
async function needsManager(
  tx: Tx,
  refund: TillRefund,
  { terminalId, now }: TillRequest,
): Promise<string | null> {
  const { shift } = refund;
  const isIn = shift !== null && shift.cashier_id !== null;
  const limit = isIn ? shift.limit : await selectTillLimit(tx, terminalId);
  const above = await excessOf(tx, limit, refund, now);
  if (above === null) return 'Without a current exchange rate, a refund';
  if (above > 0n) {
    return isIn
      ? 'Refunding more of one sale than the signed-in person may'
      : 'Refunding more of one sale than this till may without a person';
  }
  const isOwn = refund.payment.terminal_id === terminalId;
  return isOwn ? null : 'Refunding a sale of another till';
}

/** Decides whether the manager at the till may allow a refund. */
async function askManager(
  tx: Tx,
  { tenant, now }: TillRequest,
  { refund, checked }: { readonly refund: TillRefund; readonly checked: CheckedPerson },
): Promise<Refusal | Allowed> {
  const [manager] = await selectManagers(tx, [{ ...checked, accountId: tenant.accountId }]);
  if (manager === undefined) return managerRefused();
  const above = await excessOf(tx, limitOfManager(manager), refund, now);
  return above === null || above > 0n ? managerRefused() : { managerId: manager.id };
}

interface Allowed {
  /** The manager at the till who allowed the refund; `null` if it needed none, or a code. */
  readonly managerId: string | null;
}

const ALLOWED: Allowed = { managerId: null };

/**
 * A till may refund its own sales up to the limit of the signed-in person, or of a till without a
 * person; anything else needs a manager or a manager's code.
 */
async function checkManager(
  tx: Tx,
  request: TillRequest,
  refund: TillRefund,
): Promise<Refusal | Allowed> {
  const { tenant, managerCode = null, manager = null, now } = request;
  const why = await needsManager(tx, refund, request);
  if (why === null) return ALLOWED;
  if (manager !== null) return askManager(tx, request, { refund, checked: manager });
  if (managerCode === null) return managerRequired(why);
  const used = { tenant, code: managerCode, refundId: refund.id, now };
  if (await takeManagerCode(tx, used)) return ALLOWED;
  return refuse('manager_required', CODE_INVALID, 'manager_code');
}

function isOfTill(request: RefundRequest): request is TillRequest {
  return request.terminalId !== undefined;
}

async function recordManager(
  tx: Tx,
  { tenant, terminalId, now }: TillRequest,
  lifted: {
    readonly managerId: string;
    readonly cashierId: string | null;
    readonly objectId: string;
  },
): Promise<void> {
  const about = { accountId: tenant.accountId, terminalId, now };
  await recordLifted(tx, { ...about, ...lifted, action: 'refund.allowed' });
}

/**
 * Locks the payment, decides about the refund, reserves its amount and creates its settlement job
 * in one transaction, which commits before any call to the chain.
 */
async function decide(tx: Tx, keys: Keys, request: RefundRequest): Promise<Begun | Refusal> {
  const { idKey, receipts } = keys;
  const { tenant, input } = request;
  // While the ledger is being recovered, its list of refunds is incomplete.
  const closed = checkLedger(tx.watch, tenant.livemode);
  if (closed !== null) return closed;
  const { terminalId } = request;
  const [ends, payment, reference, shift] = await Promise.all([
    readCredentialEnds(tx, [request]),
    lockPayment(tx, tenant, input.paymentId),
    referenceFor(tx, idKey, request),
    terminalId === undefined ? null : selectShift(tx, terminalId),
  ]);
  const ended = ends(request);
  if (ended !== null) return ended;
  if (payment === null) return paymentUnknown();
  // Check this first: a rebuilt refund has already reduced the refundable amount, and its terminal
  // is unknown.
  if (!Buffer.isBuffer(reference)) return replayRebuilt(keys, request, reference);
  const share = decideShare(payment, input.amount, await selectEarlier(tx, payment));
  if (isRefusal(share)) return share;
  const id = refundId(idKey, { livemode: tenant.livemode, reference });
  const refunded = { payment, share, id, shift };
  const allowed = isOfTill(request) ? await checkManager(tx, request, refunded) : ALLOWED;
  if (isRefusal(allowed)) return allowed;
  const cashierId = shift?.cashier_id ?? null;
  const beginning = { payment, share, id, reference, cashierId };
  const { refund, deliveries } = await begin(tx, keys, request, beginning);
  const { managerId } = allowed;
  if (isOfTill(request) && managerId !== null) {
    await recordManager(tx, request, { managerId, cashierId, objectId: id });
  }
  const answer = answerWith(201, renderRefund(refund, receipts));
  const goesOn = refund.status === 'pending';
  return { answer, resource: refund.id, goesOn, refund, deliveries };
}

/**
 * Refunds a payment from the merchant balance. Refuses a request that cannot be met (unknown
 * payment, more than is left); if the account's rules or the chain forbid the refund, it has
 * `status: failed`. Waits for the chain up to 60 s, then returns `pending`, and the result follows
 * later. While the network settles nothing, returns `pending` immediately.
 */
export async function createRefund(
  ctx: ApiContext,
  request: RefundRequest,
): Promise<Answer | Refusal> {
  const keys = { idKey: ctx.keys.id, receipts: ctx.pages };
  const { answer, done } = await runOnce(ctx.db, request, (tx) => decide(tx, keys, request));
  if (done === null) return answer;
  if (done.deliveries > 0) ctx.wakeups.send('deliveries');
  if (done.goesOn !== true) return answer;
  failpoint('refunds.request_committed');
  const { tenant } = request;
  ctx.wakeups.send('chain-requests', networkOf(tenant.livemode));
  return awaitAnswer(ctx, {
    // Creates a registry per request, because refunds are too rare for shared reads to pay off.
    polls: createRefundPolls(ctx),
    resource: done.refund.id,
    isDone: (refund) => refund.status !== 'pending',
    waitMs: ctx.readiness.of(tenant.livemode).settles ? RECEIPT_WAIT_MS : 0,
    answer: (refund) => answerWith(201, renderRefund(refund, ctx.pages)),
    request: request.idempotency,
  });
}

/**
 * Creates the long-poll registry of requests that wait for a refund, keyed by its ID and notified
 * by the topic `refund`.
 */
function createRefundPolls(ctx: {
  readonly db: Database;
  readonly wakeups: Wakeups;
}): LongPolls<Refund> {
  return createLongPolls({
    wakeups: ctx.wakeups,
    topic: 'refund',
    read: async (ids) => {
      const refunds = await selectRefunds(ctx.db, ids);
      return new Map(refunds.map((refund) => [refund.id, refund]));
    },
  });
}
