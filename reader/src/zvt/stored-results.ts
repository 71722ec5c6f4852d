import { createHash } from 'node:crypto';
import type { DeviceRefund } from '../device-api.ts';
import type { Money } from './price-of-amount.ts';
import type { Ask, Register } from './read-command.ts';

/**
 * The state that the reader keeps across restarts: the register's last sale and last refund, and
 * whether the register acknowledged their results. Saved to a file before any frame that depends on
 * it is sent (`till-settings.ts`).
 */
export interface Stored {
  /** The last trace number that the reader assigned. */
  readonly trace: number;
  readonly register: Register;
  readonly sale: Sale | null;
  readonly refund: Refund | null;
  /** The kind of the register's last request. "Repeat receipt" repeats its result. */
  readonly last: 'sale' | 'refund' | null;
  /** The end of the last acknowledged end of day. */
  readonly closed: Closed | null;
  /** Paid sales with numbers of the register since the last end of day, newest first. */
  readonly taken: readonly Taken[];
}

/** A number of the register that a paid sale has taken. */
export interface Taken extends EarlierSale {
  readonly number: string;
  readonly attempt: number;
  readonly known_at: number;
  /** True if another sale was paid after this one. */
  readonly isFollowed: boolean;
}

/** The fields of a paid sale that a text to the cashier names. */
export interface EarlierSale {
  readonly paid_at: string;
  readonly receipt: number;
}

/** The newest sale in an end of day, by the network's clock. The next one begins after it. */
export interface Closed {
  readonly created: string;
  /** `null` if there was no sale yet. */
  readonly payment: string | null;
  /** Time at which the sales were read, by the reader's clock. */
  readonly at: string;
}

/** The progress of a result on its way to the register. */
export type Delivery = 'unsent' | 'sent' | 'acknowledged';

interface SaleRequest {
  /** The Idempotency-Key. */
  readonly key: string;
  /** The register's own number of the sale; `null` if it sent none. */
  readonly number: string | null;
  /** Number of earlier sales with this number since the last end of day. Each has its own key. */
  readonly attempt: number;
  readonly asked_at: number;
  readonly amount: number;
  readonly currency: number;
  readonly trace: number;
}

export type Sale = SaleRequest &
  (
    | { readonly status: 'asked' }
    | { readonly status: 'open'; readonly intent: string }
    | ({ readonly status: 'paid'; readonly paid: Paid } & Known)
    | ({ readonly status: 'not_paid'; readonly code: number } & Known)
  );

interface Known {
  readonly delivery: Delivery;
  readonly known_at: number;
}

export interface Paid {
  readonly payment: string;
  /** The last four digits of the receipt number. */
  readonly receipt: number;
  readonly receipt_url: string | null;
  readonly at: string;
  /** The amount in USDC, as text. */
  readonly text: string;
  /** True if all of it was refunded, so it no longer counts as paid. */
  readonly reversed: boolean;
}

/** A reversal or refund of a sale. */
export type Refund = {
  readonly key: string;
  /** The payment; or the receipt that identifies it, and the price that it must have. */
  readonly of:
    | { readonly payment: string }
    | { readonly receipt: number; readonly price: number | null };
  /** `null` for everything that is left of the sale. Currency 0 means the sale's currency. */
  readonly money: Money | null;
  readonly trace: number;
  readonly original_trace: number | null;
} & (
  | { readonly status: 'asked' }
  | { readonly status: 'requested'; readonly request: RefundRequest }
  | { readonly status: 'accepted'; readonly request: RefundRequest; readonly made: DeviceRefund }
  | ({ readonly status: 'done'; readonly done: Returned } & Known)
  | ({ readonly status: 'refused'; readonly code: number } & Known)
);

/** A refund as requested from the network. Stored before the first request. */
export interface RefundRequest {
  readonly body: { readonly payment: string };
  /** The full receipt number of the sale. */
  readonly receipt_number: string;
  /** Atoms that were paid, and those of them that were refunded before. */
  readonly paid: number;
  readonly before: number;
  /** Time of the first request. */
  readonly at: number;
}

export interface Returned {
  readonly money: Money;
  readonly receipt: number;
  readonly receipt_url: string | null;
  readonly at: string;
  /** True if the refund leaves nothing of the sale. */
  readonly whole: boolean;
}

