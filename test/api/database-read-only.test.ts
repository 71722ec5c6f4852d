import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTestIntent, startTestApi } from '#testkit/apis/api.ts';
import { addTestPayment } from '#testkit/apis/api-objects.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';

const api = openForTests(startTestApi);

/** Makes new connections read-only, as on a replica, and closes the existing ones. */
async function setReadOnly(isReadOnly: boolean): Promise<void> {
  const name = new URL(api.databaseUrl).pathname.slice(1);
  const client = await api.db.connect();
  await client.query('set default_transaction_read_only = off');
  await client.query(`alter database ${name} set default_transaction_read_only = ${isReadOnly}`);
  await client.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = $1 and pid <> pg_backend_pid()`,
    [name],
  );
  await client.end();
  await sleep(200); // Lets the server notice that its connections have closed.
}

test('during a failover, changes are refused with 503, and reads continue', async () => {
  const intent = await createTestIntent(api);
  const payment = await addTestPayment(api.db, api.merchant.test);
  const { terminal } = api.merchant.test;
  const changes = {
    create: () => ({ path: '/v1/payment_intents', body: { amount: 7, terminal } }),
    cancel: () => ({ path: `/v1/payment_intents/${intent.id}/cancel`, body: {} }),
    refund: () => ({ path: '/v1/refunds', body: { payment: payment.id, amount: 1 } }),
    endpoint: () => ({
      path: '/v1/webhook_endpoints',
      body: { url: 'https://example.com/hook', enabled_events: ['*'] },
    }),
  };
  await setReadOnly(true);
  for (const [name, change] of Object.entries(changes)) {
    for (let round = 0; round < 3; round++) {
      const { status, body } = await api.call({ ...change(), idempotencyKey: randomUUID() });
      assert.deepEqual([name, status, body.error?.code], [name, 503, 'service_unavailable']);
    }
  }
  assert.equal((await api.call({ path: `/v1/payment_intents/${intent.id}` })).status, 200);
  await setReadOnly(false);
  const created = await api.call({ ...changes.create(), idempotencyKey: randomUUID() });
  assert.equal(created.status, 201, created.text);
  const rows = await api.db.query('select from payment_intents where amount = 7');
  assert.equal(rows.length, 1);
});
