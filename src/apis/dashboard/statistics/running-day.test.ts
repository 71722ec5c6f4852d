import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readStatistics } from '#apis/dashboard/statistics/daily-statistics.ts';
import { readHealth } from '#apis/dashboard/statistics/failures-by-day.ts';
import { storeCalls } from '#apis/dashboard/statistics/health-queries.ts';
import { openCharts } from '#apis/dashboard/statistics/share-chart-reads.ts';
import { isRefusal } from '#core/answer.ts';
import { startDashboardServer } from '#testkit/apis/dashboard-server.ts';
import { addOwner } from '#testkit/apis/people.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import {
  insertCall,
  insertDelivery,
  insertEndpoint,
  insertIntent,
  STORED_ENDPOINT,
} from '#testkit/fixtures/payments/shop-rows.ts';
import { retryDelivery } from '#webhooks/retry-delivery.ts';

/**
 * Tests the figures of a day in progress: complete hours are counted once, the rest at each read.
 */

const DAY = '2026-10-01';
const at = (time: string) => new Date(`${DAY}T${time}:00.000Z`);

let accountId = '';

const server = openForTests(startDashboardServer, async () => {
  accountId = (await addOwner(server, 'uma@hours.test')).accountId;
});

const addPaid = (n: number, created: Date, settleMs: number) =>
  insertIntent(server.db, accountId, { n, created, status: 'succeeded', settleMs });

async function look(now: Date) {
  const tenant = { accountId, livemode: false };
  const rows = await readStatistics(server.db, { tenant, from: DAY, to: DAY }, now);
  return rows.find((row) => row.terminal_id === '');
}

async function keptHours(table: 'statistics_hours' | 'health_hours'): Promise<string[]> {
  const rows = await server.db.query<{ hour: Date }>(
    `select distinct hour from ${table} where account_id = $1 order by hour`,
    [accountId],
  );
  return rows.map(({ hour }) => hour.toISOString().slice(11, 16));
}

test('a complete hour is counted once, unless one of its intents is still open', async () => {
  await addPaid(1, at('00:10'), 1_234);
  const open = { n: 2, created: at('01:10'), status: 'requires_payment_method' } as const;
  await insertIntent(server.db, accountId, open);
  await addPaid(3, at('02:10'), 700);
  await addPaid(4, at('03:10'), 12_345);
  const first = await look(at('03:20'));
  // The third hour is not stored yet, because it ended less than half an hour ago.
  assert.deepEqual(await keptHours('statistics_hours'), ['00:00']);
  assert.deepEqual(
    [first?.intents, first?.payments, first?.volume, first?.canceled],
    [4, 3, 6_000_000n, 1],
  );
  assert.deepEqual([first?.settle_ms_median, first?.settle_ms_p95], [1_230, 12_300]);
  await server.db.query(`delete from payments where id = 'pay_1'`);
  assert.deepEqual(await look(at('03:20')), first, 'stored figures are not counted again');
  await addPaid(5, at('03:21'), 500);
  assert.equal((await look(at('03:22')))?.payments, 4, 'new sales show at once');
  await server.db.query(
    `update payment_intents set status = 'canceled', cancellation_reason = 'expired',
       canceled_at = created where id = 'pi_2'`,
  );
  assert.equal((await look(at('04:31')))?.payments, 4);
  assert.deepEqual(await keptHours('statistics_hours'), ['00:00', '01:00', '02:00', '03:00']);
});

test('a complete day is stored as a whole, and its hours are deleted', async () => {
  const next = new Date('2026-10-02T00:10:00.000Z');
  const before = await look(next);
  assert.equal((await keptHours('statistics_hours')).length, 23);
  const kept = await look(new Date('2026-10-02T00:40:00.000Z'));
  assert.deepEqual(kept, before);
  assert.deepEqual(await keptHours('statistics_hours'), []);
  await server.db.query('delete from payments where account_id = $1', [accountId]);
  assert.deepEqual(await look(next), before);
});

const addDelivery = (n: number, status: 'succeeded' | 'failed') =>
  insertDelivery(server.db, accountId, { n, created: at('05:00'), status });