/** A report of the network about a sale. */
export type SaleNews =
  /** The key belongs to an earlier sale with the same number, which was canceled. */
  | { readonly status: 'canceled_before' }
  /** The key belongs to an earlier sale with the same number, which was paid. */
  | { readonly status: 'paid_before'; readonly paid: Paid }
  | { readonly status: 'open'; readonly intent: string }
  /** In order: the customer may pay; a payment is in progress; the network does not answer. */
  | { readonly status: 'waiting' | 'processing' | 'unreachable' }
  | { readonly status: 'paid'; readonly paid: Paid }
  | { readonly status: 'not_paid'; readonly code: number };

export type RefundNews =
  | { readonly status: 'processing' | 'unreachable' }
  /** In order: the refund can be requested; the network has accepted it. */
  | { readonly status: 'requested'; readonly request: RefundRequest }
  | { readonly status: 'accepted'; readonly made: DeviceRefund }
  | { readonly status: 'done'; readonly done: Returned }
  | { readonly status: 'refused'; readonly code: number };

/** Result codes of the documentation that this terminal uses. */
export const RESULT = {
  ok: 0x00,
  goodsNotIssued: 0x66,
  notRegistered: 0x6b,
  aborted: 0x6c,
  wrongCurrency: 0x6f,
  notPossible: 0x83,
  protocolError: 0x9a,
  noLine: 0x9b,
  pleaseWait: 0x9c,
  systemError: 0xff,
} as const;

export const NOTHING_STORED = (register: Register): Stored => ({
  trace: 0,
  register,
  sale: null,
  refund: null,
  last: null,
  closed: null,
  taken: [],
});

/**
 * Within this time, a request for an equal amount that the register has not numbered may be the
 * repetition of a sale whose result it has not acknowledged.
 */
export const REPEAT_MS = 120_000;
/** Within this time, the same number and sum are the same sale, if no other sale came between. */
export const SAME_SALE_MS = 600_000;
/** After this time, a number is free again if other sales were paid: registers count per day. */
const FREE_MS = 12 * 3_600_000;
/** A busy day's sales. The network recognizes a number that was dropped from the list. */
const MOST_TAKEN = 1_000;
const MOST_TRACES = 1_000_000;

function nextTrace({ trace }: Stored): number {
  return ((trace + 1) % MOST_TRACES) + (trace + 1 === MOST_TRACES ? 1 : 0);
}

export function moneyOf({ ask, register }: { ask: Ask; register: Register }): Money {
  return { amount: ask.amount, currency: ask.currency ?? register.currency };
}

/** Adds a new sale. @param given A key for a sale that the register did not number; the time. */
export function withSale(
  stored: Stored,
  ask: Ask,
  { id, now }: { readonly id: string; readonly now: number },
): Stored & { readonly sale: Sale } {
  const trace = nextTrace(stored);
  const { number } = ask;
  const former = stored.sale?.number === number ? [stored.sale] : [];
  const taken = [...stored.taken, ...former].filter((one) => one.number === number);
  const attempt = number === null ? 0 : Math.max(-1, ...taken.map((one) => one.attempt)) + 1;
  const key = number === null ? `zvt-${id}` : numberedKey(stored, number, attempt);
  const money = moneyOf({ ask, register: stored.register });
  const sale: Sale = { status: 'asked', key, number, attempt, ...money, trace, asked_at: now };
  return { ...stored, trace, sale, last: 'sale' };
}

/** Each end of day begins new keys, because many registers then begin with number 1 again. */
function numberedKey({ closed }: Stored, number: string, attempt: number): string {
  const day = closed === null ? '' : ` ${closed.at}`;
  const hash = createHash('sha256').update(`${number}${day}`).digest('hex');
  return attempt === 0 ? `zvt-number-${hash}` : `zvt-number-${hash}-${attempt}`;
}

/**
 * Returns whether a request is for a sale that was made before: `same` if its result is reported
 * again; the sale that may be meant, if only the cashier can know; or `null` for a new sale.
 */
