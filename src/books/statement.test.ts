import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDays, openPayout, type Statement } from '#books/statement.ts';
import { STATEMENT_FORMATS } from '#books/statement-formats.ts';
import { dayAfter, dayIn, dayStart, daysOfMonth, lastPeriod } from '#core/calendar.ts';
import { addMs } from '#core/clock.ts';
import type { Tenant } from '#core/mode.ts';
import { createRandom } from '#testkit/fixtures/core/random.ts';
import { databaseForTests } from '#testkit/fixtures/db/database-for-tests.ts';
import {
  addMovements,
  addSales,
  fileOf,
  parseJsonl,
  SKR03,
  setDatev,
} from '#testkit/fixtures/payments/books.ts';
import { addMerchant } from '#testkit/fixtures/payments/store.ts';

/** Number of shops with random movements, whose statements are compared with a list in memory. */

const SHOPS = Number(process.env.BOOKS_SHOPS ?? 4);
/** Zones with clock changes in both hemispheres, at midnight, and by half an hour. */
const ZONES = [
  ...['Europe/Berlin', 'America/Santiago', 'Australia/Lord_Howe', 'Asia/Kolkata'],
  ...['Pacific/Apia', 'Africa/Casablanca', 'America/Sao_Paulo', 'Asia/Beirut'],
];
/** Days around the clock changes of 2026. */
const FIRST_DAYS = ['2026-03-27', '2026-10-23', '2026-04-03', '2026-09-04'];
const DAYS = 5;

const database = databaseForTests();

interface Moved {
  readonly at: Date;
  readonly id: string;
  readonly amount: bigint;
}

/** Creates a shop that sells, refunds and pays out for some days. */
async function openShop(seed: number) {
  const { db } = database;
  const { below: random } = createRandom(seed, 'shop');
  const timeZone = ZONES[seed % ZONES.length] ?? 'UTC';
  const first = FIRST_DAYS[random(FIRST_DAYS.length)] ?? '2026-03-27';
  const start = dayStart(timeZone, first);
  const { tenant } = await addMerchant(db, { now: start });
  const last = dayStart(timeZone, dayAfter(first, DAYS));
  const span = last.getTime() - start.getTime();
  const moments = Array.from({ length: 40 }, () => addMs(start, random(span))).sort(
    (one, other) => one.getTime() - other.getTime(),
  );
  const moved: Moved[] = [];
  for (const [index, at] of moments.entries()) {
    if (index % 4 === 3) {
      const type = index % 8 === 7 ? 'payout' : 'refund';
      const id = `${type === 'payout' ? 'wdr' : 're'}_${seed}x${index}`;
      const amount = -BigInt(1 + random(999_999));
      await addMovements(db, tenant, [{ type, objectId: id, amount, happened: null, at }]);
      moved.push({ at, id, amount });
    } else {
      const amount = BigInt(1_000_000 + random(5_000_000));
      const [id = ''] = await addSales(db, tenant, [{ at, amount }]);
      moved.push({ at, id, amount });
    }
  }
  return { tenant, timeZone, first, last, moved, random };
}

const sum = (moved: readonly Moved[]) => moved.reduce((all, { amount }) => all + amount, 0n);

function daysOf(tenant: Tenant, timeZone: string, now: Date, [from, to]: readonly string[]) {
  const shop = { timeZone, starts: [] };
  return openDays(database.db, { tenant, shop, now }, { from: from ?? '', to: to ?? '' });
}

async function idsOf(statement: Statement): Promise<string[]> {
  const { head, entries } = parseJsonl(await fileOf(database.db, statement, 'jsonl'));
  const total = entries.reduce((all, { amount }) => all + amount, head.opening_balance);
  assert.equal(total, head.closing_balance);
  assert.equal(BigInt(head.opening_balance), statement.opening);
  return entries.map(({ id }) => id);
}

for (let seed = 0; seed < SHOPS; seed++) {
  test(`random days add up, and each opens with the balance before it (seed ${seed})`, async () => {
    const { tenant, timeZone, first, last, moved, random } = await openShop(seed);
    const now = addMs(last, 1);
    for (let run = 0; run < 8; run++) {
      const from = dayAfter(first, random(DAYS));
      const to = dayAfter(from, random(DAYS));
      const statement = await daysOf(tenant, timeZone, now, [from, to]);
      const inside = moved.filter(({ at }) => {
        const day = dayIn(timeZone, at);
        return day >= from && day <= to;
      });
      const earlier = moved.filter(({ at }) => dayIn(timeZone, at) < from);
      assert.deepEqual(
        await idsOf(statement),
        inside.map(({ id }) => id),
        `${from} to ${to}`,
      );
      assert.equal(statement.opening, sum(earlier));
      assert.equal(statement.closing, sum(earlier) + sum(inside));
    }
    const payouts = moved.filter(({ id }) => id.startsWith('wdr_'));
    let opened = 0n;
    let taken = 0;
    for (const payout of payouts) {
      const statement = await openPayout(
        database.db,
        { tenant, shop: { timeZone, starts: [] }, now },
        payout.id,
      );
      assert.ok(statement !== null);
      const end = moved.indexOf(payout) + 1;
      assert.deepEqual(
        await idsOf(statement),
        moved.slice(taken, end).map(({ id }) => id),
      );
      assert.equal(statement.opening, opened);
      [taken, opened] = [end, statement.closing];
    }
  });
}

