import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY_MS } from '#core/durations.ts';
import { newId } from '#core/ids.ts';
import { type Decline, paymentError } from '#payments/decline-codes.ts';
import { startDashboardServer } from '#testkit/apis/dashboard-server.ts';
import { addOwner, signInAs } from '#testkit/apis/people.ts';
import type { PersonClient } from '#testkit/apis/person-client.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import {
  insertCall,
  insertDelivery,
  insertEndpoint,
  insertIntent,
  STORED_ENDPOINT,
} from '#testkit/fixtures/payments/shop-rows.ts';

/**
 * Tests the failures that are shown by day and cause: calls, deliveries, declines, and previewed
 * rules.
 */

let client: PersonClient;
let account = '';

function day(ago: number): string {
  return new Date(server.clock.now().getTime() - ago * DAY_MS).toISOString().slice(0, 10);
}

const noon = (ago: number) => new Date(`${day(ago)}T12:00:00.000Z`);
const path = (rest: string) => `/accounts/${account}/test/${rest}`;

const server = openForTests(startDashboardServer, async () => {
  account = (await addOwner(server, 'ina@insight.test')).accountId;
  client = await signInAs(server, 'ina@insight.test');
});

const logCall = (call: { status: number; path?: string }) =>
  insertCall(server.db, { accountId: account, livemode: false }, { at: noon(2), ...call });

const addDelivery = (n: number, status: 'succeeded' | 'failed') =>
  insertDelivery(server.db, account, { n, created: noon(3), status });

/** Stores a delivery that failed once and is due again. */
async function addTried(n: number): Promise<string> {
  const id = newId('webhookDelivery', noon(3));
  await server.db.query(
    `insert into webhook_due (endpoint_id, event_created, event_position, id, account_id,
       livemode, event_id, event_type, created, updated, due_at, attempt)
     values ('${STORED_ENDPOINT}', $1, $2, $3, $4, false, $5, 'ping', $1, $1,
       $1::timestamptz + interval '1 minute', 1)`,
    [noon(3), n, id, account, `evt_${n}`],
  );
  return id;
}

let undelivered: readonly string[] = [];

test('failure rates are counted by day, calls of people excluded', async () => {
  await insertEndpoint(server.db, account, noon(9));
  for (const status of [200, 200, 404, 500]) await logCall({ status });
  await logCall({ status: 403, path: '/api/dashboard/v1/session' });
  for (const n of [1, 2]) await addDelivery(n, 'succeeded');
  undelivered = [await addDelivery(3, 'failed'), await addTried(4)];
  const span = path(`health?from=${day(4)}&to=${day(0)}`);
  const quiet = { requests: 0, refused: 0, failed: 0, delivered: 0, undelivered: 0 };
  const expected = [
    { ...quiet, day: day(3), delivered: 2, undelivered: 2 },
    { ...quiet, day: day(2), requests: 4, refused: 1, failed: 1 },
  ];
  for (const _read of ['counted', 'stored']) {
    assert.deepEqual(await client.list(span), expected);
  }
  const stored = await server.db.query('select day from health_days where account_id = $1', [
    account,
  ]);
  assert.equal(stored.length, 4, 'each complete day is counted once');
  const log = await client.list<{ status: number }>(
    path(`request_log?failed=true&by_servers=true&created_gte=${day(2)}T00:00:00Z`),
  );
  assert.deepEqual(log.map((row) => row.status).sort(), [404, 500]);
});

test('the list behind the chart has the failed deliveries, page by page', async () => {
  const span = `created_gte=${day(3)}T00:00:00Z&created_lt=${day(2)}T00:00:00Z`;
  const query = `undelivered?limit=1&${span}`;
  const first = await client.get(path(query));
  assert.equal(first.status, 200, first.text);
  const second = await client.get(path(`${query}&cursor=${first.body.next_cursor}`));
  const rows = [first, second].flatMap(({ body }) => body.data as { id: string; status: string }[]);
  assert.deepEqual(
    rows.map(({ id, status }) => [id, status]),
    [
      [undelivered[1], 'pending'],
      [undelivered[0], 'failed'],
    ],
  );
  assert.equal(second.body.has_more, false);
});

test('a month is the longest period, because the log is kept no longer', async () => {
  assert.equal((await client.get(path(`health?from=${day(31)}&to=${day(0)}`))).status, 400);
  assert.equal((await client.get(path(`health?from=${day(30)}&to=${day(0)}`))).status, 200);
});

/** Stores an intent that was declined with this code, or paid, or both. */
async function addIntent(n: number, made: { code?: Decline; paid?: boolean }): Promise<void> {
  const created = new Date(noon(1).getTime() + n * 60_000);
  const lastError =
    made.code === undefined ? null : JSON.stringify(paymentError(made.code, created));
  const status = made.paid === true ? 'succeeded' : 'canceled';
  await insertIntent(server.db, account, { n, created, status, lastError });
}

test('intents, even paid ones, are found by the code of their last decline', async () => {
  await addIntent(1, { code: 'insufficient_funds' });
  await addIntent(2, { code: 'payer_rejected' });
  await addIntent(3, { code: 'insufficient_funds', paid: true });
  await addIntent(4, { paid: true });
  const query = 'declined_payment_intents?decline_code=insufficient_funds';
  const result = await client.list<{ id: string }>(path(query));
  assert.deepEqual(
    result.map(({ id }) => id),
    ['pi_3', 'pi_1'],
  );
  assert.deepEqual(await client.list(path(`${query}&terminal=tml_${'0'.repeat(22)}`)), []);
  assert.equal((await client.get(path('declined_payment_intents?decline_code=bad'))).status, 400);
});

test('rules are previewed on the payments of the last week', async () => {
  await addIntent(5, { paid: true });
  const preview = async (query: string) => {
    const { status, body, text } = await client.get(path(`risk_settings/preview?${query}`));
    assert.equal(status, 200, text);
    const { payments, stopped, asked: request } = body as Record<string, unknown>;
    return { payments, stopped, asked: request };
  };
  assert.deepEqual(await preview(''), { payments: 3, stopped: 0, asked: 0 });
  assert.deepEqual(await preview('velocity_per_hour=2'), { payments: 3, stopped: 1, asked: 0 });
  const first = 'first_payment_confirm_from=1000000';
  assert.deepEqual(await preview(first), { payments: 3, stopped: 0, asked: 1 });
  assert.deepEqual(await preview('high_amount_confirm_from=2000000&velocity_per_hour=1'), {
    payments: 3,
    stopped: 2,
    asked: 1,
  });
});
