import { type MerchantRow, selectMerchants } from '#accounts/merchant-queries.ts';
import { readShopRates } from '#accounts/shop-rates.ts';
import { answerWith, isRefusal } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { addMs, addSeconds } from '#core/clock.ts';
import { DAY_MS } from '#core/durations.ts';
import { failpoint } from '#core/failpoints.ts';
import { type IdKey, numberedId } from '#core/ids.ts';
import { tenantOf } from '#core/mode.ts';
import { type Atoms, atoms, ZERO } from '#core/money.ts';
import { type Stamp, stampOrders, tenantKey } from '#db/commit-order.ts';
import type { Tx } from '#db/database.ts';
import type { ProcessContext } from '#db/process-context.ts';
import { appendEvents, type EventDraft } from '#events/append-events.ts';
import { insertFiscalReceipts, type Receipted } from '#fiscal/fiscal-queries.ts';
import { FISCAL_WAKEUP } from '#fiscal/sign-receipts.ts';
import { updateWaiting } from '#idempotency/key-queries.ts';
import { isTracing, traceSpan } from '#observability/tracing.ts';
import {
  CEILING_REACHED,
  FAILURE_DECLINES,
  SETTLEMENT_UNAVAILABLE,
} from '#payments/decline-codes.ts';
import { lockIntents } from '#payments/intent-queries.ts';
import { type PaymentIntent, type StoredAttempt, toAttempt } from '#payments/intent-rows.ts';
import {
  type EndedOffline,
  endPaidOffline,
  OFFLINE_WAKEUP,
  postponeOffline,
} from '#payments/offline/offline-queries.ts';
import { offlineDraft } from '#payments/offline/render-offline-payment.ts';
import { paidQuote } from '#payments/paid-quote.ts';
import { methodOf, type Payment } from '#payments/payment.ts';
import { attemptOf, type IntentCommand, transition } from '#payments/payment-intent.ts';
import { insertPayments } from '#payments/payment-queries.ts';
import { giveReceiptNumbers } from '#payments/receipt-numbers.ts';
import type { ReceiptPages } from '#payments/receipt-url.ts';
import { renderIntent, renderPayment } from '#payments/render.ts';
import { type Change, saveStates, stepDrafts } from '#payments/save-intent-steps.ts';
import { chargeOf } from '#payments/tip-limits.ts';
import { taxTable } from '#prices/sale-lines.ts';
import { alarmUnfit } from '#settlement/alarms.ts';
import {
  applied,
  type Failure,
  type Outcome,
  type OutcomeFacts,
  takeOutcomes,
  takeOverduePayments,
} from '#settlement/chain-requests.ts';
import { countSales } from '#settlement/hourly-ceiling-queries.ts';

export interface ResultContext extends ProcessContext {
  readonly pages: ReceiptPages;
}

/** Results per transaction, which takes a few milliseconds: as many as two full batches contain. */
const BATCH = 200;
/** Positions in the account's order: one for the payment and one for each of at most two events. */
const PLACES_PER_PAYMENT = 3;

interface Decided {
  readonly outcome: Outcome<'payment'>;
  readonly change: Change;
  readonly after: PaymentIntent;
  readonly paymentId: string | null;
}

function toCommand(
  outcome: Outcome<'payment'>,
  intent: PaymentIntent,
  idKey: IdKey,
): IntentCommand {
  const { result, livemode } = outcome;
  if (result.succeeded) {
    const { txHash, settlementNumber, feeAcquirer, feeProtocol, cashback } = result.facts;
    const numbered = { livemode, number: BigInt(settlementNumber) };
    const fees = String(BigInt(feeAcquirer) + BigInt(feeProtocol) - BigInt(cashback));
    const paid = { paymentId: numberedId(idKey, 'payment', numbered), txHash, fees };
    // All jobs of an offline sale carry the same authorization, so a late result is also this
    // attempt's.
    const isSame = isOnItsWay(intent);
    if (result.afterDecline === undefined || isSame) return { type: 'settled', ...paid };
    // The attempt was stored in the settlement job: see settlementOf.
    return {
      type: 'settled_after_decline',
      attempt: toAttempt(result.afterDecline as StoredAttempt),
      ...paid,
    };
  }
  return { type: 'not_settled', decline: FAILURE_DECLINES[result.reason], ...ruleOf(result) };
}

/** True for a sale that a till accepted offline and that the chain has not decided yet. */
function isOnItsWay({ status, offline }: PaymentIntent): boolean {
  return status === 'processing' && offline !== null;
}

