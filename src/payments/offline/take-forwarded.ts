import { readCredentialEnds } from '#accounts/recheck-credentials.ts';
import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { addMs } from '#core/clock.ts';
import type { IdKey } from '#core/ids.ts';
import { tenantOf } from '#core/mode.ts';
import { ZERO } from '#core/money.ts';
import { type Stamp, stampOrder } from '#db/commit-order.ts';
import type { Tx } from '#db/database.ts';
import { appendEvents, type EventDraft } from '#events/append-events.ts';
import { lockChipsOf } from '#payers/chip-queries.ts';
import { createPayer } from '#payers/create-payer.ts';
import { lockPayers } from '#payers/payer-queries.ts';
import { readActivities } from '#payments/assess-payment.ts';
import { readShares } from '#payments/check-hourly-share.ts';
import { insertIntents, lockIntent, selectOrderIdsInUse } from '#payments/intent-queries.ts';
import type { OpenIntent, PaymentIntent } from '#payments/intent-rows.ts';
import { decideSale, type SaleVerdict, sumsOf } from '#payments/offline/decide-bounce.ts';
import {
  type EndedOffline,
  type OfflineIdentity,
  type OfflinePaymentRow,
  offlinePayments,
  selectCardDays,
  selectOfflineByIdentity,
  selectRebuiltSales,
  selectUnderWay,
  updateRebuiltOffline,
} from '#payments/offline/offline-queries.ts';
import {
  type Candidate,
  candidatesOf,
  type Forwarded,
  orderIdsOf,
} from '#payments/offline/offline-sale-candidates.ts';
import { offlineDraft } from '#payments/offline/render-offline-payment.ts';
import { toPaymentAuthorization, utcDay } from '#payments/offline/signed-sale.ts';
import { transition } from '#payments/payment-intent.ts';
import { renderIntent } from '#payments/render.ts';
import { requireFresh } from '#payments/reserve-settlement-numbers.ts';
import { type Change, saveStates, stepDrafts } from '#payments/save-intent-steps.ts';
import { settlementOf } from '#payments/settlement-job.ts';
import { requestPayments } from '#settlement/chain-requests.ts';
import { checkLedger } from '#settlement/ledger-gate.ts';
import type { Readiness } from '#settlement/network-readiness.ts';
import type { DrawnNumber } from '#settlement/settlement-numbers.ts';
import { selectOfflineRule } from '#terminals/offline-limit-queries.ts';
import { offlineWithin, type TillLimits } from '#terminals/offline-limits.ts';
import { terminals } from '#terminals/terminal-queries.ts';

export interface DecideWith {
  readonly idKey: IdKey;
  readonly readiness: Readiness;
  readonly settleWithinS: number;
  readonly drawn: readonly DrawnNumber[];
}

export interface Taken {
  /** The rows of all arrived sales, including sales that a concurrent request inserted. */
  readonly rows: readonly OfflinePaymentRow[];
  readonly started: readonly PaymentIntent[];
  /** Open intents that were canceled, because a sale replaces them. */
  readonly canceled: readonly PaymentIntent[];
  /**
   * Keys (see {@link keyOf}) of the sales that were not taken, because the intent that each
   * replaces is still `processing`.
   */
  readonly undecided: ReadonlySet<string>;
  /** Indexes of the arrived sales to which a settlement number was assigned. */
  readonly numbered: ReadonlySet<number>;
  readonly deliveries: number;
}

/** Returns the identity of a sale within its account and mode as text, for use as a key. */
export function keyOf({ from, nonce }: OfflineIdentity): string {
  return `${from} ${nonce}`;
}

/** Delay before the next attempt for a sale that must wait. */
export const RETRY_MS = 5_000;

/**
 * Positions that a new sale takes in the account's order: its row, its intent and the intent's two
 * events.
 */
const PLACES = 4;

export function offlineNotAllowed(message: string): Refusal {
  return refuse('offline_not_allowed', message);
}

interface Till {
  readonly limits: TillLimits;
  readonly locationId: string | null;
}

/**
 * Locks the till, so that concurrent requests cannot exceed its limits. Refuses if the till may not
 * forward sales.
 */
