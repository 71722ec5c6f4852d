import { createServer } from 'node:http';
import { DAY_MS, MINUTE_MS } from '#core/durations.ts';
import type { Sql } from '#db/database.ts';
import type { Caller } from '#testkit/apis/api-client.ts';
import type { PersonClient } from '#testkit/apis/person-client.ts';
import { listen } from '#testkit/network/listen.ts';

/**
 * Features that only a soak uses: prices in euros, another language, and schedules.
 */

const LANGUAGE = 'ja';
const DAY_SECONDS = DAY_MS / 1_000;
/** Minimum time until the account's day ends, so that some sales happen before it does. */
const SOONEST_MS = MINUTE_MS;

/** Returns the time until midnight in a time zone, in milliseconds. */
function untilMidnight(timeZone: string, now: Date): number {
  const parts = new Intl.DateTimeFormat('en', {
    ...{ timeZone, hour: 'numeric', minute: 'numeric', second: 'numeric', hourCycle: 'h23' },
  }).formatToParts(now);
  const part = (type: string) => Number(parts.find((one) => one.type === type)?.value ?? 0);
  return DAY_MS - ((part('hour') * 60 + part('minute')) * 60 + part('second')) * 1000;
}

/** Returns the time zone in which midnight comes next. */
function nextMidnight(now: Date): string {
  const zones = Intl.supportedValuesOf('timeZone')
    .map((name) => ({ name, ms: untilMidnight(name, now) }))
    .filter(({ ms }) => ms > SOONEST_MS)
    .sort((one, other) => one.ms - other.ms);
  return zones[0]?.name ?? 'UTC';
}

/**
 * Starts two rate feeds, which both return these rates (units per dollar).
 * @returns the value of RATES_URL for them
 */
async function startRateFeeds(rates: Readonly<Record<string, string>>) {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ base: 'usd', as_of: new Date().toISOString(), rates }));
  });
  const { url, close } = await listen(server);
  return { setting: ['one', 'other'].map((name) => `${url}/${name}`).join(), close };
}

const NO_SCHEDULE = 'no statement or payout of an ended day';

/**
 * Ends the test account's day, so that its schedules run even in a short soak.
 * @returns a function that reports a violation if they did not run
 */
export async function endTheDay(merchant: Caller, db: Sql): Promise<() => Promise<string[]>> {
  const { status } = await merchant.post('/test_helpers/clock/advance', { seconds: DAY_SECONDS });
  if (status !== 200) throw new Error(`the clock answered ${status}`);
  return async () => {
    const rows = await db.query(
      `select from scheduled_exports x join automatic_payouts p on p.account_id = x.account_id
         and p.livemode = x.livemode and p.period = x.from_day
       where not x.livemode and x.token_hash is not null and p.status <> 'waiting'`,
    );
    return rows.length === 0 ? [NO_SCHEDULE] : [];
  };
}

/** Counts the uses of each feature, so that a soak can report features that it never used. */
export async function countUses(db: Sql): Promise<Readonly<Record<string, number>>> {
  const rows = await db.query<{ use: string; count: number }>(
    `select use, count(*)::int as count from (
       select method_type || ' by ' || credential_type as use from payments
       union all select 'price in euros' from payment_intents where presentment is not null
       union all select 'offline sale' from offline_payments
       union all select 'scheduled export' from scheduled_exports where token_hash is not null
       union all select 'automatic payout ' || status from automatic_payouts
         where reason is distinct from 'enabled_later'
     ) uses group by use order by use`,
  );
  return Object.fromEntries(rows.map(({ use, count }) => [use, count]));
}

/**
 * Enables every feature for the account, and sets a time zone in which its day ends early in the
 * run.
 * @returns settings of every process
 */
export async function useEverything(
  owner: PersonClient,
  account: string,
): Promise<{ readonly env: Readonly<Record<string, string>>; close(): Promise<void> }> {
  const path = `/accounts/${account}`;
  const { version } = (await owner.get(path)).body;
  const edited = await owner.patch(path, {
    ...{ version, language: LANGUAGE, time_zone: nextMidnight(new Date()), currency: 'eur' },
    ...{ automatic_payout: 'daily', export_schedule: { every: 'day', format: 'jsonl' } },
  });
  if (edited.status !== 200) throw new Error(edited.text);
  const feeds = await startRateFeeds({ eur: '0.9213', usd: '1' });
  return { env: { RATES_URL: feeds.setting }, close: feeds.close };
}