function ruleOf({ overdue, hourFull }: Failure): { readonly rule?: string } {
  if (hourFull === true) return { rule: CEILING_REACHED };
  return overdue === true ? { rule: SETTLEMENT_UNAVAILABLE } : {};
}

/**
 * Decides the changes that follow from a result. `null` if the intent's status does not allow them.
 */
function decide(
  outcome: Outcome<'payment'>,
  intent: PaymentIntent | undefined,
  ctx: { readonly now: Date; readonly idKey: IdKey },
): Decided | null {
  if (intent === undefined) return null;
  const command = toCommand(outcome, intent, ctx.idKey);
  const steps = transition(intent, command, ctx.now);
  if (isRefusal(steps)) return null;
  return {
    outcome,
    change: { before: intent, steps },
    after: steps.at(-1)?.intent ?? intent,
    paymentId: 'paymentId' in command ? command.paymentId : null,
  };
}

function isPaid({ outcome, after, paymentId }: Decided): boolean {
  return outcome.result.succeeded && after.status === 'succeeded' && paymentId !== null;
}

interface Made {
  readonly merchant: MerchantRow;
  readonly stamp: Stamp;
  /** Returns a terminal's next receipt number. */
  readonly numberOf: (terminalId: string) => string;
  /** USDC for one unit of the shop's currency; `null` if it has none. */
  readonly shopRate: string | null;
}

function toNewPayment(decided: Decided, made: Made): Payment | null {
  const { outcome, after, paymentId } = decided;
  if (!outcome.result.succeeded || after.status !== 'succeeded' || paymentId === null) return null;
  return newPayment(after, outcome.result.facts, { ...made, amount: chargeOf(after) });
}

/** `facts` come from the chain; `amount` is sale plus tip. */
export function newPayment(
  after: PaymentIntent & { readonly status: 'succeeded' },
  facts: OutcomeFacts['payment'],
  made: Made & { readonly amount: Atoms },
): Payment {
  const { merchant, stamp, amount, numberOf, shopRate } = made;
  const minedAt = new Date(facts.blockTime);
  const method = methodOf(after.attempt.credential.type);
  return {
    id: after.payment_id,
    recovered: false,
    account_id: after.account_id,
    livemode: after.livemode,
    position: stamp.next(),
    created: stamp.created,
    ahead_seconds: BigInt(stamp.aheadSeconds),
    payment_intent_id: after.id,
    terminal_id: after.terminal_id,
    location_id: after.location_id,
    payer_id: after.attempt.payerId,
    payer_address: after.attempt.payerAddress,
    order_id: after.order_id,
    receipt_number: numberOf(after.terminal_id),
    split_group: after.split_group,
    cashier_id: after.cashier_id,
    method_type: method.type,
    credential_type: method.credential,
    amount,
    tip: after.attempt.tip,
    presentment: paidQuote(after, after.attempt.tip),
    lines: after.lines,
    taxes: after.lines === null ? null : taxTable(after.lines),
    shop_rate: shopRate,
    fee_acquirer: atoms(BigInt(facts.feeAcquirer)),
    fee_protocol: atoms(BigInt(facts.feeProtocol)),
    fee_cashback: atoms(BigInt(facts.cashback)),
    amount_reserved: ZERO,
    amount_refunded: ZERO,
    chain_id: BigInt(facts.chainId),
    settlement_number: BigInt(facts.settlementNumber),
    batch_number: BigInt(facts.batchNumber),
    tx_hash: facts.txHash,
    block_number: BigInt(facts.blockNumber),
    log_index: facts.logIndex,
    settled_at: paidAt(after, facts, stamp),
    refundable_until: addMs(minedAt, merchant.refund_window_days * DAY_MS),
  };
}

/**
 * If several blocks can have the same second, this is when a worker saw the block, but never before
 * the tap.
 */
function paidAt(
  { tapped_at: tappedAt }: Pick<PaymentIntent, 'tapped_at'>,
  { seenAt, blockTime }: OutcomeFacts['payment'],
  { aheadSeconds }: Pick<Stamp, 'aheadSeconds'>,
): Date {
  const at = addSeconds(new Date(seenAt ?? blockTime), aheadSeconds);
  return seenAt !== undefined && tappedAt !== null && tappedAt > at ? tappedAt : at;
}

/** Returns the part of a payment that counts toward the contract's hourly ceiling. */
export function toSale(payment: Payment) {
  const minedAt = addSeconds(payment.settled_at, -payment.ahead_seconds);
  return { tenant: tenantOf(payment), minedAt, amount: payment.amount };
}

