import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createAccountWithOwner } from '#accounts/create-account.ts';
import { isRefusal } from '#core/answer.ts';
import { DAY_MS } from '#core/durations.ts';
import { newId } from '#core/ids.ts';
import { type Decline, paymentError } from '#payments/decline-codes.ts';
import { type DashboardServer, startDashboardServer } from '#testing/dashboard-server.ts';
import { PersonClient } from '#testing/person-client.ts';

/**
 * Tests the failures that are shown by day and cause: calls, deliveries, declines, and previewed
 * rules.
 */

const PASSWORD = 'correct horse battery';
const actor = { type: 'system', name: 'test' } as const;

let server: DashboardServer;
let client: PersonClient;
let account = '';

/** Returns the date this many days ago. */
function day(ago: number): string {
  return new Date(server.clock.now().getTime() - ago * DAY_MS).toISOString().slice(0, 10);
}

const noon = (ago: number) => `${day(ago)}T12:00:00.000Z`;
const path = (rest: string) => `/accounts/${account}/test/${rest}`;

before(async () => {
  server = await startDashboardServer();
  const owner = { email: 'ina@insight.test', password: PASSWORD, name: 'Ina' };
  const input = { accountName: 'Insight shop', owner, actor, now: server.clock.now() };
  const made = await createAccountWithOwner(server.db, input);
  assert.ok(!isRefusal(made));
  account = made.accountId;
  client = new PersonClient(server.dashboard);
  const session = { email: owner.email, password: PASSWORD };
  assert.equal((await client.post('/session', session)).status, 200);
});

after(() => server.close());

async function logCall({
  ago,
  path,
  status,
}: {
  ago: number;
  status: number;
  path?: string;
}): Promise<void> {
  const at = new Date(noon(ago));
  await server.db.query(
    `insert into request_log (id, created, account_id, livemode, method, path, status, api_version,
       duration_ms, address)
     values ($1, $2, $3, false, 'GET', $4, $5, '2026-09-28', 3, '127.0.0.1')`,
    [newId('request', at), at, account, path ?? '/api/v1/balance', status],
  );
}

async function addDelivery({
  ago,
  position,
  state,
}: {
  ago: number;
  position: number;
  state: string;
}): Promise<void> {
  const values = [noon(ago), position, `wdl_${position}`, account, `evt_${position}`];
  if (state === 'tried') {
    await server.db.query(
      `insert into webhook_due (endpoint_id, event_created, event_position, id, account_id,
         livemode, event_id, event_type, created, updated, due_at, attempt)
       values ('we_1', $1, $2, $3, $4, false, $5, 'ping', $1, $1,
         $1::timestamptz + interval '1 minute', 1)`,
      values,
    );
    return;
  }
  await server.db.query(
    `insert into webhook_deliveries (endpoint_id, status, event_created, event_position, id,
       account_id, livemode, event_id, event_type, created, updated, attempt)
     values ('we_1', $6, $1, $2, $3, $4, false, $5, 'ping', $1, $1, 1)`,
    [...values, state],
  );
}

test('failure rates are counted by day, calls of people excluded', async () => {
  await server.db.query(
    `insert into webhook_endpoints (id, account_id, livemode, url, enabled_events, api_version,
       secret, created, updated)
     values ('we_1', $1, false, 'https://shop.example/', '{*}', '2026-09-28', '', $2, $2)`,
    [account, noon(9)],
  );
  for (const status of [200, 200, 404, 500]) await logCall({ ago: 2, status });
  await logCall({ ago: 2, status: 403, path: '/api/dashboard/v1/session' });
  const states = ['succeeded', 'succeeded', 'failed', 'tried'];
  for (const [index, state] of states.entries()) {
    await addDelivery({ ago: 3, position: index + 1, state });
  }
  const span = path(`health?from=${day(4)}&to=${day(0)}`);
  const quiet = { requests: 0, refused: 0, failed: 0, delivered: 0, undelivered: 0 };
  const expected = [
    { ...quiet, day: day(3), delivered: 2, undelivered: 2 },
    { ...quiet, day: day(2), requests: 4, refused: 1, failed: 1 },
  ];
  for (const _read of ['counted', 'stored']) {
    const { status, body, text } = await client.get(span);
    assert.equal(status, 200, text);
    assert.deepEqual(body.data, expected);
  }
  const stored = await server.db.query('select day from health_days where account_id = $1', [
    account,
  ]);
  assert.equal(stored.length, 4, 'each complete day is counted once');
  const log = await client.get(
    path(`request_log?failed=true&by_servers=true&created_gte=${day(2)}T00:00:00Z`),
  );
  assert.deepEqual(
    (log.body.data as { status: number }[]).map((row) => row.status).sort(),
    [404, 500],
  );
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
      ['wdl_4', 'pending'],
      ['wdl_3', 'failed'],
    ],
  );
  assert.equal(second.body.has_more, false);
});