async function health(now: Date) {
  const tenant = { accountId, livemode: false };
  return readHealth(server.db, { tenant, from: DAY, to: DAY }, now);
}

test('deliveries of a day are counted once, and again after a resend', async () => {
  await insertEndpoint(server.db, accountId, at('00:00'));
  await addDelivery(1, 'succeeded');
  const failed = await addDelivery(2, 'failed');
  const now = new Date('2026-10-03T08:00:00.000Z');
  const counts = { day: DAY, requests: 0, refused: 0, failed: 0 };
  const results = [{ ...counts, delivered: 1, undelivered: 1 }];
  assert.deepEqual(await health(now), results);
  await addDelivery(3, 'succeeded');
  assert.deepEqual(await health(now), results, 'the day is stored');
  const { db, wakeups } = server;
  const tenant = { accountId, livemode: false };
  const again = await retryDelivery({ db, wakeups }, tenant, failed, now);
  assert.ok(!isRefusal(again));
  assert.deepEqual(await health(now), [{ ...counts, delivered: 2, undelivered: 1 }]);
  await server.db.query(`delete from webhook_due where endpoint_id = '${STORED_ENDPOINT}'`);
  await addDelivery(2, 'succeeded');
  assert.deepEqual(await health(now), [{ ...counts, delivered: 3, undelivered: 0 }]);
  const days = await server.db.query<{ delivered: number }>(
    `select delivered from delivery_days where endpoint_id = '${STORED_ENDPOINT}'`,
  );
  assert.deepEqual(days, [{ delivered: 3 }]);
});

test('calls of complete hours are counted once', async () => {
  const tenant = { accountId, livemode: true };
  const call = (time: string, status: number) =>
    insertCall(server.db, tenant, { at: at(time), status });
  const read = async (time: string) => {
    const [day] = await readHealth(server.db, { tenant, from: DAY, to: DAY }, at(time));
    return [day?.requests, day?.refused, day?.failed];
  };
  await call('05:10', 200);
  await call('05:20', 404);
  await call('06:05', 500);
  assert.deepEqual(await read('06:09'), [3, 1, 1]);
  await call('05:30', 200);
  assert.deepEqual(await read('06:11'), [4, 1, 1], 'the log is written after the responses');
  await call('05:40', 200);
  await call('06:12', 200);
  assert.deepEqual(await read('06:13'), [5, 1, 1]);
  assert.equal((await keptHours('health_hours')).at(-1), '05:00');
});

test('two simultaneous readers get the same figures, a later one new ones', async () => {
  const charts = openCharts(server.db);
  const request = { tenant: { accountId, livemode: false }, from: DAY, to: DAY };
  const now = at('23:00');
  for (const chart of [charts.statistics, charts.health]) {
    const [one, same] = await Promise.all([chart(request, now), chart(request, now)]);
    assert.equal(one, same);
    assert.notEqual(await chart(request, now), one);
    const [ours, theirs] = await Promise.all([
      chart(request, now),
      chart({ ...request, tenant: { ...request.tenant, livemode: true } }, now),
    ]);
    assert.notEqual(ours, theirs);
  }
});

test('storing a day keeps the hours of the preceding days', async () => {
  const shop = { timeZone: 'UTC', starts: [] };
  const request = { tenant: { accountId, livemode: false }, shop, day: '2026-12-20' };
  const hours = [
    '2026-12-20T23',
    '2026-12-20T00',
    '2026-12-19T23',
    '2026-12-14T05',
    '2026-12-12T23',
  ];
  await server.db.query(
    `insert into health_hours (account_id, livemode, hour, requests, refused, failed)
     select $1, false, hour::timestamptz, 1, 0, 0 from unnest($2::text[]) hour`,
    [accountId, hours.map((hour) => `${hour}:00:00Z`)],
  );
  await storeCalls(server.db, request, { day: request.day, requests: 2, refused: 0, failed: 0 });
  const left = await server.db.query<{ hour: Date }>(
    `select hour from health_hours where account_id = $1 and hour > '2026-12-01'
     order by hour desc`,
    [accountId],
  );
  assert.deepEqual(
    left.map(({ hour }) => hour.toISOString().slice(0, 13)),
    ['2026-12-19T23', '2026-12-14T05'],
  );
});