export function paymentDrafts(
  payment: Payment,
  stamp: Stamp,
  receipts: ReceiptPages,
): EventDraft[] {
  const object = renderPayment(payment, receipts);
  const draft = { tenant: tenantOf(payment), objectId: payment.id, object, stamp };
  const paid: EventDraft = { ...draft, type: 'payment.succeeded' };
  if (payment.fee_cashback === 0n) return [paid];
  return [paid, { ...draft, type: 'payment.cashback_paid' }];
}

/** Returns the data of a payment's receipt for the fiscal signer. */
export function toReceipted(payment: Payment): Receipted {
  const { id, receipt_number: receiptNumber } = payment;
  return { subjectId: id, paymentId: id, tenant: tenantOf(payment), receiptNumber };
}

/** Marks the offline sales among these settlements as paid. @returns their rows by intent. */
async function endOffline(
  tx: Tx,
  decided: readonly Decided[],
): Promise<ReadonlyMap<string | null, EndedOffline>> {
  const paid = decided.flatMap(({ after, paymentId }) => {
    if (after.offline === null || paymentId === null) return [];
    return [{ intentId: after.id, paymentId }];
  });
  const rows = paid.length === 0 ? [] : await endPaidOffline(tx, paid);
  return new Map(rows.map((row) => [row.payment_intent_id, row]));
}

interface Written {
  readonly payments: readonly Payment[];
  readonly drafts: readonly EventDraft[];
  /** Payments whose account has a fiscal signer. */
  readonly toSign: readonly Payment[];
}

function placesOf({ change, after, paymentId }: Decided): number {
  const ofOffline = after.offline === null ? 0 : 1;
  return change.steps.length + ofOffline + (paymentId === null ? 0 : PLACES_PER_PAYMENT);
}

/**
 * Prepares the rows of settlements. Their positions in the account's order: the intent's events,
 * then the payment, then its events.
 */
async function prepare(
  tx: Tx,
  decided: readonly Decided[],
  { receipts, now }: { readonly receipts: ReceiptPages; readonly now: Date },
): Promise<Written> {
  const counts = decided.map((one) => ({ tenant: tenantOf(one.after), count: placesOf(one) }));
  const accountIds = [...new Set(counts.map(({ tenant }) => tenant.accountId))];
  const paid = decided.filter(isPaid).map(({ after }) => after);
  const offline = await endOffline(tx, decided);
  // One connection runs these statements in this order, so stampOrders locks the orders before
  // receipt numbers are assigned.
  const [stampOf, rows, numberOf, shopRateAt] = await Promise.all([
    stampOrders(tx, counts, now),
    selectMerchants(tx, accountIds),
    giveReceiptNumbers(tx, paid, { kind: 'payment', now }),
    readShopRates(tx, paid),
  ]);
  const merchants = new Map(rows.map((row) => [tenantKey(tenantOf(row)), row]));
  const payments: Payment[] = [];
  const drafts: EventDraft[] = [];
  const toSign: Payment[] = [];
  for (const one of decided) {
    const tenant = tenantOf(one.after);
    const stamp = stampOf(tenant);
    const merchant = present(merchants.get(tenantKey(tenant)), 'merchant');
    const shopRate = shopRateAt(one.after);
    const payment = toNewPayment(one, { merchant, stamp, numberOf, shopRate });
    drafts.push(...stepDrafts(one.change, stamp));
    if (payment === null) continue;
    payments.push(payment);
    if (merchant.fiscal_signer !== null) toSign.push(payment);
    drafts.push(...paymentDrafts(payment, stamp, receipts));
    const ended = offline.get(one.after.id);
    if (ended !== undefined) drafts.push(offlineDraft(ended, stamp));
  }
  return { payments, drafts, toSign };
}

/**
 * True if a declined attempt was settled after all, while a later attempt is in progress: the
 * result of the later attempt must be applied first.
 */
function mustWait({ result }: Outcome<'payment'>, intent: PaymentIntent | undefined): boolean {
  const isLate = result.succeeded && result.afterDecline !== undefined;
  return isLate && intent?.status === 'processing' && !isOnItsWay(intent);
}

/**
 * True if the chain has not settled a sale that a till accepted offline. The customer has left with
 * the goods, so the sale stays `processing` until a worker has checked whether it can still be
 * paid.
 */
function isPostponed({ result }: Outcome<'payment'>, intent: PaymentIntent | undefined): boolean {
  return !result.succeeded && intent !== undefined && isOnItsWay(intent);
}

