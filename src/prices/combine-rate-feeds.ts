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

/** A rate as text: `1.0853`. */
export function rateText(rate: bigint): string {
  const digits = rate.toString().padStart(RATE_DECIMALS + 1, '0');
  const fraction = digits.slice(-RATE_DECIMALS).replace(/0+$/, '');
  const whole = digits.slice(0, -RATE_DECIMALS);
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/** The response of one feed. */
export interface FeedAnswer {
  readonly asOf: Date;
  /** Units per dollar, by currency. */
  readonly rates: ReadonlyMap<string, bigint>;
}

export interface RateRules {
  readonly maxAgeMs: number;
  /** Hundredths of a percent. */
  readonly maxSpread: number;
}

/** The combined result of both feeds for one currency. */
export interface Found {
  readonly currency: string;
  /** `null` if the feeds disagree, or if the rate of one is too old. */
  readonly rate: bigint | null;
  /** The older of the two. */
  readonly quotedAt: Date;
}

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

/** Returns a currency's rate in a feed. The dollar's rate is 1, even if the feed omits it. */
function ofFeed({ rates }: FeedAnswer, currency: string): bigint | undefined {
  return rates.get(currency) ?? (currency === 'usd' ? FEED_ONE : undefined);
}

/** Combines two feeds into one rate per currency that both contain. */
export function compareFeeds(
  [a, b]: readonly [FeedAnswer, FeedAnswer],
  { maxAgeMs, maxSpread }: RateRules,
  now: Date,
): Found[] {
  const times = [a.asOf.getTime(), b.asOf.getTime()];
  const oldest = Math.min(...times);
  const isTimely =
    now.getTime() - oldest <= maxAgeMs && Math.max(...times) - now.getTime() <= MAX_AHEAD_MS;
  const found: Found[] = [];
  for (const currency of new Set([...a.rates.keys(), 'usd'])) {
    const [one, other] = [ofFeed(a, currency), ofFeed(b, currency)];
    if (one === undefined || other === undefined || minorDigits(currency) === undefined) continue;
    const rate = isTimely ? middle(one, other, maxSpread) : null;
    found.push({ currency, rate, quotedAt: new Date(oldest) });
  }
  return found;
}

/** The stored state of a currency. */
export interface KnownRate {
  /** The last accepted rate; `null` if there was none. */
  readonly good: { readonly rate: bigint; readonly quotedAt: Date } | null;
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
  { rate, quotedAt }: Found,
  { now, maxAgeMs }: { readonly now: Date; readonly maxAgeMs: number },
): KnownRate {
  const { good = null, jumped = null } = known ?? {};
  if (rate === null) return { good, jumped };
  if (good === null || isNear(rate, good.rate)) {
    if (good !== null && quotedAt < good.quotedAt) return { good, jumped: null };
    return { good: { rate, quotedAt }, jumped: null };
  }
  const goesOn =
    jumped !== null &&
    isNear(rate, jumped.rate) &&
    now.getTime() - jumped.seen.getTime() <= maxAgeMs;
  const { rate: first, since } = goesOn ? jumped : { rate, since: now };
  if (now.getTime() - since.getTime() >= JUMP_WAIT_MS) {
    return { good: { rate, quotedAt }, jumped: null };
  }
  return { good, jumped: { rate: first, since, seen: now } };
}