async function lockTill(tx: Tx, forwarded: Forwarded): Promise<Till | Refusal> {
  const { merchant, terminalId } = forwarded;
  const { tenant } = merchant;
  // The weaker lock, so that transactions that only refer to the terminal need not wait and cannot
  // deadlock.
  const terminal = await terminals.findOwn(tx, tenant, terminalId, 'for no key update');
  const rule = await selectOfflineRule(tx, tenant.livemode);
  const ends = await readCredentialEnds(tx, [merchant]);
  const refusal = ends(merchant) ?? checkLedger(tx.watch, tenant.livemode);
  if (refusal !== null) return refusal;
  const limits = terminal === undefined ? null : offlineWithin(terminal, rule);
  if (terminal === undefined || limits === null) return offlineIsOff(rule.allowed);
  return { limits, locationId: terminal.location_id };
}

/**
 * Returns the refusal for a till without offline limits, or for a network that does not allow
 * offline sales.
 */
export function offlineIsOff(isAllowed: boolean): Refusal {
  return offlineNotAllowed(
    isAllowed
      ? 'This terminal has no limits for offline sales. An admin sets them in the dashboard.'
      : 'The operator of this network does not allow offline sales.',
  );
}

/**
 * Creates missing payers, and locks all of them in a fixed order, so that no concurrent request
 * inserts the same sale.
 */
async function lockOwners(tx: Tx, { merchant, arrived, now }: Forwarded) {
  const { livemode } = merchant.tenant;
  const addresses = [...new Set(arrived.map(({ authorization }) => authorization.from))].sort();
  const ids: string[] = [];
  for (const address of addresses) ids.push((await createPayer(tx, { livemode, address, now })).id);
  const chips = await lockChipsOf(tx, addresses);
  const locked = await lockPayers(tx, ids);
  return { chips, payers: new Map(locked.map((payer) => [String(payer.address), payer])) };
}

/**
 * Locks the intents that the sales replace, in a fixed order. Runs before the payers are locked, as
 * a tap does.
 */
async function lockReplaced(tx: Tx, { merchant: { tenant }, arrived }: Forwarded) {
  const ids = [...new Set(arrived.flatMap(({ replaces }) => replaces ?? []))].sort();
  const replaced = new Map<string, PaymentIntent>();
  for (const id of ids) {
    const intent = await lockIntent(tx, tenant, id);
    if (intent !== null) replaced.set(id, intent);
  }
  return replaced;
}

/** Returns the changes that cancel those of the intents that are still open. */
function cancelOpen(intents: Iterable<PaymentIntent>, now: Date): Change[] {
  return [...new Set(intents)].flatMap((before) => {
    const steps = transition(before, { type: 'cancel' }, now);
    return isRefusal(steps) || steps.length === 0 ? [] : [{ before, steps }];
  });
}

/**
 * Builds the candidates, while holding the locks of the till and the payers. Locks the account's
 * order last.
 */
async function readCandidates(
  tx: Tx,
  forwarded: Forwarded,
  by: DecideWith &
    Till & {
      readonly known: readonly OfflinePaymentRow[];
      readonly replaced: ReadonlyMap<string, PaymentIntent>;
    } & Awaited<ReturnType<typeof lockOwners>>,
): Promise<{
  readonly candidates: Candidate[];
  readonly cancels: readonly Change[];
  readonly stamp: Stamp;
}> {
  const { tenant } = forwarded.merchant;
  const isKnown = new Set(
    by.known.map((row) => keyOf({ from: row.payer_address, nonce: row.nonce })),
  );
  const sales = [...forwarded.arrived.entries()].filter(
    ([, { authorization }]) => !isKnown.has(keyOf(authorization)),
  );
  const left = sales.flatMap(([, { replaces }]) => by.replaced.get(replaces ?? '') ?? []);
  const cancels = cancelOpen(left, forwarded.now);
  const ends = cancels.reduce((sum, { steps }) => sum + steps.length, 0);
  const orderIds = sales.flatMap(([, sale]) => orderIdsOf(by.idKey, forwarded, sale));
  const inUse = await selectOrderIdsInUse(
    tx,
    orderIds.map((orderId) => ({ tenant, orderId })),
  );
  const rebuilt = await selectRebuiltSales(tx, tenant, orderIds);
  // Locks the account's order until the commit, so it runs last.
  const stamp = await stampOrder(tx, tenant, forwarded.now, sales.length * PLACES + ends);
  await requireFresh(tx, by.drawn);
  const taken = new Set(inUse.map((row) => row.order_id));
  const { drawn, payers, chips, locationId, replaced } = by;
  const state = { sales, drawn, taken, rebuilt, payers, chips, stamp, locationId, replaced };
  return { candidates: candidatesOf(by.idKey, forwarded, state), cancels, stamp };
}