const ZONE = 'Europe/Berlin';
const NOON = new Date('2026-11-20T12:00:00.000Z');
const at = (hours: number) => addMs(NOON, hours * 3_600_000);

async function openCounter(): Promise<Tenant> {
  const { tenant } = await addMerchant(database.db, { now: NOON });
  await setDatev(database.db, tenant, SKR03);
  return tenant;
}

test('an exported day never changes: what is found later is a correction of that day', async () => {
  const { db } = database;
  const tenant = await openCounter();
  await addSales(db, tenant, [{ at: at(0), amount: 2_000_001n }]);
  const read = async (day: string, now: Date) => {
    const statement = await daysOf(tenant, ZONE, now, [day, day]);
    const files = STATEMENT_FORMATS.map((format) => fileOf(db, statement, format));
    return { statement, files: await Promise.all(files) };
  };
  const before = await read('2026-11-20', at(24));
  const lost = { type: 'payment', objectId: 'pay_lost', amount: 20_007n, happened: at(1) } as const;
  await addMovements(db, tenant, [{ ...lost, at: at(30) }]);
  const later = await read('2026-11-20', at(60));
  assert.deepEqual(later.files, before.files, 'not a byte');
  const next = await read('2026-11-21', at(60));
  const { entries } = parseJsonl(next.files[STATEMENT_FORMATS.indexOf('jsonl')] ?? '');
  assert.deepEqual(
    entries.map(({ type, original, amount }) => ({ type, original, amount })),
    [{ type: 'CORRECTION', original: 'pay_lost', amount: 20_007 }],
  );
  assert.equal(next.statement.opening, before.statement.closing);
  assert.ok(next.files.every((file) => /CORRECTION/.test(file)));
});

test('an entry from a lost period is booked on its day, if that day was not exported', async () => {
  const { db } = database;
  const tenant = await openCounter();
  const lost = { type: 'payment', objectId: 'pay_lost2', amount: 7n, happened: at(1) } as const;
  await addMovements(db, tenant, [{ ...lost, at: at(30) }]);
  const statement = await daysOf(tenant, ZONE, at(60), ['2026-11-20', '2026-11-20']);
  assert.deepEqual(await idsOf(statement), ['pay_lost2']);
});

test('a transaction that was under way at midnight books into the next day', async () => {
  const { db } = database;
  const tenant = await openCounter();
  const midnight = dayStart(ZONE, '2026-11-21');
  await daysOf(tenant, ZONE, addMs(midnight, 5), ['2026-11-20', '2026-11-20']);
  const refund = { type: 'refund', objectId: 're_late', amount: -5n, happened: null } as const;
  await addMovements(db, tenant, [{ ...refund, at: addMs(midnight, -1) }]);
  const closed = await daysOf(tenant, ZONE, at(30), ['2026-11-20', '2026-11-20']);
  assert.deepEqual(await idsOf(closed), []);
  const next = await daysOf(tenant, ZONE, at(30), ['2026-11-21', '2026-11-21']);
  assert.deepEqual(await idsOf(next), ['re_late']);
});

test('a day that has not ended shows the current balance, and is not closed', async () => {
  const { db } = database;
  const tenant = await openCounter();
  await addSales(db, tenant, [{ at: at(0), amount: 10n }]);
  const running = await daysOf(tenant, ZONE, at(1), ['2026-11-20', '2026-11-20']);
  assert.equal(running.closing, 10n);
  const file = await fileOf(db, running, 'jsonl');
  await addSales(db, tenant, [{ at: at(2), amount: 5n }]);
  assert.equal(await fileOf(db, running, 'jsonl'), file, 'a later sale is not in an open file');
  const again = await daysOf(tenant, ZONE, at(3), ['2026-11-20', '2026-11-20']);
  assert.equal(again.closing, 15n);
  const future = await daysOf(tenant, ZONE, at(3), ['2026-12-01', '2026-12-01']);
  assert.deepEqual([future.opening, future.closing], [15n, 15n]);
});

test('the last period is the one that has ended', () => {
  const week = { from: '2026-11-16', to: '2026-11-22' };
  assert.deepEqual(lastPeriod('week', '2026-11-23'), week, 'weeks begin on Mondays');
  assert.deepEqual(lastPeriod('week', '2026-11-29'), week);
  assert.deepEqual(lastPeriod('day', '2026-03-01'), { from: '2026-02-28', to: '2026-02-28' });
  assert.deepEqual(lastPeriod('month', '2026-03-01'), { from: '2026-02-01', to: '2026-02-28' });
});

test('a month ends with its last day', () => {
  assert.deepEqual(daysOfMonth('2028-02'), { from: '2028-02-01', to: '2028-02-29' });
  assert.deepEqual(daysOfMonth('2026-12'), { from: '2026-12-01', to: '2026-12-31' });
});
