import { present } from '#core/assert.ts';
import { addMs } from '#core/clock.ts';
import { readRate, writeRate } from '#core/currency-conversion.ts';
import type { Tx } from '#db/database.ts';
import type { InsertAlarms } from '#db/insert-alarms.ts';
import type { ProcessContext } from '#db/process-context.ts';
import type { Log } from '#observability/log.ts';
import { askFeeds, MADE_UP_SOURCE, type NoAnswer, sourceOf } from '#prices/ask-rate-feeds.ts';
import {
  afterAnswer,
  type Comparison,
  compareFeeds,
  type FeedAnswer,
  type KnownRate,
  type RateProblem,
} from '#prices/combine-rate-feeds.ts';
import {
  claimRefresh,
  lockRates,
  prepareRates,
  refuseRates,
  type StoredRate,
  selectRefused,
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
  const { rate, quoted_at, market_at, jumped_rate, jumped_since, jumped_seen } = row;
  return {
    good:
      rate === null || quoted_at === null
        ? null
        : { rate: readRate(rate), quotedAt: quoted_at, marketAt: market_at },
    jumped:
      jumped_rate === null || jumped_since === null || jumped_seen === null
        ? null
        : { rate: readRate(jumped_rate), since: jumped_since, seen: jumped_seen },
  };
}

/** What a round of queries stores beside the rates. */
interface Round extends Pick<RateSettings, 'maxAgeMs' | 'closedMargin'> {
  readonly now: Date;
  readonly source: string;
}

function toStored(
  currency: string,
  { good, jumped }: KnownRate,
  about: Round & { readonly refusedSince: Date | null },
): StoredRate {
  return {
    currency,
    rate: good === null ? null : writeRate(good.rate),
    quoted_at: good?.quotedAt ?? null,
    usable_until: good === null ? null : addMs(good.quotedAt, about.maxAgeMs),
    source: good === null ? null : about.source,
    market_at: good?.marketAt ?? null,
    closed_margin: about.closedMargin,
    refused_since: about.refusedSince,
    jumped_rate: jumped === null ? null : writeRate(jumped.rate),
    jumped_since: jumped?.since ?? null,
    jumped_seen: jumped?.seen ?? null,
  };
}

const JUMP_WAITS: RateProblem = {
  feed: null,
  reason: 'the rate moved by more than 10 percent and waits for five minutes of agreement',
};

/** A currency without a rate, and the reason. */
type Refused = RateProblem & { readonly currency: string };

/** Stores the results. @returns the currencies that got no rate. */
async function store(tx: Tx, comparisons: readonly Comparison[], round: Round): Promise<Refused[]> {
  const rows = new Map((await lockRates(tx)).map((row) => [row.currency, row]));
  const refused: Refused[] = [];
  const next = comparisons.map((one) => {
    const row = rows.get(one.currency);
    const before = row === undefined ? undefined : toKnown(row);
    const after = afterAnswer(before, one, round);
    const problem = one.rate === null ? one.problem : after.jumped === null ? null : JUMP_WAITS;
    if (problem !== null) refused.push({ ...problem, currency: one.currency });
    const refusedSince = problem === null ? null : (row?.refused_since ?? round.now);
    // An unchanged rate keeps its source.
    const kept = before?.good != null && after.good === before.good;
    const source = kept ? (row?.source ?? round.source) : round.source;
    return toStored(one.currency, after, { ...round, source, refusedSince });
  });
  await upsertRates(tx, next);
  const currencies = comparisons.map(({ currency }) => currency);
  await refuseRates(tx, { except: currencies, now: round.now });
  const gone = [...rows.keys()].filter((currency) => !currencies.includes(currency));
  const reason = 'a feed no longer includes the currency';
  return [...refused, ...gone.map((currency) => ({ feed: null, reason, currency }))];
}

