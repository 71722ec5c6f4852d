import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createAccountWithOwner } from '#accounts/create-account.ts';
import { readStatistics } from '#apis/dashboard/daily-statistics.ts';
import { readHealth } from '#apis/dashboard/failures-by-day.ts';
import { storeCalls } from '#apis/dashboard/health-queries.ts';
import { openCharts } from '#apis/dashboard/share-chart-reads.ts';
import { isRefusal } from '#core/answer.ts';
import { newId } from '#core/ids.ts';
import { type DashboardServer, startDashboardServer } from '#testing/dashboard-server.ts';
import { retryDelivery } from '#webhooks/retry-delivery.ts';

/**
 * Tests the figures of a day in progress: complete hours are counted once, the rest at each read.
 */

const DAY = '2026-10-01';
const at = (time: string) => new Date(`${DAY}T${time}:00.000Z`);

let server: DashboardServer;
let accountId = '';

before(async () => {
  server = await startDashboardServer();
  const owner = { email: 'uma@hours.test', password: 'correct horse battery', name: 'Uma' };
  const actor = { type: 'system', name: 'test' } as const;
  const input = { accountName: 'Hours', owner, actor, now: at('00:00') };
  const made = await createAccountWithOwner(server.db, input);
  assert.ok(!isRefusal(made));
  accountId = made.accountId;
});

after(() => server.close());

async function addPaid(n: number, created: Date, ms: number): Promise<void> {
  await server.db.query(
    `insert into payment_intents (id, account_id, livemode, position, created, amount, terminal_id,
       order_id, metadata, source, expires_at, tapped_at, status, attempt, payment_id, tx_hash)
     values ($1, $2, false, $3, $4, 2000000, 'tml_1', $5, '{}', 'api', $4, $4, 'succeeded', '{}',
       $6, '0x')`,
    [`pi_${n}`, accountId, n, created, `n${n}`, `pay_${n}`],
  );
  await server.db.query(
    `insert into payments (id, account_id, livemode, position, created, payment_intent_id,
       terminal_id, payer_id, payer_address, order_id, method_type, credential_type, amount,
       fee_acquirer, fee_protocol, fee_cashback, chain_id, settlement_number, batch_number, tx_hash,
       block_number, log_index, settled_at, refundable_until)
     values ($1, $2, false, $3, $4, $5, 'tml_1', 'pyr_1', '0x', $6, 'wallet_pass', 'nfc_id',
       2000000, 3, 2, 1, 31337, $3, $3, '0x', $3, 0, $4, $4)`,
    [`pay_${n}`, accountId, n, new Date(created.getTime() + ms), `pi_${n}`, `n${n}`],
  );
}

async function addOpen(n: number, created: Date): Promise<void> {
  await server.db.query(
    `insert into payment_intents (id, account_id, livemode, position, created, amount, terminal_id,
       order_id, metadata, source, expires_at, status)
     values ($1, $2, false, $3, $4, 1000000, 'tml_1', $5, '{}', 'api', $4,
       'requires_payment_method')`,
    [`pi_${n}`, accountId, n, created, `n${n}`],
  );
}

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
  await addOpen(2, at('01:10'));
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

async function addDelivery(n: number, status: 'succeeded' | 'failed'): Promise<string> {
  const created = at('05:00');
  const id = newId('webhookDelivery', created);
  await server.db.query(
    `insert into webhook_deliveries (endpoint_id, status, event_created, event_position, id,
       account_id, livemode, event_id, event_type, created, updated, attempt)
     values ('we_hours', $1, $2, $3, $4, $5, false, $6, 'ping', $2, $2, 12)`,
    [status, created, n, id, accountId, `evt_${n}`],
  );
  return id;
}

async function health(now: Date) {
  const tenant = { accountId, livemode: false };
  return readHealth(server.db, { tenant, from: DAY, to: DAY }, now);
}

test('deliveries of a day are counted once, and again after a resend', async () => {
  await server.db.query(
    `insert into webhook_endpoints (id, account_id, livemode, url, enabled_events, api_version,
       secret, created, updated)
     values ('we_hours', $1, false, 'https://shop.example/', '{*}', '2026-09-28', '', $2, $2)`,
    [accountId, at('00:00')],
  );
  await server.db.query(`insert into webhook_endpoint_leases (endpoint_id) values ('we_hours')`);
  await addDelivery(1, 'succeeded');
  const failed = await addDelivery(2, 'failed');
  const now = new Date('2026-10-03T08:00:00.000Z');
  const counts = { day: DAY, requests: 0, refused: 0, failed: 0 };
  const found = [{ ...counts, delivered: 1, undelivered: 1 }];
  assert.deepEqual(await health(now), found);
  await addDelivery(3, 'succeeded');
  assert.deepEqual(await health(now), found, 'the day is stored');
  const { db, wakeups } = server;
  const tenant = { accountId, livemode: false };
  const again = await retryDelivery({ db, wakeups }, tenant, failed, now);
  assert.ok(!isRefusal(again));
  assert.deepEqual(await health(now), [{ ...counts, delivered: 2, undelivered: 1 }]);
  await server.db.query(`delete from webhook_due where endpoint_id = 'we_hours'`);
  await addDelivery(2, 'succeeded');
  assert.deepEqual(await health(now), [{ ...counts, delivered: 3, undelivered: 0 }]);
  const days = await server.db.query<{ delivered: number }>(
    `select delivered from delivery_days where endpoint_id = 'we_hours'`,
  );
  assert.deepEqual(days, [{ delivered: 3 }]);
});

test('calls of complete hours are counted once', async () => {
  const call = (time: string, status: number) =>
    server.db.query(
      `insert into request_log (id, created, account_id, livemode, method, path, status,
         api_version, duration_ms, address)
       values ($1, $2, $3, true, 'GET', '/api/v1/balance', $4, '2026-09-28', 3, '127.0.0.1')`,
      [newId('request', at(time)), at(time), accountId, status],
    );
  const read = async (time: string) => {
    const tenant = { accountId, livemode: true };
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
  const asked = { tenant: { accountId, livemode: false }, from: DAY, to: DAY };
  const now = at('23:00');
  for (const chart of [charts.statistics, charts.health]) {
    const [one, same] = await Promise.all([chart(asked, now), chart(asked, now)]);
    assert.equal(one, same);
    assert.notEqual(await chart(asked, now), one);
    const [ours, theirs] = await Promise.all([
      chart(asked, now),
      chart({ ...asked, tenant: { ...asked.tenant, livemode: true } }, now),
    ]);
    assert.notEqual(ours, theirs);
  }
});

test('storing a day keeps the hours of the preceding days', async () => {
  const asked = { tenant: { accountId, livemode: false }, timeZone: 'UTC', day: '2026-12-20' };
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
  await storeCalls(server.db, asked, { day: asked.day, requests: 2, refused: 0, failed: 0 });
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