test('a month is the longest period, because the log is kept no longer', async () => {
  assert.equal((await client.get(path(`health?from=${day(31)}&to=${day(0)}`))).status, 400);
  assert.equal((await client.get(path(`health?from=${day(30)}&to=${day(0)}`))).status, 200);
});

async function addIntent({
  n,
  minute,
  code,
  paid = false,
}: {
  n: number;
  minute: number;
  code?: Decline;
  paid?: boolean;
}) {
  const at = new Date(Date.parse(noon(1)) + minute * 60_000);
  await server.db.query(
    `insert into payment_intents (id, account_id, livemode, position, created, amount, terminal_id,
       order_id, metadata, source, expires_at, status, attempt, last_payment_error, payment_id,
       tx_hash, cancellation_reason, canceled_at)
     values ($1, $2, false, $3, $4, 2000000, 'tml_1', $5, '{}', 'api', $4::timestamptz + interval
       '2 minutes', $6, case when $7::text is null then null else '{}'::jsonb end,
       $8::text::jsonb,
       $7, case when $7 is null then null else '0x' || repeat('0', 64) end,
       case when $7 is null then 'expired' end, case when $7 is null then $4::timestamptz end)`,
    [
      ...[`pi_${n}`, account, n, at, `n${n}`, paid ? 'succeeded' : 'canceled'],
      ...[
        paid ? `pay_${n}` : null,
        code === undefined ? null : JSON.stringify(paymentError(code, at)),
      ],
    ],
  );
  if (!paid) return;
  await server.db.query(
    `insert into payments (id, account_id, livemode, position, created, payment_intent_id,
       terminal_id, payer_id, payer_address, order_id, method_type, credential_type, amount,
       fee_acquirer, fee_protocol, fee_cashback, chain_id, settlement_number, batch_number, tx_hash,
       block_number, log_index, settled_at, refundable_until)
     values ($1, $2, false, $3, $4, $5, 'tml_1', 'pyr_1', '0x', $6, 'wallet_pass', 'nfc_id',
       2000000,
       3, 2, 1, 31337, $3, $3, '0x', $3, 0, $4, $4)`,
    [`pay_${n}`, account, n, at, `pi_${n}`, `n${n}`],
  );
}

test('intents, even paid ones, are found by the code of their last decline', async () => {
  await addIntent({ n: 1, minute: 0, code: 'insufficient_funds' });
  await addIntent({ n: 2, minute: 1, code: 'payer_rejected' });
  await addIntent({ n: 3, minute: 2, code: 'insufficient_funds', paid: true });
  await addIntent({ n: 4, minute: 3, paid: true });
  const query = 'declined_payment_intents?decline_code=insufficient_funds';
  const { status, body, text } = await client.get(path(query));
  assert.equal(status, 200, text);
  assert.deepEqual(
    (body.data as { id: string }[]).map(({ id }) => id),
    ['pi_3', 'pi_1'],
  );
  const none = await client.get(path(`${query}&terminal=tml_${'0'.repeat(22)}`));
  assert.deepEqual(none.body.data, []);
  assert.equal((await client.get(path('declined_payment_intents?decline_code=bad'))).status, 400);
});

test('rules are previewed on the payments of the last week', async () => {
  await addIntent({ n: 5, minute: 4, paid: true });
  const preview = async (query: string) => {
    const { status, body, text } = await client.get(path(`risk_settings/preview?${query}`));
    assert.equal(status, 200, text);
    const { payments, stopped, asked } = body as Record<string, unknown>;
    return { payments, stopped, asked };
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
