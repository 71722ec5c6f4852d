import { selectSoldItems } from '#accounts/catalogue-queries.ts';
import {
  type Manager,
  managerRefused,
  managerRequired,
  recordLifted,
  selectManagers,
} from '#accounts/manager-at-till.ts';
import {
  CODE_INVALID,
  hashManagerCode,
  type LockedCode,
  lockManagerCodes,
  useManagerCodes,
} from '#accounts/manager-code.ts';
import { checkMayTakePayments } from '#accounts/may-take-payments.ts';
import {
  type CredentialEnds,
  readCredentialEnds,
  terminalInactive,
} from '#accounts/recheck-credentials.ts';
import { HAS_TILL_PEOPLE, OPEN_SHIFT } from '#accounts/shift-rows.ts';
import { type AskedTerminal, selectTaxSettings } from '#accounts/shop-settings.ts';
import { type Answer, answerWith, isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import type { IdKey } from '#core/ids.ts';
import { type Tenant, tenantOf } from '#core/mode.ts';
import { type Stamp, stampOrders } from '#db/commit-order.ts';
import type { Database, Sql, Tx } from '#db/database.ts';
import type { DatabaseWatch } from '#db/detect-replaced-database.ts';
import { appendEvents } from '#events/append-events.ts';
import { insertKeys, type StoredKey, takeKeys } from '#idempotency/key-queries.ts';
import {
  type Decided,
  type Done,
  decideKeyed,
  type KnownKeys,
  REPLAYED,
} from '#idempotency/run-once-per-key.ts';
import { insertIntents } from '#payments/intent-queries.ts';
import type { OpenIntent } from '#payments/intent-rows.ts';
import { type ChosenOrderId, chooseOrderIds, orderKey } from '#payments/order-ids.ts';
import { asOf } from '#payments/payment-intent.ts';
import {
  type CreateRequest,
  type IntentIds,
  PLACES_PER_CREATE,
  type Price,
  type PriceContext,
  priceOf,
  toNewIntent,
  worthOf,
} from '#payments/price-new-intent.ts';
import { renderIntent } from '#payments/render.ts';
import { requireFresh, withNumbers } from '#payments/reserve-settlement-numbers.ts';
import { itemsIn, needTaxSettings } from '#prices/check-asked-lines.ts';
import { type RateRow, selectRates } from '#prices/rate-queries.ts';
import { hasDiscount } from '#prices/sale-lines.ts';
import { checkLedger } from '#settlement/ledger-gate.ts';
import type { DrawnNumber } from '#settlement/settlement-numbers.ts';

/**
 * The rows on which a batch's decisions depend, read while holding the order locks of its accounts.
 */
interface ReadState {
  readonly keys: KnownKeys;
  readonly terminals: ReadonlyMap<string, TerminalStatusRow>;
  readonly watch: DatabaseWatch;
  readonly ends: CredentialEnds;
  /** One price per request, or the refusal of the price. */
  readonly prices: readonly (Price | Refusal)[];
  /** One order ID per request. */
  readonly orderIds: readonly ChosenOrderId[];
  /** Order IDs that earlier requests of this batch have taken. */
  readonly taken: Set<string>;
  /** The valid manager codes that no sale of this batch has used, by their hash in hex. */
  readonly codes: Map<string, LockedCode>;
  /** The managers at tills who may give discounts, as their requests name them. */
  readonly managers: readonly Manager[];
}

/** The result of a request that was not refused: a new intent, or one that was rebuilt. */
interface Made extends Done {
  /** The new intent; `null` if the request returns an intent that was rebuilt after a data loss. */
  readonly created: {
    readonly intent: OpenIntent;
    /** The intent as rendered for the response and the event. */
    readonly object: ReturnType<typeof renderIntent>;
    readonly stamp: Stamp;
    readonly discount: AllowedDiscount;
  } | null;
}

function checkTerminal(
  terminal: TerminalStatusRow | undefined,
  tenant: Tenant,
): TerminalStatusRow | Refusal {
  const own = terminal?.account_id === tenant.accountId && terminal.livemode === tenant.livemode;
  if (!own) {
    return refuse(
      'parameter_invalid',
      "terminal is not one of this account's terminals in this mode. See GET /v1/terminals.",
      'terminal',
    );
  }
  return terminal.status === 'active' ? terminal : terminalInactive();
}

/**
 * Returns the refusal of an order ID that is in use. It advises choosing another ID, except if the
 * intent was rebuilt after a data loss, because the sale may then have been paid already.
 */
function orderIdInUse({ text, takenBy }: ChosenOrderId): Refusal {
  const advice =
    takenBy?.recovered === true
      ? `${takenBy.id}, which was rebuilt after a loss of data, with ${takenBy.amount} atoms. ` +
        'Check whether it is this sale before you create another one.'
      : 'another payment intent. Choose a new one.';
  return refuse('order_id_in_use', `order_id ${text} belongs to ${advice}`, 'order_id');
}

/** What allowed a discount: a code or a manager at the till, or nothing, if it needed none. */
interface AllowedDiscount {
  readonly code: LockedCode | null;
  readonly managerId: string | null;
}

const FREE: AllowedDiscount = { code: null, managerId: null };

/**
 * Decides about a till's discount. It needs no manager where nobody has a PIN, or if the signed-in
 * person may give discounts.
 */
function allowDiscount(
  request: CreateRequest,
  price: Price,
  terminal: TerminalStatusRow,
  { codes, managers }: ReadState,
): AllowedDiscount | Refusal {
  const { source, managerCode = null, manager = null } = request.input;
  const isFree = !terminal.has_people || terminal.may_discount === true;
  const isDiscount = price.lines !== null && hasDiscount(price.lines);
  if (source !== 'terminal' || isFree || !isDiscount) return FREE;
  if (manager !== null) {
    const isCurrent = managers.some(({ id, pin_id: pinId, account_id: accountId }) => {
      const isSame = id === manager.personId && pinId === manager.pinId;
      return isSame && accountId === terminal.account_id;
    });
    return isCurrent ? { code: null, managerId: manager.personId } : managerRefused();
  }
  if (managerCode === null) return managerRequired('This discount');
  const code = codes.get(hexOf(managerCode));
  const isOwn = code?.account_id === terminal.account_id && code.livemode === terminal.livemode;
  if (code !== undefined && isOwn) return { code, managerId: null };
  return refuse('manager_required', CODE_INVALID, 'manager_code');
}

function hexOf(managerCode: string): string {
  return hashManagerCode(managerCode).toString('hex');
}

interface Deciding {
  readonly request: CreateRequest;
  readonly price: Price | Refusal;
  readonly orderId: ChosenOrderId;
  readonly drawn: DrawnNumber;
  readonly stamp: Stamp;
}

/** Ignores a missing exchange rate, which is not the request's fault. */
function checkPrice(price: Price | Refusal): Refusal | null {
  return isRefusal(price) && price.code === 'parameter_invalid' ? price : null;
}

function decide(
  idKey: IdKey,
  { request, price, orderId, drawn, stamp }: Deciding,
  state: ReadState,
): Made | Refusal {
  const { merchant } = request;
  const { tenant } = merchant;
  const forbidden =
    state.ends(merchant) ??
    checkLedger(state.watch, tenant.livemode) ??
    (orderId.rebuilt === null ? checkPrice(price) : null) ??
    checkMayTakePayments(merchant);
  if (forbidden !== null) return forbidden;
  // Checked before the price: after a data loss, a missing exchange rate or tax rate must not lead
  // to charging a paid sale again.
  if (orderId.rebuilt !== null) {
    const answer = answerWith(201, renderIntent(asOf(orderId.rebuilt, request.now)));
    const replayed = { ...answer, headers: REPLAYED };
    return { answer: replayed, resource: orderId.rebuilt.id, created: null };
  }
  if (isRefusal(price)) return price;
  const terminal = checkTerminal(state.terminals.get(request.input.terminalId), tenant);
  if (isRefusal(terminal)) return terminal;
  const discount = allowDiscount(request, price, terminal, state);
  if (isRefusal(discount)) return discount;
  const key = orderKey(request, orderId.text);
  if (orderId.takenBy !== null || state.taken.has(key)) return orderIdInUse(orderId);
  state.taken.add(key);
  if (discount.code !== null) state.codes.delete(discount.code.hash.toString('hex'));
  const { location_id: locationId, cashier_id: cashierId } = terminal;
  const facts = { ...stamp, drawn, orderId: orderId.text, price, locationId, cashierId };
  const intent = toNewIntent(idKey, request, { ...facts, position: stamp.next() });
  const object = renderIntent(intent);
  const created = { intent, object, stamp, discount };
  return { answer: answerWith(201, object), resource: intent.id, created };
}

const NO_RATES: ReadonlyMap<string, RateRow> = new Map();
const NO_TAXES: PriceContext['taxesAt'] = () => undefined;
const NO_ITEMS: PriceContext['itemsOf'] = () => () => undefined;

async function readPrices(tx: Tx, requests: readonly CreateRequest[]) {
  const currencies: string[] = [];
  const terminals: AskedTerminal[] = [];
  const items: string[] = [];
  for (const { input, merchant } of requests) {
    const { amount, lines, terminalId } = input;
    const { accountId } = merchant.tenant;
    if (typeof amount !== 'number') currencies.push(amount.currency);
    if (lines !== null && needTaxSettings(lines)) terminals.push({ accountId, terminalId });
    items.push(...itemsIn(lines));
  }
  const [rates, taxesAt, itemsOf] = await Promise.all([
    currencies.length === 0 ? NO_RATES : selectRates(tx, currencies),
    terminals.length === 0 ? NO_TAXES : selectTaxSettings(tx, terminals),
    items.length === 0 ? NO_ITEMS : selectSoldItems(tx, items),
  ]);
  const context = { rates, taxesAt, itemsOf };
  return {
    prices: requests.map((request) => priceOf(request, context)),
    worths: requests.map((request) => worthOf(request, context)),
  };
}

async function readCodes(
  tx: Tx,
  requests: readonly CreateRequest[],
  now: Date,
): Promise<ReadState['codes']> {
  const hashes = requests.flatMap(({ input: { managerCode } }) =>
    managerCode == null ? [] : [hashManagerCode(managerCode)],
  );
  const locked = hashes.length === 0 ? [] : await lockManagerCodes(tx, { hashes, now });
  return new Map(locked.map((code) => [code.hash.toString('hex'), code]));
}

function readManagers(tx: Tx, requests: readonly CreateRequest[]): Promise<Manager[]> {
  const checked = requests.flatMap(({ input: { manager }, merchant }) =>
    manager == null ? [] : [{ ...manager, accountId: merchant.tenant.accountId }],
  );
  return selectManagers(tx, checked);
}

async function readFound(
  tx: Tx,
  idKey: IdKey,
  requests: readonly CreateRequest[],
): Promise<ReadState> {
  const now = present(requests[0], 'request').now;
  const keysRead = takeKeys(
    tx,
    requests.map((request) => request.idempotency),
    now,
  );
  const pricesRead = readPrices(tx, requests);
  const [keys, { prices }, orderIds, terminals, ends, codes, managers] = await Promise.all([
    keysRead,
    pricesRead,
    chooseOrderIds(tx, idKey, { requests, keys: keysRead, prices: pricesRead }),
    selectTerminalStatuses(tx, requests),
    readCredentialEnds(
      tx,
      requests.map(({ merchant }) => merchant),
    ),
    readCodes(tx, requests, now),
    readManagers(tx, requests),
  ]);
  const byId = new Map(terminals.map((row) => [row.id, row]));
  const taken = new Set<string>();
  const found = { keys, watch: tx.watch, ends, prices, orderIds, terminals: byId };
  return { ...found, taken, codes, managers };
}

interface Batch {
  readonly requests: readonly CreateRequest[];
  /** The drawn settlement numbers, one per request. */
  readonly drawn: readonly DrawnNumber[];
}

/** Writes the decisions of a batch. @returns the number of webhook deliveries that were created. */
async function writeDecided(
  tx: Tx,
  decided: readonly Decided<Made>[],
  stored: readonly StoredKey[],
  now: Date,
): Promise<number> {
  const created = decided.flatMap(({ done }) => done?.created ?? []);
  const drafts = created.map(({ intent, object, stamp }) => ({
    tenant: tenantOf(intent),
    type: 'payment_intent.created' as const,
    objectId: intent.id,
    object,
    stamp,
  }));
  const intents = created.map(({ intent }) => intent);
  const used = created.flatMap(({ intent, discount: { code } }) =>
    code === null ? [] : [{ hash: code.hash, intentId: intent.id }],
  );
  const [, , deliveries] = await Promise.all([
    insertKeys(tx, stored),
    insertIntents(tx, intents),
    appendEvents(tx, drafts),
    useManagerCodes(tx, used, now),
  ]);
  return deliveries;
}

export interface Created {
  readonly answer: Answer | Refusal;
  readonly created: boolean;
}

async function recordDiscount(tx: Tx, created: Made['created']): Promise<void> {
  const managerId = created?.discount.managerId ?? null;
  if (created === null || managerId === null) return;
  const { id, account_id: accountId, terminal_id, cashier_id: cashierId } = created.intent;
  const terminalId = present(terminal_id, 'terminal of a discount at a till');
  const about = { accountId, terminalId, action: 'discount.allowed', objectId: id } as const;
  await recordLifted(tx, { ...about, managerId, cashierId, now: created.stamp.created });
}

/** Locks and reads what a batch needs, then decides and writes it. */
async function decideBatch(tx: Tx, idKey: IdKey, batch: Batch) {
  const { requests, drawn } = batch;
  const now = new Date(Math.max(...requests.map((request) => request.now.getTime())));
  const counts = requests.map(({ merchant }) => ({
    tenant: merchant.tenant,
    count: PLACES_PER_CREATE,
  }));
  const [stampOf, state] = await Promise.all([
    stampOrders(tx, counts, now),
    readFound(tx, idKey, requests),
    requireFresh(tx, drawn),
  ]);
  const { decided, stored } = decideKeyed(state.keys, requests, (request, index) => {
    const price = present(state.prices[index], 'price');
    const orderId = present(state.orderIds[index], 'order id');
    const stamp = stampOf(request.merchant.tenant);
    const number = present(drawn[index], 'drawn number');
    const deciding = { request, price, orderId, drawn: number, stamp };
    return decide(idKey, deciding, state);
  });
  for (const { done } of decided) await recordDiscount(tx, done?.created ?? null);
  const deliveries = tx.finish(writeDecided(tx, decided, stored, now));
  const outcomes = decided.map(({ answer, done }): Created => {
    return { answer, created: done !== null && done.created !== null };
  });
  return { outcomes, deliveries };
}

/**
 * Decides all requests in one transaction, while holding the order locks of their accounts.
 * @returns one result per request.
 */
export async function createBatch(
  db: Database,
  { idKey, numbers }: IntentIds,
  requests: readonly CreateRequest[],
): Promise<{ readonly outcomes: readonly Created[]; readonly deliveries: number }> {
  const written = await withNumbers(db, numbers, {
    modes: requests.map(({ merchant }) => merchant.tenant.livemode),
    run: (tx, drawn) => decideBatch(tx, idKey, { requests, drawn }),
    isUsed: ({ outcomes }, index) => outcomes[index]?.created === true,
  });
  return { ...written, deliveries: await written.deliveries };
}

/** The facts about a terminal that creating an intent requires. */
interface TerminalStatusRow {
  id: string;
  account_id: string;
  livemode: boolean;
  status: 'active' | 'inactive';
  location_id: string | null;
  /** The signed-in person; `null` if there is none, or if they have lost their rights. */
  cashier_id: string | null;
  may_discount: boolean | null;
  /** True if people of the account have PINs. Read only for requests that have lines. */
  has_people: boolean;
}

async function selectTerminalStatuses(
  sql: Sql,
  requests: readonly CreateRequest[],
): Promise<TerminalStatusRow[]> {
  const ids = [...new Set(requests.map(({ input }) => input.terminalId))];
  const mayDiscount = requests.some(({ input: { source, lines } }) => {
    return source === 'terminal' && lines !== null;
  });
  return sql.query(
    `select t.id, t.account_id, t.livemode, t.status, t.location_id,
       h.cashier_id, h.may_discount,
       $2 and ${HAS_TILL_PEOPLE('t.account_id')} as has_people
     from terminals t left join lateral (
       select m.id as cashier_id, m.may_discount
       from ${OPEN_SHIFT('t.id')}) h on true
     where t.id = any($1)`,
    [ids, mayDiscount],
  );
}
