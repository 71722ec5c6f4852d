import { type Refusal, refuse } from '#core/answer.ts';
import { minorDigits } from '#core/currencies.ts';
import { readRate, toAtoms, writeRate } from '#core/currency-conversion.ts';
import { type Atoms, atoms, MAX_AMOUNT, MIN_AMOUNT } from '#core/money.ts';
import type { RateRow } from '#prices/rate-queries.ts';

/** A price in the shop's currency, in minor units. */
export interface AskedPresentment {
  readonly currency: string;
  readonly amount: number;
}

/** A price with its fixed rate, as stored. It never changes. */
export interface Quote extends AskedPresentment {
  /** USDC for one unit of the currency, as decimal text. */
  readonly rate: string;
  readonly quotedAt: string;
  readonly source: string;
  /** Basis points by which the rate of an offline sale was raised; all other sales have none. */
  readonly margin?: number;
}

/** The quote of a payment or refund, with the time at which the intent's quote expired. */
export interface PastQuote extends Quote {
  readonly expiresAt: string;
}

export interface PaidQuote extends PastQuote {
  /** The tip, in minor units, which the amount does not include. */
  readonly tipAmount: number;
}

export interface Quoted {
  readonly amount: Atoms;
  readonly quote: Quote;
}

function invalid(field: 'currency' | 'amount', message: string): Refusal {
  return refuse('parameter_invalid', message, `presentment.${field}`);
}

function unavailable(currency: string): Refusal {
  return refuse(
    'rates_unavailable',
    `There is no usable exchange rate for ${currency} right now, so this request ` +
      'created nothing. Send it again unchanged, with the same Idempotency-Key: if an ' +
      'earlier attempt created the sale, the response is that sale. A new key could charge ' +
      'the customer twice.',
  );
}

/**
 * Returns a price's value in USDC at the last known rate, however old; `null` if no rate is known.
 */
export function lastWorth(
  input: AskedPresentment,
  rates: ReadonlyMap<string, RateRow>,
): bigint | null {
  const rate = rates.get(input.currency)?.rate ?? null;
  if (rate === null) return null;
  return toAtoms(BigInt(input.amount), { currency: input.currency, rate });
}

/** A market that has not moved for this long is closed. */
const MARKET_CLOSED_AFTER_MS = 60 * 60_000;
const WHOLE_MARGIN = 10_000n;

/**
 * While the market is closed, the rate includes the operator's margin for what the market may do
 * when it opens, rounded up: in the shop's favor.
 */
export function rateOfSale(rate: string, row: RateRow, now: Date): string {
  const { market_at: marketAt, closed_margin: margin } = row;
  if (marketAt === null || now.getTime() - marketAt.getTime() <= MARKET_CLOSED_AFTER_MS) {
    return rate;
  }
  return raiseRate(rate, margin);
}

/** Raises a rate by a margin in basis points, rounded up at its last decimal. */
export function raiseRate(rate: string, margin: number): string {
  const raised = readRate(rate) * (WHOLE_MARGIN + BigInt(margin));
  return writeRate((raised + WHOLE_MARGIN - 1n) / WHOLE_MARGIN);
}

/** Refuses with 503 if the rate is outdated, and with 400 if the request is invalid. */
export function quote(
  input: AskedPresentment,
  rates: ReadonlyMap<string, RateRow>,
  now: Date,
): Quoted | Refusal {
  const { currency, amount } = input;
  const row = rates.get(currency);
  if (minorDigits(currency) === undefined || (row === undefined && rates.size > 0)) {
    return invalid('currency', `presentment.currency: there is no exchange rate for ${currency}.`);
  }
  const { rate: good = null, quoted_at: quotedAt = null, usable_until: until = null } = row ?? {};
  if (row === undefined || good === null || quotedAt === null || until === null || until < now) {
    return unavailable(currency);
  }
  const rate = rateOfSale(good, row, now);
  const value = toAtoms(BigInt(amount), { currency, rate });
  if (value < MIN_AMOUNT || value > MAX_AMOUNT) {
    return invalid(
      'amount',
      `presentment.amount is worth ${value} USDC atoms. It must be ${MIN_AMOUNT} to ${MAX_AMOUNT}.`,
    );
  }
  const source = row.source ?? '';
  const locked = { currency, amount, rate, quotedAt: quotedAt.toISOString(), source };
  return { amount: atoms(value), quote: locked };
}

/** Renders the object `presentment` of an intent or a refund. */
export function renderQuote(quoted: Quote, expiresAt: string) {
  return {
    currency: quoted.currency,
    amount: quoted.amount,
    rate: quoted.rate,
    quoted_at: quoted.quotedAt,
    source: quoted.source,
    ...(quoted.margin === undefined ? {} : { margin: quoted.margin }),
    expires_at: expiresAt,
  };
}

/** Renders the object `presentment` of a payment. */
export function renderPaidQuote(paid: PaidQuote) {
  return { ...renderQuote(paid, paid.expiresAt), tip_amount: paid.tipAmount };
}