export function earlierSale(stored: Stored, ask: Ask, now: number): 'same' | EarlierSale | null {
  const { sale } = stored;
  const money = moneyOf({ ask, register: stored.register });
  if (ask.number === null) {
    if (sale === null || !mustRepeat(sale, money, now)) return null;
    if (sale.status !== 'paid') return 'same';
    return { paid_at: sale.paid.at, receipt: sale.paid.receipt };
  }
  const last = sale?.number === ask.number ? sale : null;
  const taken = stored.taken.find(({ number }) => number === ask.number);
  if (last?.status === 'not_paid' && last.attempt !== taken?.attempt) return null;
  if (taken === undefined || (taken.isFollowed && now - taken.known_at >= FREE_MS)) return null;
  const isSame = last !== null && isSameMoney(last, money) && now - taken.known_at <= SAME_SALE_MS;
  return isSame ? 'same' : taken;
}

/** Takes the number of a sale that was paid. */
function withTaken(
  stored: Stored,
  { number, attempt }: SaleRequest,
  paid: Paid,
  now: number,
): Stored {
  const others = stored.taken.filter((one) => one.number !== number);
  const followed = others.map((one) => ({ ...one, isFollowed: true }));
  const { at: paid_at, receipt } = paid;
  const own = number === null ? [] : [{ number, attempt, paid_at, receipt, known_at: now }];
  const taken = [...own.map((one) => ({ ...one, isFollowed: false })), ...followed];
  return { ...stored, taken: taken.slice(0, MOST_TAKEN) };
}

/** Stores an acknowledged end of day, after which the register's numbers are free again. */
export function withClosed(stored: Stored, closed: Closed | null): Stored {
  return closed === null ? stored : { ...stored, closed, taken: [] };
}

type NewRefund = Pick<Refund, 'of' | 'money' | 'original_trace'>;

/**
 * Adds a new refund. Its key is new, because the key of a failed refund would return the failure
 * again.
 */
export function withRefund(
  stored: Stored,
  input: NewRefund,
  id: string,
): Stored & { readonly refund: Refund } {
  const trace = nextTrace(stored);
  const refund: Refund = { ...input, status: 'asked', key: `zvt-${id}`, trace };
  return { ...stored, trace, refund, last: 'refund' };
}

export function isUnknownSale(sale: Sale | null): boolean {
  return sale?.status === 'asked' || sale?.status === 'open';
}

export function isUnknownRefund(refund: Refund | null): boolean {
  return refund !== null && refund.status !== 'done' && refund.status !== 'refused';
}

/**
 * True if the same sum, so soon, is more likely a repeat than another sale. For a paid sale that
 * also holds if the register acknowledged it: its cashier may not have seen the result.
 */
export function mustRepeat(sale: Sale, money: Money, now: number): boolean {
  if (!isSameMoney(sale, money)) return false;
  if (sale.status === 'paid') return !sale.paid.reversed && now - sale.known_at <= REPEAT_MS;
  // A sale that was not paid can simply be made, unless its report may have been lost.
  if (sale.status !== 'not_paid' || sale.delivery !== 'sent') return false;
  return now - sale.known_at <= REPEAT_MS;
}

/** True if the register asks for the stored sale. */
export function isSameAsk({ sale, register }: Stored, ask: Ask): boolean {
  return (
    sale !== null && sale.number === ask.number && isSameMoney(sale, moneyOf({ ask, register }))
  );
}

export function isSameMoney(one: Money, other: Money): boolean {
  return one.amount === other.amount && one.currency === other.currency;
}

/** True if the refund must be reported again, instead of refunding the same money a second time. */
export function mustRepeatRefund(stored: Stored, input: NewRefund, now: number): boolean {
  const { refund } = stored;
  if (refund?.status !== 'done' && refund?.status !== 'refused') return false;
  if (refund.delivery === 'acknowledged' || !isSameRefund(refund, input)) return false;
  // A sale is reversed only once, even if the register requests it again much later.
  if ('payment' in input.of) return refund.status === 'done';
  return now - refund.known_at <= REPEAT_MS;
}

function isSameRefund(one: NewRefund, other: NewRefund): boolean {
  const isOfSame =
    'payment' in one.of
      ? 'payment' in other.of && one.of.payment === other.of.payment
      : 'receipt' in other.of && one.of.receipt === other.of.receipt;
  if (one.money === null || other.money === null) return isOfSame && one.money === other.money;
  return isOfSame && isSameMoney(one.money, other.money);
}