interface Decided {
  readonly candidate: Candidate;
  readonly verdict: Exclude<SaleVerdict, 'undecided'>;
}

/** All sales of a request: the decided ones, and the keys of the others. */
interface Decisions {
  readonly decided: readonly Decided[];
  readonly undecided: ReadonlySet<string>;
}

/**
 * Decides the sales one after the other, because each accepted sale adds to the sums that limits
 * and rules check.
 */
async function decideAll(
  tx: Tx,
  { terminalId, merchant, now }: Forwarded,
  by: {
    readonly candidates: readonly Candidate[];
    readonly limits: TillLimits;
    readonly readiness: Readiness;
  },
): Promise<Decisions> {
  const { candidates, limits, readiness } = by;
  if (candidates.length === 0) return { decided: [], undecided: new Set() };
  const { tenant } = merchant;
  const risks = await readActivities(tx, candidates, now);
  const days = candidates.map(({ payer, countedAt }) => {
    return { address: payer.address, day: utcDay(countedAt) };
  });
  const currency = limits.presentment?.currency ?? null;
  const sums = sumsOf(
    await selectUnderWay(tx, terminalId, currency),
    await selectCardDays(tx, { terminalId, currency }, days),
  );
  const requests = candidates.map(({ intent }) => ({ tenant, atoms: intent.amount }));
  const shareLeft = await readShares(tx, readiness, requests);
  const share = (atoms: bigint) => shareLeft(tenant, atoms);
  const decided: Decided[] = [];
  const undecided = new Set<string>();
  for (const [index, candidate] of candidates.entries()) {
    const risk = present(risks[index], 'activity of a payer');
    const verdict = decideSale(candidate, { limits, sums, risk, share });
    if (verdict === 'undecided') undecided.add(keyOf(candidate.sale.authorization));
    else decided.push({ candidate, verdict });
  }
  return { decided, undecided };
}

function isTaken({ verdict }: Decided): boolean {
  return verdict === 'settle' || verdict === 'later';
}

function statusOf(decided: Decided): OfflinePaymentRow['status'] {
  if (decided.verdict === 'rebuilt') return 'succeeded';
  return isTaken(decided) ? 'processing' : 'bounced';
}

function rowOf(decided: Decided, stamp: Stamp): OfflinePaymentRow {
  const { candidate, verdict } = decided;
  const { sale, intent, payer, countedAt, rebuilt, replaced, offlineId: id } = candidate;
  const isOver = verdict === 'settle' || verdict === 'later' || verdict === 'rebuilt';
  return {
    id,
    account_id: intent.account_id,
    livemode: intent.livemode,
    position: stamp.next(),
    created: stamp.created,
    terminal_id: intent.terminal_id,
    location_id: intent.location_id,
    payer_address: payer.address as OfflinePaymentRow['payer_address'],
    nonce: sale.authorization.nonce,
    amount: intent.amount,
    value: sale.authorization.value,
    accepted_at: sale.acceptedAt,
    counted_at: countedAt,
    status: statusOf(decided),
    bounce_reason: isOver ? null : verdict,
    payment_intent_id: rebuilt?.payment_intent_id ?? (isTaken(decided) ? intent.id : null),
    payment_id: rebuilt?.payment_id ?? null,
    replaces: replaced?.id ?? null,
    cashier_id: intent.cashier_id,
    discount: intent.lines === null ? null : BigInt(intent.lines.discount),
    presentment: sale.quote,
    presentment_problem: sale.presentmentProblem,
  };
}

type Started = Change & { readonly before: OpenIntent };

/** Returns the change that starts the settlement of an accepted sale. */
function startOf({ candidate }: Decided, stamp: Stamp, now: Date): Started {
  const { intent: open, sale, payer } = candidate;
  const intent = { ...open, position: stamp.next() };
  const attempt = {
    payerId: payer.id,
    payerAddress: payer.address as OfflinePaymentRow['payer_address'],
    credential: { type: 'authorization', ...toPaymentAuthorization(sale) },
    tip: ZERO,
    reasonCode: null,
  } as const;
  const steps = transition(intent, { type: 'settle', attempt }, now);
  if (isRefusal(steps)) throw new Error(`a new intent cannot be settled: ${steps.message}`);
  return { before: intent, steps };
}