/** Creates functions that log each change of the feeds' state. */
function createReporter(log: Log, rates: RateSettings) {
  const hosts = feedAddresses(rates).map((url) => new URL(url).host);
  const last = new Map<number, string>();
  let named = new Set<string>();
  return {
    answers: (answers: readonly (FeedAnswer | NoAnswer)[]) => {
      for (const [index, answer] of answers.entries()) {
        const problem = 'problem' in answer ? answer.problem : '';
        if ((last.get(index) ?? '') === problem) continue;
        last.set(index, problem);
        const feed = hosts[index] ?? '';
        if (problem === '') log.info('an exchange-rate feed responds again', { feed });
        else log.warn('an exchange-rate feed failed', { feed, problem });
      }
    },
    /** Names each currency once per feed and reason, those with the same ones in one line. */
    refused: (refused: readonly Refused[]) => {
      const groups = Map.groupBy(refused, ({ feed, reason }) => `${feed} ${reason}`);
      const keys = new Set<string>();
      for (const [group, members] of groups) {
        const currencies = members.map(({ currency }) => currency);
        for (const currency of currencies) keys.add(`${group} ${currency}`);
        const news = currencies.filter((currency) => !named.has(`${group} ${currency}`));
        const { feed, reason } = present(members[0], 'the first currency of a group');
        const names = feed === null ? hosts.join(', ') : (hosts[feed] ?? '');
        if (news.length === 0) continue;
        log.warn('exchange-rate feeds give no rate', {
          feed: names,
          currencies: news.join(', '),
          problem: reason,
        });
      }
      named = keys;
    },
  };
}

/** Part of the maximum age after which operators learn that a currency gets no rate. */
const ALARM_PARTS = 3;

/**
 * Raises an alarm for currencies that have had no rate for a third of the maximum age, which leaves
 * time to act before sales stop. Raises none once the age is over, so that an alarm that operators
 * resolved does not return every minute.
 */
async function raiseAlarms(tx: Tx, deps: RefresherDeps, maxAgeMs: number): Promise<void> {
  const now = deps.clock.now();
  const missing = await selectRefused(tx, {
    from: addMs(now, -maxAgeMs),
    to: addMs(now, -maxAgeMs / ALARM_PARTS),
  });
  if (missing.length === 0) return;
  const subject = missing.join(', ');
  const alarm = { kind: 'rates_missing', subject, details: { currencies: missing } };
  await deps.insertAlarms(tx, true, [alarm], now);
}

interface RefresherDeps extends Omit<ProcessContext, 'wakeups'> {
  /** Stores alarms for operators, who see them with those of the chains. */
  readonly insertAlarms: InsertAlarms;
}

/**
 * Queries both feeds when due, and stores their rates in rows that every process reads. Without a
 * valid response, the last accepted rate stays in use until its maximum age.
 */
export function createRateRefresher(
  deps: RefresherDeps,
  rates: RateSettings,
): () => Promise<boolean> {
  const { db, clock, log } = deps;
  const { feeds, maxAgeMs, closedMargin } = rates;
  const { everyMs } = refreshIntervals(rates);
  const report = createReporter(log, rates);
  let first = true;
  return async () => {
    if (feeds === null) return false;
    const now = clock.now();
    if (!(await claimRefresh(db, { now, before: addMs(now, -everyMs), first }))) return false;
    if (first) {
      const keepsMadeUp = feeds === 'made-up';
      const start = { madeUp: MADE_UP_SOURCE, keepsMadeUp, maxAgeMs, closedMargin };
      await db.transaction((tx) => prepareRates(tx, start));
      first = false;
    }
    const [one, other] = await askFeeds(feeds, now);
    report.answers([one, other]);
    const round = { now: clock.now(), source: sourceOf(feeds), maxAgeMs, closedMargin };
    if ('problem' in one || 'problem' in other) {
      await db.transaction(async (tx) => {
        await refuseRates(tx, { except: [], now: round.now });
        await raiseAlarms(tx, deps, maxAgeMs);
      });
      return false;
    }
    const comparisons = compareFeeds([one, other], rates, round.now);
    const refused = await db.transaction(async (tx) => {
      const without = await store(tx, comparisons, round);
      await raiseAlarms(tx, deps, maxAgeMs);
      return without;
    });
    report.refused(refused);
    return false;
  };
}
