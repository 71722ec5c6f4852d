import { addMs } from '#core/clock.ts';
import { readRate } from '#core/currency-conversion.ts';
import type { Log } from '#core/log.ts';
import type { Tx } from '#db/database.ts';
import type { ProcessContext } from '#db/process-context.ts';
import { askFeeds, MADE_UP_SOURCE, type NoAnswer, sourceOf } from '#prices/ask-rate-feeds.ts';
import {
  afterAnswer,
  compareFeeds,
  type FeedAnswer,
  type Found,
  type KnownRate,
  rateText,
} from '#prices/combine-rate-feeds.ts';
import {
  claimRefresh,
  lockRates,
  prepareRates,
  type StoredRate,
  upsertRates,
} from '#prices/rate-queries.ts';
import { feedAddresses, type RateSettings } from '#prices/rate-settings.ts';

/**
 * Number of query intervals within the maximum age. The feeds are then queried at least three times
 * within that age, even if processes die after claiming an interval.
 */
const TURNS_PER_AGE = 6;

/** Returns the interval of queries across all processes, and how often each process checks it. */
export function refreshIntervals({ maxAgeMs }: RateSettings) {
  const everyMs = Math.floor(maxAgeMs / TURNS_PER_AGE);
  return { everyMs, pollMs: Math.floor(everyMs / 2) };
}

function toKnown(row: StoredRate): KnownRate {
  const { rate, quoted_at, jumped_rate, jumped_since, jumped_seen } = row;
  return {
    good:
      rate === null || quoted_at === null ? null : { rate: readRate(rate), quotedAt: quoted_at },
    jumped:
      jumped_rate === null || jumped_since === null || jumped_seen === null
        ? null
        : { rate: readRate(jumped_rate), since: jumped_since, seen: jumped_seen },
  };
}

function toStored(
  currency: string,
  { good, jumped }: KnownRate,
  { source, maxAgeMs }: { readonly source: string; readonly maxAgeMs: number },
): StoredRate {
  return {
    currency,
    rate: good === null ? null : rateText(good.rate),
    quoted_at: good?.quotedAt ?? null,
    usable_until: good === null ? null : addMs(good.quotedAt, maxAgeMs),
    source: good === null ? null : source,
    jumped_rate: jumped === null ? null : rateText(jumped.rate),
    jumped_since: jumped?.since ?? null,
    jumped_seen: jumped?.seen ?? null,
  };
}

async function store(
  tx: Tx,
  found: readonly Found[],
  about: { readonly now: Date; readonly source: string; readonly maxAgeMs: number },
): Promise<void> {
  const rows = new Map((await lockRates(tx)).map((row) => [row.currency, row]));
  const next = found.map((one) => {
    const row = rows.get(one.currency);
    const before = row === undefined ? undefined : toKnown(row);
    const after = afterAnswer(before, one, about);
    // An unchanged rate keeps its source.
    const kept = before?.good != null && after.good === before.good;
    const source = kept ? (row?.source ?? about.source) : about.source;
    return toStored(one.currency, after, { ...about, source });
  });
  await upsertRates(tx, next);
}

/** Creates a function that logs each change of the feeds' state. */
function createReporter(log: Log, rates: RateSettings) {
  const hosts = feedAddresses(rates).map((url) => new URL(url).host);
  const last = new Map<number, string>();
  return (answers: readonly (FeedAnswer | NoAnswer)[]) => {
    for (const [index, answer] of answers.entries()) {
      const problem = 'problem' in answer ? answer.problem : '';
      if ((last.get(index) ?? '') === problem) continue;
      last.set(index, problem);
      const feed = hosts[index] ?? '';
      if (problem === '') log.info('an exchange-rate feed responds again', { feed });
      else log.warn('an exchange-rate feed failed', { feed, problem });
    }
  };
}

/**
 * Queries both feeds when due, and stores their rates in rows that every process reads. Without a
 * valid response, the last accepted rate stays in use until its maximum age.
 */
export function createRateRefresher(
  { db, clock, log }: Omit<ProcessContext, 'wakeups'>,
  rates: RateSettings,
): () => Promise<boolean> {
  const { feeds, maxAgeMs } = rates;
  const { everyMs } = refreshIntervals(rates);
  const report = createReporter(log, rates);
  let first = true;
  return async () => {
    if (feeds === null) return false;
    const now = clock.now();
    if (!(await claimRefresh(db, { now, before: addMs(now, -everyMs), first }))) return false;
    if (first) {
      const start = { madeUp: MADE_UP_SOURCE, keepsMadeUp: feeds === 'made-up', maxAgeMs };
      await db.transaction((tx) => prepareRates(tx, start));
      first = false;
    }
    const [one, other] = await askFeeds(feeds, now);
    report([one, other]);
    if ('problem' in one || 'problem' in other) return false;
    const answered = clock.now();
    const found = compareFeeds([one, other], rates, answered);
    const about = { now: answered, source: sourceOf(feeds), maxAgeMs };
    await db.transaction((tx) => store(tx, found, about));
    return false;
  };
}
