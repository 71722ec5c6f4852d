import { createHash } from 'node:crypto';
import type { Ask, Register } from './commands.ts';
import type { Money } from './currencies.ts';

/**
 * What the reader must know after a restart: the last sale and the last refund of the register, and
 * whether the register acknowledged their results. Written to a file before a frame that depends on
 * it is sent (`state-file.ts`).
 */
export interface Kept {
  /** The last trace number that was given. */
  readonly trace: number;
  readonly register: Register;
  readonly sale: Sale | null;
  readonly refund: Refund | null;
  /** Which of the two the register asked for last: "repeat receipt" repeats it. */
  readonly last: 'sale' | 'refund' | null;
  /** When the last end of day was acknowledged. */
  readonly closed_at: string | null;
}

/** What is known to have reached the register of a result. */
export type Told = 'no' | 'sent' | 'acknowledged';

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
  readonly told: Told;
  readonly known_at: number;
}

export interface Paid {
  readonly payment: string;
  /** The last four digits of the receipt's number. */
  readonly receipt: number;
  readonly receipt_url: string | null;
  readonly at: string;
  /** The network's own words for the sum: USDC. */
  readonly text: string;
}

/** A reversal or refund of a sale. */
export type Refund = {
  readonly key: string;
  /** The payment, or the receipt by which it is looked up. */
  readonly of: { readonly payment: string } | { readonly receipt: number };
  /** `null`: all that is left of the sale. A currency of 0 is that of the sale. */
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

export const NOTHING_KEPT = (register: Register): Kept => ({
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

function nextTrace({ trace }: Kept): number {
  return ((trace + 1) % MOST_TRACES) + (trace + 1 === MOST_TRACES ? 1 : 0);
}

export function moneyOf({ ask, register }: { ask: Ask; register: Register }): Money {
  return { amount: ask.amount, currency: ask.currency ?? register.currency };
}

/** Adds a new sale. @param id A key for a sale that the register did not number. */
export function withSale(kept: Kept, ask: Ask, id: string): Kept & { readonly sale: Sale } {
  const trace = nextTrace(kept);
  const { number } = ask;
  const key = number === null ? `zvt-${id}` : `zvt-number-${hashOf(number)}`;
  const money = moneyOf({ ask, register: kept.register });
  const sale: Sale = { status: 'asked', key, number, ...money, trace };
  return { ...kept, trace, sale, last: 'sale' };
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

type NewRefund = Pick<Refund, 'of' | 'money' | 'original_trace'>;

/** Adds a new refund. A whole sale has one key, so that asking twice returns it once. */
export function withRefund(
  kept: Kept,
  asked: NewRefund,
  id: string,
): Kept & { readonly refund: Refund } {
  const trace = nextTrace(kept);
  const isWhole = asked.money === null && 'payment' in asked.of;
  const key = isWhole && 'payment' in asked.of ? `zvt-reversal-${asked.of.payment}` : `zvt-${id}`;
  const refund: Refund = { ...asked, status: 'asked', key, trace };
  return { ...kept, trace, refund, last: 'refund' };
}

export function isUnknownSale(sale: Sale | null): boolean {
  return sale?.status === 'asked' || sale?.status === 'open';
}

/** True if the sale must be reported again instead of charging the same amount once more. */
export function mustRepeat(sale: Sale, money: Money, now: number): boolean {
  if (sale.status !== 'paid' && sale.status !== 'not_paid') return false;
  if (!isSameMoney(sale, money) || sale.told === 'acknowledged') return false;
  // A payment that never happened and was never reported is no result.
  if (sale.status === 'not_paid' && sale.told === 'no') return false;
  return now - sale.known_at <= REPEAT_MS;
}

export function isSameMoney(one: Money, other: Money): boolean {
  return one.amount === other.amount && one.currency === other.currency;
}

/** Applies news. @returns `kept` itself if nothing must be written. */
export function withSaleNews(kept: Kept, news: SaleNews, now: number): Kept {
  const { sale } = kept;
  if (sale === null || !isUnknownSale(sale)) return kept;
  const { key, number, amount, currency, trace } = sale;
  const asked: Asked = { key, number, amount, currency, trace };
  const known: Known = { told: 'no', known_at: now };
  switch (news.status) {
    case 'open':
      return { ...kept, sale: { ...asked, status: 'open', intent: news.intent } };
    case 'paid':
      return { ...kept, sale: { ...asked, ...known, status: 'paid', paid: news.paid } };
    case 'not_paid':
      return { ...kept, sale: { ...asked, ...known, status: 'not_paid', code: news.code } };
    default:
      return kept;
  }
}

export function withRefundNews(kept: Kept, news: RefundNews, now: number): Kept {
  const { refund } = kept;
  if (refund?.status !== 'asked') return kept;
  const known: Known = { told: 'no', known_at: now };
  if (news.status === 'done') return { ...kept, refund: { ...refund, ...known, ...news } };
  if (news.status === 'refused') return { ...kept, refund: { ...refund, ...known, ...news } };
  return kept;
}

/** Records how far a result has reached the register. */
export function withTold(kept: Kept, kind: 'sale' | 'refund', told: Told): Kept {
  const { sale, refund } = kept;
  if (kind === 'sale') {
    const isKnown = sale?.status === 'paid' || sale?.status === 'not_paid';
    return isKnown && sale.told !== 'acknowledged' ? { ...kept, sale: { ...sale, told } } : kept;
  }
  const isKnown = refund?.status === 'done' || refund?.status === 'refused';
  return isKnown && refund.told !== 'acknowledged'
    ? { ...kept, refund: { ...refund, told } }
    : kept;
}

/** True if all of the last sale was returned, so that it counts as paid no more. */
export function isReversed({ sale, refund }: Kept): boolean {
  if (sale?.status !== 'paid' || refund?.status !== 'done' || refund.money !== null) return false;
  return 'payment' in refund.of && refund.of.payment === sale.paid.payment;
}

/**
 * A register that returns the last sale knows its result: an equal amount is a new sale then, and
 * never the sale whose money is on its way back.
 */
export function withRefundedSale(kept: Kept, target: Refund['of']): Kept {
  const { sale } = kept;
  if (sale?.status !== 'paid') return kept;
  const isOfSale =
    'payment' in target
      ? target.payment === sale.paid.payment
      : target.receipt === sale.paid.receipt;
  return isOfSale ? withTold(kept, 'sale', 'acknowledged') : kept;
}