/** Applies news about the sale. @returns `stored` itself if nothing has changed. */
export function withSaleNews(stored: Stored, news: SaleNews, now: number): Stored {
  const { sale } = stored;
  if (sale === null || !isUnknownSale(sale)) return stored;
  const { key, number, attempt, amount, currency, trace, asked_at } = sale;
  const request: SaleRequest = { key, number, attempt, amount, currency, trace, asked_at };
  const known: Known = { delivery: 'unsent', known_at: now };
  switch (news.status) {
    case 'canceled_before': {
      if (number === null) return stored;
      const next = { attempt: attempt + 1, key: numberedKey(stored, number, attempt + 1) };
      return { ...stored, sale: { ...request, ...next, status: 'asked' } };
    }
    case 'open':
      return { ...stored, sale: { ...request, status: 'open', intent: news.intent } };
    case 'paid': {
      const paid: Sale = { ...request, ...known, status: 'paid', paid: news.paid };
      return { ...withTaken(stored, request, news.paid, now), sale: paid };
    }
    case 'paid_before': {
      const code = RESULT.notPossible;
      const refused: Sale = { ...request, ...known, status: 'not_paid', code };
      return { ...withTaken(stored, request, news.paid, now), sale: refused };
    }
    case 'not_paid':
      return { ...stored, sale: { ...request, ...known, status: 'not_paid', code: news.code } };
    default:
      return stored;
  }
}

export function withRefundNews(stored: Stored, news: RefundNews, now: number): Stored {
  const { refund } = stored;
  if (refund === null || !isUnknownRefund(refund)) return stored;
  const { key, of, money, trace, original_trace } = refund;
  const input = { key, of, money, trace, original_trace };
  const known: Known = { delivery: 'unsent', known_at: now };
  switch (news.status) {
    case 'requested':
      return refund.status === 'asked' ? { ...stored, refund: { ...input, ...news } } : stored;
    case 'accepted':
      return refund.status === 'requested'
        ? { ...stored, refund: { ...input, request: refund.request, ...news } }
        : stored;
    case 'done': {
      const sale = news.done.whole ? reversedSale(stored.sale, refund) : stored.sale;
      return { ...stored, sale, refund: { ...input, ...known, ...news } };
    }
    case 'refused':
      return { ...stored, refund: { ...input, ...known, ...news } };
    default:
      return stored;
  }
}

/** Marks the last sale as reversed if this refund returned it. */
function reversedSale(sale: Sale | null, refund: Refund): Sale | null {
  if (sale?.status !== 'paid') return sale;
  const isRequested = refund.status === 'requested' || refund.status === 'accepted';
  const payment = 'payment' in refund.of ? refund.of.payment : null;
  const returned = isRequested ? refund.request.body.payment : payment;
  if (returned !== sale.paid.payment) return sale;
  return { ...sale, paid: { ...sale.paid, reversed: true } };
}

/** Records whether a result was sent to the register or acknowledged by it. */
export function withDelivery(stored: Stored, kind: 'sale' | 'refund', delivery: Delivery): Stored {
  const { sale, refund } = stored;
  if (kind === 'sale') {
    const isKnown = sale?.status === 'paid' || sale?.status === 'not_paid';
    return isKnown && sale.delivery !== 'acknowledged'
      ? { ...stored, sale: { ...sale, delivery } }
      : stored;
  }
  const isKnown = refund?.status === 'done' || refund?.status === 'refused';
  return isKnown && refund.delivery !== 'acknowledged'
    ? { ...stored, refund: { ...refund, delivery } }
    : stored;
}

/**
 * Marks the last sale's result as acknowledged, because the register refunds that sale and so knows
 * it. A later equal amount is then a new sale.
 */
export function withRefundedSale(stored: Stored, target: Refund['of']): Stored {
  const { sale } = stored;
  if (sale?.status !== 'paid') return stored;
  const isOfSale =
    'payment' in target
      ? target.payment === sale.paid.payment
      : target.receipt === sale.paid.receipt;
  return isOfSale ? withDelivery(stored, 'sale', 'acknowledged') : stored;
}
