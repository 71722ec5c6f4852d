import { minorDigits } from '#core/currencies.ts';
import { RATE_DECIMALS } from '#core/currency-conversion.ts';

/**
 * Number of decimals with which a feed's rates (units of a currency per dollar) are stored as
 * integers.
 */
const FEED_DECIMALS = 20;

const FEED_ONE = 10n ** BigInt(FEED_DECIMALS);
const DECIMAL = /^(0|[1-9]\d{0,14})(?:\.(\d{1,20}))?$/;

/** Parses text like `0.9213` into an integer; `null` if it is not a decimal above 0. */
export function readFeedNumber(text: unknown): bigint | null {
  const [, whole, fraction = ''] = (typeof text === 'string' && DECIMAL.exec(text)) || [];
  if (whole === undefined) return null;
  const value = BigInt(whole + fraction.padEnd(FEED_DECIMALS, '0'));
  return value === 0n ? null : value;
}

export interface FeedAnswer {
  /** When the feed last confirmed its rates. */
  readonly asOf: Date;
  /** When the market last moved; `null` if the feed does not say. */
  readonly marketAt: Date | null;
  /** Units per dollar, by currency; `null` if the value is malformed. */
  readonly rates: ReadonlyMap<string, bigint | null>;
}

export interface RateRules {
  readonly maxAgeMs: number;
  /** Hundredths of a percent. */
  readonly maxSpread: number;
}

/** The reason why readable responses gave no rate. */
export interface RateProblem {
  /** The index of the feed that causes it; `null` if both feeds together do. */
  readonly feed: 0 | 1 | null;
  readonly reason: string;
}

/** The combined result of both feeds for one currency: a rate, or the reason why there is none. */
export type Comparison = { readonly currency: string } & (
  | {
      readonly rate: bigint;
      /** The older `as_of` and the older `market_at` of the two. */
      readonly quotedAt: Date;
      readonly marketAt: Date | null;
    }
  | { readonly rate: null; readonly problem: RateProblem }
);

/** Maximum time by which a feed's clock may be ahead of ours. */
const MAX_AHEAD_MS = 60_000;
const WHOLE_SPREAD = 10_000n;

/** Divides whole numbers, rounded to the nearest. */
function divide(value: bigint, by: bigint): bigint {
  return (2n * value + by) / (2n * by);
}

/** Returns the mean of two rates; `null` if they are too far apart. */
function middle(a: bigint, b: bigint, maxSpread: number): bigint | null {
  const [less, more] = a < b ? [a, b] : [b, a];
  if ((more - less) * WHOLE_SPREAD > BigInt(maxSpread) * less) return null;
  const rate = divide(2n * FEED_ONE * 10n ** BigInt(RATE_DECIMALS), a + b);
  return rate === 0n ? null : rate;
}

/** The dollar's rate is 1, even if the feed omits it. */
function ofFeed({ rates }: FeedAnswer, currency: string): bigint | null | undefined {
  return rates.has(currency) ? rates.get(currency) : currency === 'usd' ? FEED_ONE : undefined;
}

/** Returns the older of two times, either of which may be unknown. */
function older(a: Date | null, b: Date | null): Date | null {
  if (a === null || b === null) return a ?? b;
  return a < b ? a : b;
}

/** Checks the times of both responses. */
function findBadTime(
  answers: readonly [FeedAnswer, FeedAnswer],
  maxAgeMs: number,
  now: Date,
): RateProblem | null {
  for (const feed of [0, 1] as const) {
    const ageMs = now.getTime() - answers[feed].asOf.getTime();
    if (ageMs > maxAgeMs) return { feed, reason: 'as_of is older than RATES_MAX_AGE' };
    if (-ageMs > MAX_AHEAD_MS) return { feed, reason: 'as_of is over a minute in the future' };
  }
  return null;
}

/** Combines two feeds into one result per currency that both contain. */
export function compareFeeds(
  answers: readonly [FeedAnswer, FeedAnswer],
  { maxAgeMs, maxSpread }: RateRules,
  now: Date,
): Comparison[] {
  const [a, b] = answers;
  const badTime = findBadTime(answers, maxAgeMs, now);
  const quotedAt = new Date(Math.min(a.asOf.getTime(), b.asOf.getTime()));
  const marketAt = older(a.marketAt, b.marketAt);
  const comparisons: Comparison[] = [];
  for (const currency of new Set([...a.rates.keys(), 'usd'])) {
    const [one, other] = [ofFeed(a, currency), ofFeed(b, currency)];
    if (one === undefined || other === undefined || minorDigits(currency) === undefined) continue;
    const without = (problem: RateProblem) => comparisons.push({ currency, rate: null, problem });
    if (one === null || other === null) {
      without({ feed: one === null ? 0 : 1, reason: 'the rate is not decimal text above 0' });
    } else if (badTime !== null) {
      without(badTime);
    } else {
      const rate = middle(one, other, maxSpread);
      if (rate !== null) comparisons.push({ currency, rate, quotedAt, marketAt });
      else without({ feed: null, reason: 'the feeds differ by more than RATES_MAX_SPREAD' });
    }
  }
  return comparisons;
}

export interface KnownRate {
  /** The last accepted rate; `null` if there was none. */
  readonly good: {
    readonly rate: bigint;
    readonly quotedAt: Date;
    readonly marketAt: Date | null;
  } | null;
  /** A very different rate that the feeds now return, and when they first and last returned it. */
  readonly jumped: { readonly rate: bigint; readonly since: Date; readonly seen: Date } | null;
}

/**
 * A larger change is accepted only after a wait, because faulty feeds are corrected within minutes.
 */
const MAX_JUMP_PERCENT = 10n;
const JUMP_WAIT_MS = 5 * 60_000;

function isNear(rate: bigint, known: bigint): boolean {
  const difference = rate < known ? known - rate : rate - known;
  return difference * 100n <= MAX_JUMP_PERCENT * known;
}

/** Returns a currency's state after another response of the feeds. */
export function afterAnswer(
  known: KnownRate | undefined,
  comparison: Comparison,
  { now, maxAgeMs }: { readonly now: Date; readonly maxAgeMs: number },
): KnownRate {
  const { good = null, jumped = null } = known ?? {};
  if (comparison.rate === null) return { good, jumped };
  const { rate, quotedAt, marketAt } = comparison;
  if (good === null || isNear(rate, good.rate)) {
    if (good !== null && quotedAt < good.quotedAt) return { good, jumped: null };
    return { good: { rate, quotedAt, marketAt }, jumped: null };
  }
  const goesOn =
    jumped !== null &&
    isNear(rate, jumped.rate) &&
    now.getTime() - jumped.seen.getTime() <= maxAgeMs;
  const { rate: first, since } = goesOn ? jumped : { rate, since: now };
  if (now.getTime() - since.getTime() >= JUMP_WAIT_MS) {
    return { good: { rate, quotedAt, marketAt }, jumped: null };
  }
  return { good, jumped: { rate: first, since, seen: now } };
}
