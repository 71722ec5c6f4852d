import { StartError } from '#core/start-error.ts';
import type { RateRules } from '#prices/combine-rate-feeds.ts';

/** The source of rates, and the rules for accepting them. */
export interface RateSettings extends RateRules {
  /** Two URLs; `made-up` for the sandbox's constant rates; `null` if no feeds are configured. */
  readonly feeds: readonly [string, string] | 'made-up' | null;
}

/** Returns the feeds that are queried over the network. */
export function feedAddresses({ feeds }: RateSettings): readonly string[] {
  return feeds === null || feeds === 'made-up' ? [] : feeds;
}

type Read = (name: 'RATES_URL' | 'RATES_MAX_AGE' | 'RATES_MAX_SPREAD') => string | null;

const DEFAULT_AGE_SECONDS = '120';
const MAX_AGE_SECONDS = 86_400;
const SPREAD = /^(\d{1,2})(?:\.(\d{1,2}))?$/;

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

/** Hundredths of a percent. */
function maxSpread(read: Read): number {
  const text = read('RATES_MAX_SPREAD') ?? '1';
  const [, percent, hundredths = ''] = SPREAD.exec(text) ?? [];
  if (percent !== undefined) return Number(percent) * 100 + Number(hundredths.padEnd(2, '0'));
  throw new StartError(`RATES_MAX_SPREAD=${text} must be a percentage from 0 to 99.99`);
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
  };
}
