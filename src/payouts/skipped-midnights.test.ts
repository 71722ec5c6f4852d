import assert from 'node:assert/strict';
import { test } from 'node:test';
import { announceExports, beginSchedule } from '#books/export-schedule.ts';
import { dayAfter, dayIn, dayStart, wallTime } from '#core/calendar.ts';
import { addMs } from '#core/clock.ts';
import { DAY_MS, HOUR_MS } from '#core/durations.ts';
import { beginPeriods, payOutPeriods } from '#payouts/automatic-payout.ts';
import { startPayGround } from '#testkit/apis/pay-ground.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { addMerchant, TEST_ID_KEY } from '#testkit/fixtures/payments/store.ts';

/** Each day and week has one statement and one payout, also where clocks change at midnight. */

/** In 2027 these zones skip or repeat midnight; Apia did so, and once skipped a day. */
const ZONES = ['America/Santiago', 'Asia/Beirut', 'Africa/Cairo', 'Pacific/Apia'];
const YEAR = 2027;
/** Days before and after a change of clocks: more than a week on both sides. */
const AROUND = 9;

/** Interval between runs: short enough to meet a day twice, if it began twice. */
const TICK_MS = 2 * HOUR_MS;

interface Shop {
  readonly accountId: string;
  readonly timeZone: string;
  readonly every: 'day' | 'week';
}

const clock = new FakeClock(new Date(Date.UTC(YEAR, 0, 1)));
const shops: Shop[] = [];

const ground = openForTests(startPayGround, async () => {
  for (const timeZone of ZONES) {
    for (const every of ['day', 'week'] as const) await addShop(timeZone, every);
  }
});

async function addShop(timeZone: string, every: Shop['every']): Promise<void> {
  const { db } = ground.store;
  const now = clock.now();
  // The ground has registered merchant 1. The chain knows none of these, so they have no balance.
  const merchantNumber = BigInt(1_000 + shops.length);
  const { tenant } = await addMerchant(db, { now, merchantNumber });
  const { accountId } = tenant;
  const payout = every === 'day' ? 'daily' : 'weekly';
  await db.transaction(async (tx) => {
    await tx.query(
      `update accounts set time_zone = $2, automatic_payout = $3, export_schedule = $4::text::jsonb
       where id = $1`,
      [accountId, timeZone, payout, JSON.stringify({ every, format: 'csv' })],
    );
    await tx.query('insert into account_modes (account_id, livemode) values ($1, true)', [
      accountId,
    ]);
    const account = { id: accountId, time_zone: timeZone, day_starts: null };
    await beginPeriods(tx, { account, now }, payout);
    await beginSchedule(tx, { account, now }, { every, format: 'csv' });
  });
  shops.push({ accountId, timeZone, every });
}

/** Returns the days of the year on which the clocks of a zone change. */
function changesIn(zone: string): string[] {
  const offset = (at: number) => wallTime(zone, at) - at;
  const days = Array.from({ length: 365 }, (_, n) => Date.UTC(YEAR, 0, 1) + n * DAY_MS);
  return days
    .filter((at) => offset(at) !== offset(at + DAY_MS))
    .map((at) => dayIn(zone, new Date(at + DAY_MS)));
}

/** Ends whatever is due now, as the worker does. */
async function run(): Promise<void> {
  const ctx = { ...ground.store, clock };
  const mailing = { secretKey: Buffer.alloc(32, 'key'), webUrl: 'https://pay.test' };
  while (await announceExports(ctx, mailing));
  while (await payOutPeriods({ ...ctx, chains: [ground.world.network.chain] }, TEST_ID_KEY));
}

/** Returns the first days of the periods that ended within these days, with repetitions. */
async function periodsOf(table: string, shop: Shop, [first, last]: readonly [string, string]) {
  const column = table === 'scheduled_exports' ? 'from_day' : 'period';
  const rows = await ground.store.db.query<{ day: string }>(
    `select ${column} as day from ${table}
     where account_id = $1 and not livemode and ${column} between $2 and $3 order by 1`,
    [shop.accountId, first, last],
  );
  return rows.map(({ day }) => day);
}

function expected({ every }: Shop, [first, last]: readonly [string, string]): string[] {
  const days: string[] = [];
  for (let day = first; day <= last; day = dayAfter(day, 1)) days.push(day);
  const isMonday = (day: string) => new Date(`${day}T00:00:00Z`).getUTCDay() === 1;
  return every === 'day' ? days : days.filter(isMonday);
}

const changes = ZONES.flatMap((zone) => changesIn(zone).map((day) => ({ zone, day })));

test('three of the zones change their clocks at midnight, twice a year', () => {
  assert.deepEqual(new Set(changes.map(({ zone }) => zone)), new Set(ZONES.slice(0, 3)));
  assert.equal(changes.length, 6);
});

for (const { zone, day } of changes.toSorted((a, b) => a.day.localeCompare(b.day))) {
  test(`around ${day} in ${zone}, each period ends once`, async () => {
    const [first, last] = [dayAfter(day, -AROUND), dayAfter(day, AROUND)];
    clock.advance(dayStart(zone, first).getTime() - clock.now().getTime());
    await run();
    const end = addMs(dayStart(zone, dayAfter(last, 1)), HOUR_MS);
    for (; clock.now() < end; clock.advance(TICK_MS)) await run();
    for (const shop of shops) {
      // In other zones, the days at both ends begin and end at other times.
      const inside = [dayAfter(first, 1), dayAfter(last, shop.every === 'day' ? -1 : -8)] as const;
      for (const table of ['scheduled_exports', 'automatic_payouts']) {
        const what = `${table} ${shop.timeZone} ${shop.every}`;
        assert.deepEqual(await periodsOf(table, shop, inside), expected(shop, inside), what);
      }
    }
  });
}
