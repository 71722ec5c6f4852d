import { describeError } from '#observability/log.ts';
import { plainFetch } from '#outgoing/plain-fetch.ts';
import { type FeedAnswer, readFeedNumber } from '#prices/combine-rate-feeds.ts';
import type { RateSettings } from '#prices/rate-settings.ts';

/** The name of the source of a sandbox's prices. */
export const MADE_UP_SOURCE = 'made up for this sandbox';

/** Units per dollar. The rates are constant, so that a developer gets the same price every day. */
const MADE_UP: Readonly<Record<string, string>> = {
  aed: '3.6725',
  aud: '1.5214',
  bhd: '0.376',
  brl: '5.3872',
  cad: '1.3691',
  chf: '0.8817',
  clp: '941.5',
  cny: '7.1834',
  czk: '22.871',
  dkk: '6.8713',
  eur: '0.9213',
  gbp: '0.7846',
  hkd: '7.7921',
  huf: '362.4',
  idr: '16218',
  ils: '3.6518',
  inr: '85.42',
  isk: '137.9',
  jpy: '152.35',
  krw: '1382.6',
  kwd: '0.3072',
  mxn: '18.412',
  nok: '10.673',
  nzd: '1.6643',
  pln: '3.9536',
  sar: '3.75',
  sek: '10.4128',
  sgd: '1.3187',
  thb: '33.415',
  tnd: '3.0764',
  try: '38.214',
  usd: '1',
  zar: '17.683',
};

/** Maximum size of a response in bytes, and its time limit. */
const MAX_BYTES = 256 * 1024;
const TIMEOUT_MS = 5_000;

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

/** The reason why a feed's response is ignored. */
export interface NoAnswer {
  readonly problem: string;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @throws Error if the response has more bytes than allowed. */
async function readBody(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    // Throwing out of the loop cancels the rest of the response.
    if (bytes > MAX_BYTES) throw new Error(`the response is larger than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function isTimestamp(value: unknown): value is string {
  return typeof value === 'string' && TIMESTAMP.test(value) && !Number.isNaN(Date.parse(value));
}

/**
 * Ignores unknown fields. A malformed rate affects only its own currency, because a single bad row
 * must not stop the sales in all others.
 */
function readDocument(text: string): FeedAnswer | NoAnswer {
  const document: unknown = JSON.parse(text);
  if (!isObject(document)) return { problem: 'the response is not a JSON object' };
  const { base, as_of: asOf, market_at: marketAt = null, rates } = document;
  if (base !== 'usd') return { problem: 'base is not usd' };
  if (!isTimestamp(asOf)) return { problem: 'as_of is not a timestamp' };
  if (marketAt !== null && !isTimestamp(marketAt)) {
    return { problem: 'market_at is not a timestamp' };
  }
  if (!isObject(rates)) return { problem: 'rates is not an object' };
  return {
    asOf: new Date(asOf),
    marketAt: marketAt === null ? null : new Date(marketAt),
    rates: new Map(Object.entries(rates).map(([code, rate]) => [code, readFeedNumber(rate)])),
  };
}

async function askFeed(url: string): Promise<FeedAnswer | NoAnswer> {
  try {
    const response = await plainFetch(url, {
      headers: { accept: 'application/json' },
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      return { problem: `the status is ${response.status}` };
    }
    return readDocument(await readBody(response));
  } catch (error) {
    return { problem: describeError(error) };
  }
}

/** Queries both feeds at the same time. */
export async function askFeeds(
  feeds: NonNullable<RateSettings['feeds']>,
  now: Date,
): Promise<readonly [FeedAnswer | NoAnswer, FeedAnswer | NoAnswer]> {
  if (feeds !== 'made-up') return Promise.all([askFeed(feeds[0]), askFeed(feeds[1])]);
  const rates = new Map(
    Object.entries(MADE_UP).map(([code, text]) => [code, readFeedNumber(text)]),
  );
  const answer = { asOf: now, marketAt: null, rates };
  return [answer, answer];
}

/** Returns a rate's source for display: only the hosts, because a URL may contain a key. */
export function sourceOf(feeds: NonNullable<RateSettings['feeds']>): string {
  if (feeds === 'made-up') return MADE_UP_SOURCE;
  return feeds.map((url) => new URL(url).host).join(', ');
}
