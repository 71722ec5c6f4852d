import { setImmediate as nextTurn } from 'node:timers/promises';
import { selectSoldItems } from '#accounts/catalogue-queries.ts';
import { selectShopAt } from '#accounts/locations.ts';
import { checkMayTakePayments } from '#accounts/may-take-payments.ts';
import type { MerchantAccount } from '#accounts/merchant-caller.ts';
import { selectTaxSettings } from '#accounts/shop-settings.ts';
import { type Answer, answerWith, isRefusal, type Refusal } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { failpoint } from '#core/failpoints.ts';
import { perProcess } from '#core/once-per-process.ts';
import { createBatcher } from '#db/batching.ts';
import { EVENTS_TOPIC, eventsKey } from '#events/append-events.ts';
import { writerFor } from '#i18n/text.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { serviceUnavailable } from '#payments/ask-chain-before-locking.ts';
import { judgeOnChain, judgeTerms } from '#payments/offline/decide-bounce.ts';
import {
  type OfflinePaymentRow,
  selectOfflineByIdentity,
} from '#payments/offline/offline-queries.ts';
import type { Arrived, Forwarded } from '#payments/offline/offline-sale-candidates.ts';
import {
  isWorth,
  type OfflineQuote,
  type PresentmentProblem,
  quoteOfRecord,
  type TermsPrice,
} from '#payments/offline/presentment-terms.ts';
import { offlineObject } from '#payments/offline/render-offline-payment.ts';
import {
  type OfflineRates,
  readOfflineRates,
  type Signed,
  toPaymentAuthorization,
} from '#payments/offline/signed-sale.ts';
import {
  decideForwarded,
  keyOf,
  offlineIsOff,
  type Taken,
} from '#payments/offline/take-forwarded.ts';
import { numbersOf, withNumbers } from '#payments/reserve-settlement-numbers.ts';
import { announce } from '#payments/wake-waiting-requests.ts';
import { selectPeopleAmong } from '#people/membership-queries.ts';
import {
  type AskedLines,
  type FindItem,
  itemsIn,
  needTaxSettings,
  readLines,
} from '#prices/check-asked-lines.ts';
import type { SaleLines } from '#prices/sale-lines.ts';
import { type Chain, withoutUrgency } from '#settlement/chain/chain.ts';
import { NO_NUMBER } from '#settlement/chain/check/check-payment.ts';
import {
  type OfflineAuthorization,
  verifyOffline,
} from '#settlement/chain/check/offline-authorization.ts';
import { RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { checkSettles } from '#settlement/network-readiness.ts';
import { selectOfflineRule } from '#terminals/offline-limit-queries.ts';
import { offlineWithin } from '#terminals/offline-limits.ts';
import { selectTerminal } from '#terminals/terminal-queries.ts';

/** A well-formed sale as the till stored it, not yet verified. */
export interface OfflineRecord {
  readonly authorization: OfflineAuthorization;
  readonly amount: bigint;
  readonly salt: Hex;
  readonly acceptedAt: Date;
  readonly description: string | null;
  readonly lines: AskedLines | null;
  /** The person who was signed in at the till, as sent; `null` if there was none. */
  readonly cashier: string | null;
  /** The price in the shop's currency, as sent; `null` for a sale in USDC. */
  readonly presentment: TermsPrice | null;
  /** The intent that the till canceled for this sale, as sent; `null` if there is none. */
  readonly replaces: string | null;
}

export interface ForwardRequest {
  readonly merchant: MerchantAccount;
  readonly terminalId: string;
  readonly records: readonly OfflineRecord[];
  readonly now: Date;
}

/** A record with its lines; `problem` says why it failed verification, or is `null`. */
type Checked = Omit<OfflineRecord, 'lines' | 'presentment'> &
  Signed & {
    readonly lines: SaleLines | null;
    readonly quote: OfflineQuote | null;
    readonly presentmentProblem: PresentmentProblem | null;
    readonly problem: 'nonce' | 'signature' | 'presentment' | null;
  };

/** Number of records whose chain checks run concurrently. A request has up to 100 records. */
const CHECKS_AT_ONCE = 8;

/**
 * Number of signatures that are verified, at about a millisecond each, before other requests get
 * their turn.
 */
const VERIFIED_AT_ONCE = 4;

/**
 * Accepts the sales that a till took while it was offline. Each verified sale gets one object, no
 * matter which tills forward it and how often, and either settles once or bounces. Does not wait
 * for the settlements.
 */
export async function forwardOffline(
  ctx: ApiContext,
  request: ForwardRequest,
): Promise<Answer | Refusal> {
  const { merchant } = request;
  const { tenant } = merchant;
  const forbidden = (await checkAllowed(ctx, request)) ?? checkMayTakePayments(merchant);
  if (forbidden !== null) return forbidden;
  const completed = await completeAll(ctx, request);
  if (isRefusal(completed)) return completed;
  const chain = ctx.chains.find(({ config }) => config.livemode === tenant.livemode);
  if (chain === undefined) return serviceUnavailable();
  await chain.refreshToken();
  if (chain.config.token.domainProblem !== null) return serviceUnavailable();
  const checked = await verifyAll(ctx, chain, { ...request, completed });
  const verified = checked.filter(({ problem }) => problem === null);
  const { known, fresh } = await readFresh(ctx, request, verified);
  if (fresh.length === 0) return answerAll(checked, { rows: known });
  const unsettled = checkSettles(ctx.readiness, tenant.livemode);
  if (unsettled !== null) return unsettled;
  const taken = await forwarderOf(ctx).add({ request, chain, verified });
  return isRefusal(taken) ? taken : answerAll(checked, taken);
}

interface Verified {
  readonly request: ForwardRequest;
  readonly chain: Chain;
  readonly verified: readonly Checked[];
}

type Answered = Pick<Taken, 'rows'> & Partial<Pick<Taken, 'undecided'>>;

/** Number of tills whose sales are checked at the same time. */
const TILLS_AT_ONCE = 8;

/**
 * Runs the requests of one till one after the other, so that a till whose connection is cut, and
 * which repeats its request, has the chain asked only once about each sale.
 */
const forwarderOf = perProcess((ctx: ApiContext) =>
  createBatcher<Verified, Answered | Refusal>({
    maxInFlight: TILLS_AT_ONCE,
    maxItems: 1,
    queueOf: ({ request }) => request.terminalId,
    run: (requests) => Promise.all(requests.map((one) => judgeAndTake(ctx, one))),
  }),
);

async function judgeAndTake(
  ctx: ApiContext,
  { request, chain, verified }: Verified,
): Promise<Answered | Refusal> {
  const { known, fresh } = await readFresh(ctx, request, verified);
  if (fresh.length === 0) return { rows: known };
  // A hundred old sales must not hold up a customer who taps now.
  const arrived = await judgeAll(ctx, withoutUrgency(chain), { sales: fresh, now: request.now });
  if (isRefusal(arrived)) return arrived;
  failpoint('offline.sales_judged');
  const taken = await takerOf(ctx).add({ ...request, arrived });
  if (isRefusal(taken)) return taken;
  failpoint('offline.sales_committed');
  wake(ctx, request, taken);
  return { rows: [...known, ...taken.rows], undecided: taken.undecided };
}

/** Reads the rows of those sales that are known, and returns the others. */
async function readFresh(
  { db }: ApiContext,
  { merchant }: ForwardRequest,
  verified: readonly Checked[],
) {
  const identities = verified.map(({ authorization }) => authorization);
  const known = await selectOfflineByIdentity(db, merchant.tenant, identities);
  return { known, fresh: withoutKnown(verified, known) };
}

/** Returns the first record of each sale that has no row yet. */
function withoutKnown(
  verified: readonly Checked[],
  known: readonly OfflinePaymentRow[],
): readonly Checked[] {
  const seen = new Set(known.map((row) => keyOf({ from: row.payer_address, nonce: row.nonce })));
  return verified.filter(({ authorization }) => {
    const key = keyOf(authorization);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

async function checkAllowed(
  { db }: ApiContext,
  { merchant: { tenant }, terminalId }: ForwardRequest,
): Promise<Refusal | null> {
  const [terminal, rule] = await Promise.all([
    selectTerminal(db, tenant, terminalId),
    selectOfflineRule(db, tenant.livemode),
  ]);
  const limits = terminal === null ? null : offlineWithin(terminal, rule);
  return limits === null ? offlineIsOff(rule.allowed) : null;
}

/** Returns the lines without items that the account does not know: those refuse no record. */
function knownItems(lines: AskedLines, findItem: FindItem): AskedLines {
  const lineItems = lines.lineItems.map((line) => {
    const isKnown = line.item != null && findItem(line.item) !== undefined;
    return isKnown ? line : { ...line, item: null };
  });
  return { ...lines, lineItems };
}

/** The fields of a record that depend on the account. */
interface Completed {
  readonly lines: SaleLines | null;
  readonly cashier: string | null;
}

/**
 * Completes the lines of all records from the account's settings, and leaves out people and items
 * that it does not know. Refuses if the lines of a record do not add up to its price.
 */
async function completeAll(
  { db }: ApiContext,
  { merchant, terminalId, records }: ForwardRequest,
): Promise<readonly Completed[] | Refusal> {
  const at = { accountId: merchant.tenant.accountId, terminalId };
  const isNeeded = records.some(({ lines }) => lines !== null && needTaxSettings(lines));
  const taxes = isNeeded ? (await selectTaxSettings(db, [at]))(at) : undefined;
  const settings = taxes ?? { tax_rates: [], prices_include_tax: true };
  const items = records.flatMap(({ lines }) => itemsIn(lines));
  const itemsOf = items.length === 0 ? null : await selectSoldItems(db, items);
  const findItem = itemsOf?.(merchant.tenant) ?? (() => undefined);
  const named = records.flatMap(({ cashier }) => cashier ?? []);
  const people = named.length === 0 ? [] : await selectPeopleAmong(db, at.accountId, named);
  const all: Completed[] = [];
  for (const [index, { lines, amount, cashier, presentment }] of records.entries()) {
    const price = presentment?.amount ?? Number(amount);
    const known = lines && knownItems(lines, findItem);
    const read = known && readLines(known, { settings, findItem }, price);
    if (isRefusal(read)) return { ...read, param: `payments[${index}].${read.param}` };
    all.push({ lines: read, cashier: people.find((id) => id === cashier) ?? null });
  }
  return all;
}

/** Returns the name of a line without an item, in the language of the till's shop. */
async function lineName(
  { db }: ApiContext,
  { merchant, terminalId }: ForwardRequest,
): Promise<string> {
  const { accountId } = merchant.tenant;
  const { language } = await selectShopAt(db, { accountId, terminalId });
  return writerFor(language ?? 'en').text('till.amount');
}

/**
 * Returns the lines of a sale whose price in the shop's currency is unknown: one line in atoms. It
 * keeps the tax rate that all lines have in common.
 */
function lineInAtoms(amount: bigint, lines: SaleLines | null, name: string): SaleLines {
  const rates = new Set(lines?.lineItems.map((line) => line.tax_rate));
  const [rate = 0] = rates;
  const line = {
    ...{ name, quantity: 1, unit_amount: Number(amount) },
    ...{ tax_rate: rates.size === 1 ? rate : 0, tax_inclusive: true, discount: 0 },
  };
  return { lineItems: [line], discount: 0 };
}

async function verifyAll(
  ctx: ApiContext,
  { config }: Chain,
  request: ForwardRequest & { readonly completed: readonly Completed[] },
): Promise<Checked[]> {
  const { merchant, records, completed } = request;
  let name: string | null = null;
  const merchantNumber = present(merchant.merchantNumber, 'merchant number');
  const checked: Checked[] = [];
  for (const [index, record] of records.entries()) {
    const { authorization, amount, salt, presentment } = record;
    const sale = { merchantNumber, amount, salt };
    const { validBefore } = authorization;
    const by = { idKey: ctx.keys.id, tenant: merchant.tenant, validBefore };
    const { quote, problem: presentmentProblem } = quoteOfRecord(presentment, by);
    const isWrong = quote !== null && !isWorth(amount, quote);
    const unverified = await verifyOffline(config, sale, authorization);
    const problem = unverified ?? (isWrong ? 'presentment' : null);
    const { lines, cashier } = present(completed[index], 'completed record');
    if (presentmentProblem !== null) name ??= await lineName(ctx, request);
    const kept =
      name === null || presentmentProblem === null ? lines : lineInAtoms(amount, lines, name);
    checked.push({ ...record, sale, lines: kept, cashier, quote, presentmentProblem, problem });
    if (index % VERIFIED_AT_ONCE === VERIFIED_AT_ONCE - 1) await nextTurn();
  }
  return checked;
}

/**
 * Asks the chain whether it would accept the sales. Refuses with `service_unavailable` if it does
 * not respond for one of them.
 */
async function judgeAll(
  { db }: ApiContext,
  chain: Chain,
  { sales, now }: { readonly sales: readonly Checked[]; readonly now: Date },
): Promise<readonly Arrived[] | Refusal> {
  const arrived: Arrived[] = [];
  try {
    const merchantNumber = present(sales[0], 'offline sale').sale.merchantNumber;
    const terms = await readOfflineRates(db, chain, merchantNumber);
    for (let from = 0; from < sales.length; from += CHECKS_AT_ONCE) {
      const some = sales.slice(from, from + CHECKS_AT_ONCE);
      const judged = await Promise.all(some.map((sale) => judge(chain, sale, { ...terms, now })));
      for (const one of judged) {
        if (one === null) return serviceUnavailable();
        arrived.push(one);
      }
    }
  } catch (error) {
    if (error instanceof RpcUnavailable) return serviceUnavailable();
    throw error;
  }
  return arrived;
}

/** A placeholder: the payer does not sign an order ID. */
const NO_ORDER_ID = 'offline';

/** @returns `null` if the chain does not respond. */
async function judge(
  chain: Chain,
  sale: Checked,
  { now, ...terms }: OfflineRates & { readonly now: Date },
): Promise<Arrived | null> {
  const termsProblem = judgeTerms(sale, terms, now);
  // The sale bounces, whatever the chain's verdict, so the chain is not queried.
  if (termsProblem !== null) return { ...sale, termsProblem, verdict: 'ok' };
  const { merchantNumber, amount } = sale.sale;
  const payment = {
    number: NO_NUMBER,
    payer: sale.authorization.from,
    merchantNumber,
    amount,
    orderId: NO_ORDER_ID,
  };
  const authorization = toPaymentAuthorization(sale);
  const verdict = await judgeOnChain(chain, { payment, authorization, rates: terms.rates });
  // `settled` cannot be right, because `NO_NUMBER` is never assigned. None of these verdicts
  // decides the sale, so the till forwards it again.
  if (verdict === 'unavailable' || verdict === 'settled' || verdict === 'merchant_refused') {
    return null;
  }
  return { ...sale, termsProblem: null, verdict: verdict === 'wallet_refuses' ? 'later' : verdict };
}

/**
 * Concurrent transactions. Each holds a database connection while it waits for its till's lock, so
 * more would use up the connections.
 */
const MAX_IN_FLIGHT = 3;

const takerOf = perProcess((ctx: ApiContext) =>
  createBatcher<Forwarded, Taken | Refusal>({
    maxInFlight: MAX_IN_FLIGHT,
    maxItems: 1,
    run: (forwarded) => Promise.all(forwarded.map((one) => takeOne(ctx, one))),
  }),
);

function takeOne(ctx: ApiContext, forwarded: Forwarded): Promise<Taken | Refusal> {
  const { livemode } = forwarded.merchant.tenant;
  const { readiness, keys, settings } = ctx;
  const by = { idKey: keys.id, readiness, settleWithinS: settings.settleWithinS };
  return withNumbers<Taken | Refusal>(ctx.db, numbersOf(ctx), {
    modes: forwarded.arrived.map(() => livemode),
    run: (tx, drawn) => decideForwarded(tx, forwarded, { ...by, drawn }),
    isUsed: (taken, index) => !isRefusal(taken) && taken.numbered.has(index),
  });
}

/** Wakes the relayer, event streams and webhook workers. Call it after the commit. */
function wake({ wakeups }: ApiContext, { merchant }: ForwardRequest, taken: Taken): void {
  for (const intent of [...taken.started, ...taken.canceled]) announce(wakeups, intent);
  wakeups.send(EVENTS_TOPIC, eventsKey(merchant.tenant));
  if (taken.deliveries > 0) wakeups.send('deliveries');
}

const PROBLEMS = {
  nonce: {
    code: 'parameter_invalid',
    message:
      'The nonce does not match this merchant, amount and salt. It must be ' +
      'authorizationNonce(merchant_number, amount, 0, 0x0000000000000000, salt).',
  },
  presentment: {
    code: 'parameter_invalid',
    message:
      'presentment.amount: the amount is not what these terms give. It must be rate × ' +
      'presentment.amount, rounded up.',
  },
  signature: {
    code: 'signature_invalid',
    message: 'This wallet did not sign exactly these values. Nothing was charged.',
  },
  undecided: {
    code: 'payment_intent_unexpected_state',
    message:
      'The payment intent that this sale replaces is still processing. Nothing was stored: send ' +
      'the record again until that intent has ended.',
  },
} as const;

/** Builds the response: one element per record, in the order of the request. */
function answerAll(checked: readonly Checked[], { rows, undecided }: Answered): Answer {
  const known = new Map(
    rows.map((row) => [keyOf({ from: row.payer_address, nonce: row.nonce }), row]),
  );
  const data = checked.map(({ authorization, problem: unverified }) => {
    const { nonce } = authorization;
    const isUndecided = undecided?.has(keyOf(authorization)) === true;
    const problem = unverified ?? (isUndecided ? 'undecided' : null);
    if (problem !== null) return { object: 'error', ...PROBLEMS[problem], nonce };
    return offlineObject(present(known.get(keyOf(authorization)), 'row of an offline sale'));
  });
  return answerWith(200, { object: 'list', data });
}
