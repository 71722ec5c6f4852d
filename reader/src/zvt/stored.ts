import { createHash } from 'node:crypto';
import type { Ask, Register } from './commands.ts';
import type { Money } from './currencies.ts';

/**
 * What the reader must know after a restart: the last sale and the last refund of the register, and
 * whether the register acknowledged their results. Written to a file before a frame that depends on
 * it is sent (`settings.ts`).
 */
export interface Stored {
  /** The last trace number that the reader assigned. */
  readonly trace: number;
  readonly register: Register;
  readonly sale: Sale | null;
  readonly refund: Refund | null;
  /** Which of the two the register asked for last: "repeat receipt" repeats it. */
  readonly last: 'sale' | 'refund' | null;
  /** When the last end of day was acknowledged. */
  readonly closed_at: string | null;
}

/** How far a result has reached the register. */
export type Delivery = 'unsent' | 'sent' | 'acknowledged';

interface Asked {
  /** The Idempotency-Key. */
  readonly key: string;
  /** The register's own number of the sale; `null` if it sent none. */
  readonly number: string | null;
  readonly amount: number;
  readonly currency: number;
  readonly trace: number;
}

export type Sale = Asked &
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
  /** The last four digits of the receipt's number. */
  readonly receipt: number;
  readonly receipt_url: string | null;
  readonly at: string;
  /** The amount in USDC, as text. */
  readonly text: string;
}

/** A reversal or refund of a sale. */
export type Refund = {
  readonly key: string;
  /** The payment, or the receipt by which it is looked up. */
  readonly of: { readonly payment: string } | { readonly receipt: number };
  /** `null` for all that is left of the sale. Currency 0 means the currency of the sale. */
  readonly money: Money | null;
  readonly trace: number;
  readonly original_trace: number | null;
} & (
  | { readonly status: 'asked' }
  | ({ readonly status: 'done'; readonly done: Returned } & Known)
  | ({ readonly status: 'refused'; readonly code: number } & Known)
);

export interface Returned {
  readonly money: Money;
  readonly receipt: number;
  readonly receipt_url: string | null;
  readonly at: string;
}

/** What the network says about the sale. */
export type SaleNews =
  | { readonly status: 'open'; readonly intent: string }
  /** The customer may pay; the payment is on its way; the network does not answer. */
  | { readonly status: 'waiting' | 'processing' | 'unreachable' }
  | { readonly status: 'paid'; readonly paid: Paid }
  | { readonly status: 'not_paid'; readonly code: number };

export type RefundNews =
  | { readonly status: 'processing' | 'unreachable' }
  | { readonly status: 'done'; readonly done: Returned }
  | { readonly status: 'refused'; readonly code: number };

/** Result codes of the documentation that this terminal uses. */
export const RESULT = {
  ok: 0x00,
  goodsNotIssued: 0x66,
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
  closed_at: null,
});

/** An unacknowledged result is repeated for an equal amount for so long. */
export const REPEAT_MS = 120_000;
const MOST_TRACES = 1_000_000;

function nextTrace({ trace }: Stored): number {
  return ((trace + 1) % MOST_TRACES) + (trace + 1 === MOST_TRACES ? 1 : 0);
}

export function moneyOf({ ask, register }: { ask: Ask; register: Register }): Money {
  return { amount: ask.amount, currency: ask.currency ?? register.currency };
}

/** Adds a new sale. @param id A key for a sale that the register did not number. */
export function withSale(stored: Stored, ask: Ask, id: string): Stored & { readonly sale: Sale } {
  const trace = nextTrace(stored);
  const { number } = ask;
  const key = number === null ? `zvt-${id}` : `zvt-number-${hashOf(number)}`;
  const money = moneyOf({ ask, register: stored.register });
  const sale: Sale = { status: 'asked', key, number, ...money, trace };
  return { ...stored, trace, sale, last: 'sale' };
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

type NewRefund = Pick<Refund, 'of' | 'money' | 'original_trace'>;

/** Adds a new refund. A whole sale has one key, so that asking twice returns it once. */
export function withRefund(
  stored: Stored,
  asked: NewRefund,
  id: string,
): Stored & { readonly refund: Refund } {
  const trace = nextTrace(stored);
  const isWhole = asked.money === null && 'payment' in asked.of;
  const key = isWhole && 'payment' in asked.of ? `zvt-reversal-${asked.of.payment}` : `zvt-${id}`;
  const refund: Refund = { ...asked, status: 'asked', key, trace };
  return { ...stored, trace, refund, last: 'refund' };
}

export function isUnknownSale(sale: Sale | null): boolean {
  return sale?.status === 'asked' || sale?.status === 'open';
}

/** True if the sale must be reported again instead of charging the same amount once more. */
export function mustRepeat(sale: Sale, money: Money, now: number): boolean {
  if (sale.status !== 'paid' && sale.status !== 'not_paid') return false;
  if (!isSameMoney(sale, money) || sale.delivery === 'acknowledged') return false;
  // A payment that never happened and was never reported is no result.
  if (sale.status === 'not_paid' && sale.delivery === 'unsent') return false;
  return now - sale.known_at <= REPEAT_MS;
}

export function isSameMoney(one: Money, other: Money): boolean {
  return one.amount === other.amount && one.currency === other.currency;
}

/** Applies news. @returns `stored` itself if nothing must be written. */
export function withSaleNews(stored: Stored, news: SaleNews, now: number): Stored {
  const { sale } = stored;
  if (sale === null || !isUnknownSale(sale)) return stored;
  const { key, number, amount, currency, trace } = sale;
  const asked: Asked = { key, number, amount, currency, trace };
  const known: Known = { delivery: 'unsent', known_at: now };
  switch (news.status) {
    case 'open':
      return { ...stored, sale: { ...asked, status: 'open', intent: news.intent } };
    case 'paid':
      return { ...stored, sale: { ...asked, ...known, status: 'paid', paid: news.paid } };
    case 'not_paid':
      return { ...stored, sale: { ...asked, ...known, status: 'not_paid', code: news.code } };
    default:
      return stored;
  }
}

export function withRefundNews(stored: Stored, news: RefundNews, now: number): Stored {
  const { refund } = stored;
  if (refund?.status !== 'asked') return stored;
  const known: Known = { delivery: 'unsent', known_at: now };
  if (news.status === 'done') return { ...stored, refund: { ...refund, ...known, ...news } };
  if (news.status === 'refused') return { ...stored, refund: { ...refund, ...known, ...news } };
  return stored;
}

/** Records how far a result has reached the register. */
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

/** True if all of the last sale was returned, so that it no longer counts as paid. */
export function isReversed({ sale, refund }: Stored): boolean {
  if (sale?.status !== 'paid' || refund?.status !== 'done' || refund.money !== null) return false;
  return 'payment' in refund.of && refund.of.payment === sale.paid.payment;
}

/**
 * A register that returns the last sale knows its result: an equal amount is a new sale then, and
 * never the sale whose money is on its way back.
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