interface Applied {
  readonly decided: readonly Decided[];
  readonly deliveries: number;
  /** Number of offline sales that need another settlement job. */
  readonly postponed: number;
  /** Number of receipts that wait for their signer. */
  readonly signing: number;
}

async function applyBatch(
  tx: Tx,
  outcomes: readonly Outcome<'payment'>[],
  ctx: ResultContext,
): Promise<Applied> {
  const now = ctx.clock.now();
  const intents = await lockIntents(
    tx,
    outcomes.map((outcome) => outcome.subjectId),
  );
  const byId = new Map(intents.map((intent) => [intent.id, intent]));
  const due = outcomes.filter((outcome) => !mustWait(outcome, byId.get(outcome.subjectId)));
  const decided: Decided[] = [];
  const isLate = (outcome: Outcome<'payment'>) => isPostponed(outcome, byId.get(outcome.subjectId));
  const postponed = due.filter(isLate).map(({ subjectId }) => subjectId);
  await postponeOffline(tx, postponed, now);
  for (const outcome of due) {
    if (isLate(outcome)) continue;
    const intent = byId.get(outcome.subjectId);
    const one = decide(outcome, intent, { idKey: ctx.pages.idKey, now });
    const status = intent?.status ?? null;
    if (one === null) await alarmUnfit(tx, outcome, { status, now, log: ctx.log });
    else decided.push(one);
  }
  // These statements need no position, so they come before `prepare`, which locks the account's
  // order until the commit. One connection runs all of them in sequence; sending them together
  // saves only round trips.
  const [, , , { payments, drafts, toSign }] = await Promise.all([
    saveStates(
      tx,
      decided.map((one) => one.change),
    ),
    applied(
      tx,
      due.map((outcome) => outcome.requestId),
      now,
    ),
    // If the process that ran a tap or confirm was killed, its client gets this response when it
    // retries.
    updateWaiting(
      tx,
      decided.map(({ after }) => ({ resource: after.id, ...answerWith(200, renderIntent(after)) })),
    ),
    prepare(tx, decided, { receipts: ctx.pages, now }),
  ]);
  const [, deliveries] = await Promise.all([
    insertPayments(tx, payments),
    appendEvents(tx, drafts),
    countSales(tx, payments.map(toSale)),
    insertFiscalReceipts(tx, toSign.map(toReceipted), now),
  ]);
  const signing = toSign.length;
  return { decided, deliveries, signing, postponed: postponed.length };
}

/**
 * Applies results of settlements: writes payments, intents, events, deliveries and the responses of
 * waiting requests in one transaction. @returns true if there may be more.
 */
export function applySettlements(ctx: ResultContext): Promise<boolean> {
  return applyTaken(ctx, (tx) => takeOutcomes(tx, 'payment', BATCH));
}

/**
 * Declines payments whose transaction was not signed by their deadline. Every process runs this, so
 * that it happens even if no worker of their network runs. @returns true if there may be more.
 */
export function declineOverdue(ctx: ResultContext): Promise<boolean> {
  return applyTaken(ctx, (tx) => takeOverduePayments(tx, BATCH));
}

function traceBooked({ change, after }: Decided, startMs: number): void {
  const parent = attemptOf(change.before)?.traceparent;
  const attributes = { 'tapline.payment_intent': after.id, 'tapline.status': after.status };
  traceSpan('book', { parent, startMs, attributes });
}

async function applyTaken(
  ctx: ResultContext,
  take: (tx: Tx) => Promise<Outcome<'payment'>[]>,
): Promise<boolean> {
  const startMs = Date.now();
  const result = await ctx.db.transaction(async (tx) => {
    const outcomes = await take(tx);
    if (outcomes.length === 0) return null;
    return { count: outcomes.length, ...(await applyBatch(tx, outcomes, ctx)) };
  });
  if (result === null) return false;
  failpoint('payments.outcome_committed');
  if (isTracing()) for (const one of result.decided) traceBooked(one, startMs);
  for (const { after } of result.decided) {
    ctx.wakeups.send('intent', after.id);
    const payerId = attemptOf(after)?.payerId ?? after.declined_payer_id;
    if (payerId !== null) ctx.wakeups.send('payer', payerId);
  }
  if (result.deliveries > 0) ctx.wakeups.send('deliveries');
  if (result.signing > 0) ctx.wakeups.send(FISCAL_WAKEUP);
  if (result.postponed > 0) ctx.wakeups.send(OFFLINE_WAKEUP);
  return result.count === BATCH;
}
