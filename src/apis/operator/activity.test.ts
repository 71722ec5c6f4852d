import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operatorRoutes } from '#apis/operator/operator-routes.ts';
import { startDashboardServer } from '#testkit/apis/dashboard-server.ts';
import { addStaff } from '#testkit/apis/people.ts';
import type { PersonClient } from '#testkit/apis/person-client.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { openStore, type TestStore } from '#testkit/fixtures/payments/store.ts';
import { addPayment, addStore } from '#testkit/fixtures/payments/store-payments.ts';

/** Tests the figures of a network over time against the rows that they are counted from. */

let shop: TestStore;
let other: TestStore;
let staff: PersonClient;

const server = openForTests(
  () => startDashboardServer([], { operatorRoutes }),
  async () => {
    const database = { db: server.db, url: '', close: async () => {} };
    shop = await openStore({ database, clock: server.clock });
    other = await addStore(shop, server.clock);
    ({ client: staff } = await addStaff(server, 'sue@activity.test', { role: 'support' }));
  },
);

interface Figures {
  readonly start?: string;
  readonly payments: number;
  readonly failed: number;
  readonly volume: number;
  readonly paid_ms_p50: number | null;
  readonly paid_ms_p99: number | null;
  readonly gas_per_payment: number | null;
}

interface Activity {
  readonly every: string;
  readonly total: Figures;
  readonly data: readonly Figures[];
}

async function read(network: string, period: string): Promise<Activity> {
  const answer = await staff.get(`/networks/${network}/activity?period=${period}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.body as unknown as Activity;
}

const NONE = {
  ...{ payments: 0, failed: 0, volume: 0 },
  ...{ paid_ms_p50: null, paid_ms_p99: null, gas_per_payment: null },
};

test('a network without sales has every hour and day, each with nothing', async () => {
  for (const [period, every, steps] of [
    ['day', 'hour', 24],
    ['week', 'day', 7],
    ['month', 'day', 30],
  ] as const) {
    const activity = await read('mainnet', period);
    assert.deepEqual([activity.every, activity.data.length], [every, steps]);
    assert.deepEqual(activity.total, NONE);
    for (const { start, ...figures } of activity.data) assert.deepEqual(figures, NONE, start);
  }
  const unknown = await staff.get('/networks/moonnet/activity?period=day');
  assert.equal(unknown.status, 404, unknown.text);
});

test('the figures of all shops of one network add up, by the hour of each sale', async () => {
  const paid = [await addPayment(shop), await addPayment(other), await addPayment(shop)];
  const ids = paid.map(({ payment_intent_id: id }) => id);
  // The first was sold two hours before the others, took 4 s, and shares its transaction with none.
  await server.db.query(
    `update payment_intents set created = created - interval '2 hours',
       tapped_at = null where id = $1`,
    [ids[0]],
  );
  await server.db.query(
    `update payments p set created = i.created + case when i.id = $1 then interval '4 s'
       else interval '1 s' end, tx_hash = case when i.id = $1 then '0xa' else '0xb' end
     from payment_intents i where i.id = p.payment_intent_id and i.id = any($2)`,
    [ids[0], ids],
  );
  await server.db.query('update payment_intents set tapped_at = created where id = any($1)', [ids]);
  await server.db.query(
    `insert into relayer_senders (livemode, sender, role, address, next_nonce)
     values (false, 0, 'operator', '0x', 0)`,
  );
  for (const [hash, gas] of [
    ['0xa', 90_000],
    ['0xb', 100_000],
  ] as const) {
    await server.db.query(
      `with added as (
         insert into chain_transactions (livemode, sender, nonce, kind, status, created, target,
           input, gas_limit, tx_hash, gas_used)
         select false, 0, $2::bigint, 'payment', 'finalized', now(), '0x', '', 1, $1, $2
         returning id
       )
       insert into chain_attempts (tx_hash, transaction_id, raw, max_fee_per_gas,
         max_priority_fee_per_gas, created) select $1, id, '', 1, 1, now() from added`,
      [hash, gas],
    );
  }
  const { total, data } = await read('testnet', 'day');
  const volume = paid.reduce((sum, { amount }) => sum + Number(amount), 0);
  assert.deepEqual(total, {
    ...{ payments: 3, failed: 0, volume, paid_ms_p50: 1_000, paid_ms_p99: 4_000 },
    gas_per_payment: Math.round(190_000 / 3),
  });
  const busy = data.filter(({ payments }) => payments > 0);
  assert.deepEqual(
    busy.map(({ payments, gas_per_payment: gas }) => [payments, gas]),
    [
      [1, 90_000],
      [2, 50_000],
    ],
  );
  assert.equal(Date.parse(busy[1]?.start ?? '') - Date.parse(busy[0]?.start ?? ''), 2 * 3_600_000);
  assert.deepEqual((await read('mainnet', 'day')).total, NONE, 'live and test never mix');
});

test('a sale that ended unpaid after a decline has failed; one called off has not', async () => {
  const before = (await read('testnet', 'week')).total;
  const [first] = await server.db.query<{ id: string }>(
    `select id from payment_intents where account_id = $1 and status = 'succeeded' limit 1`,
    [other.merchant.tenant.accountId],
  );
  const copy = async (changes: { readonly n: number; readonly error: string | null }) => {
    await server.db.query(
      `insert into payment_intents (id, account_id, livemode, position, created, amount,
         terminal_id, order_id, metadata, source, expires_at, status, canceled_at,
         cancellation_reason, last_payment_error)
       select 'pi_failed' || $2::text, account_id, livemode, -$2::int, created, amount, terminal_id,
         'fail' || $2::text, '{}', 'api', created, 'canceled', created, 'expired', $3::jsonb
       from payment_intents where id = $1`,
      [first?.id, changes.n, changes.error],
    );
  };
  await copy({ n: 1, error: '{"code": "payment_declined", "decline_code": "blocked"}' });
  await copy({ n: 2, error: null });
  // Of another period, because a result may be reused.
  const after = (await read('testnet', 'month')).total;
  assert.deepEqual([after.payments, after.failed], [before.payments, before.failed + 1]);
});
