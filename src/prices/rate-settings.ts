import { StartError } from '#core/start-error.ts';
import type { RateRules } from '#prices/combine-rate-feeds.ts';

/** The source of rates, and the rules for accepting them. */
export interface RateSettings extends RateRules {
  /**
   * Hundredths of a percent by which a rate is raised, in the shop's favor, while the market is
   * closed.
   */
  readonly closedMargin: number;
  /** Two URLs; `made-up` for the sandbox's constant rates; `null` if no feeds are configured. */
  readonly feeds: readonly [string, string] | 'made-up' | null;
}

/** Returns the feeds that are queried over the network. */
export function feedAddresses({ feeds }: RateSettings): readonly string[] {
  return feeds === null || feeds === 'made-up' ? [] : feeds;
}

type Read = (
  name: 'RATES_URL' | 'RATES_MAX_AGE' | 'RATES_MAX_SPREAD' | 'RATES_CLOSED_MARGIN',
) => string | null;

const DEFAULT_AGE_SECONDS = '120';
const MAX_AGE_SECONDS = 86_400;
const PERCENT = /^(\d{1,2})(?:\.(\d{1,2}))?$/;
/** The largest closed-market margin: a larger one is more likely a typing error than intended. */
const MAX_MARGIN = 1_000;

function isAddress(url: string | undefined): url is string {
  return url !== undefined && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}

/** Reads the feeds' URLs. Two are required, because errors of a single feed would go unnoticed. */
function readFeeds(read: Read): readonly [string, string] | null {
  const text = read('RATES_URL');
  if (text === null) return null;
  const [one, other, ...more] = text.split(',').map((part) => part.trim());
  const areTwo = one !== other && more.length === 0;
  if (areTwo && isAddress(one) && isAddress(other)) return [one, other];
  throw new StartError('RATES_URL must be two http or https addresses, separated by a comma');
}

function maxAgeMs(read: Read): number {
  const text = read('RATES_MAX_AGE') ?? DEFAULT_AGE_SECONDS;
  const seconds = /^[1-9]\d{0,5}$/.test(text) ? Number(text) : 0;
  if (seconds >= 1 && seconds <= MAX_AGE_SECONDS) return seconds * 1000;
  throw new StartError(`RATES_MAX_AGE=${text} must be an integer from 1 to ${MAX_AGE_SECONDS}`);
}

/** Parses a percentage as hundredths of a percent; `null` if malformed or above the maximum. */
function readPercent(text: string, max = 9_999): number | null {
  const [, percent, hundredths = ''] = PERCENT.exec(text) ?? [];
  if (percent === undefined) return null;
  const value = Number(percent) * 100 + Number(hundredths.padEnd(2, '0'));
  return value <= max ? value : null;
}

function maxSpread(read: Read): number {
  const text = read('RATES_MAX_SPREAD') ?? '1';
  const spread = readPercent(text);
  if (spread !== null) return spread;
  throw new StartError(`RATES_MAX_SPREAD=${text} must be a percentage from 0 to 99.99`);
}

function closedMargin(read: Read): number {
  const text = read('RATES_CLOSED_MARGIN') ?? '0';
  const margin = readPercent(text, MAX_MARGIN);
  if (margin !== null) return margin;
  throw new StartError(`RATES_CLOSED_MARGIN=${text} must be a percentage from 0 to 10`);
}

/** @throws StartError */
export function readRateSettings(
  read: Read,
  { madeUp }: { readonly madeUp: boolean },
): RateSettings {
  return {
    feeds: readFeeds(read) ?? (madeUp ? 'made-up' : null),
    maxAgeMs: maxAgeMs(read),
    maxSpread: maxSpread(read),
    closedMargin: closedMargin(read),
  };
}