/** Drafts the events of a new sale: those of its intent, or the bounce. */
function draftsOf(row: OfflinePaymentRow, change: Change | null, stamp: Stamp): EventDraft[] {
  if (row.status !== 'processing') return [offlineDraft(row as EndedOffline, stamp)];
  const { before, steps } = present(change, 'intent of an offline sale');
  const created = {
    tenant: tenantOf(before),
    type: 'payment_intent.created',
    objectId: before.id,
    object: renderIntent(before),
    stamp,
  } as const;
  return [created, ...stepDrafts({ before, steps }, stamp)];
}

/**
 * Writes the decided sales: intents, settlement jobs, rows and events, in one transaction. Cancels
 * the intents that they replace.
 */
async function persist(
  tx: Tx,
  decided: readonly Decided[],
  by: Pick<DecideWith, 'settleWithinS'> & {
    readonly stamp: Stamp;
    readonly cancels: readonly Change[];
    readonly merchantNumber: bigint;
    readonly now: Date;
  },
): Promise<Omit<Taken, 'undecided'>> {
  const { stamp, cancels, now, merchantNumber, settleWithinS } = by;
  const written = decided.map((one) => {
    const row = rowOf(one, stamp);
    const change = isTaken(one) ? startOf(one, stamp, now) : null;
    return { ...one, row, change };
  });
  const changes = written.flatMap(({ change }) => change ?? []);
  const settlements = written.flatMap(({ change, verdict }) => {
    const intent = change?.steps.at(-1)?.intent;
    if (verdict !== 'settle' || intent?.status !== 'processing') return [];
    return [settlementOf(intent, { merchantNumber, settleWithinS })];
  });
  const claimed = written.flatMap(({ candidate: { rebuilt, intent } }) =>
    rebuilt === null
      ? []
      : [{ intentId: rebuilt.payment_intent_id, offline: present(intent.offline, 'offline') }],
  );
  await insertIntents(
    tx,
    changes.map(({ before }) => before),
  );
  await saveStates(tx, [...cancels, ...changes]);
  await requestPayments(tx, settlements, now);
  if (claimed.length > 0) await updateRebuiltOffline(tx, claimed);
  await offlinePayments.insertAll(
    tx,
    written.map(({ row, verdict }) => ({
      ...row,
      retry_at: verdict === 'later' ? addMs(now, RETRY_MS) : null,
    })),
  );
  const drafts = [
    ...cancels.flatMap((change) => stepDrafts(change, stamp)),
    ...written.flatMap(({ row, change }) => draftsOf(row, change, stamp)),
  ];
  return {
    rows: written.map(({ row }) => row),
    started: changes.map(lastOf),
    canceled: cancels.map(lastOf),
    numbered: new Set(decided.filter(isTaken).map(({ candidate }) => candidate.index)),
    deliveries: drafts.length === 0 ? 0 : await appendEvents(tx, drafts),
  };
}

function lastOf({ steps }: Change): PaymentIntent {
  return present(steps.at(-1), 'last step').intent;
}

/**
 * Decides the arrived sales in one transaction, in order, while holding the locks of the till and
 * the payers. If two concurrent requests have the same sale, the second waits and finds the row
 * that the first has written.
 */
export async function decideForwarded(
  tx: Tx,
  forwarded: Forwarded,
  by: DecideWith,
): Promise<Taken | Refusal> {
  const { merchant, arrived, now } = forwarded;
  const till = await lockTill(tx, forwarded);
  if (isRefusal(till)) return till;
  const replaced = await lockReplaced(tx, forwarded);
  const owners = await lockOwners(tx, forwarded);
  const identities = arrived.map(({ authorization }) => authorization);
  const known = await selectOfflineByIdentity(tx, merchant.tenant, identities);
  const read = await readCandidates(tx, forwarded, { ...by, ...till, ...owners, known, replaced });
  const { candidates, cancels, stamp } = read;
  const { readiness, settleWithinS } = by;
  const { decided, undecided } = await decideAll(tx, forwarded, {
    candidates,
    limits: till.limits,
    readiness,
  });
  const merchantNumber = present(merchant.merchantNumber, 'merchant number');
  const made = await persist(tx, decided, { stamp, cancels, merchantNumber, settleWithinS, now });
  return { ...made, undecided, rows: [...known, ...made.rows] };
}
