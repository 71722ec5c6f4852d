import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { present } from '#core/assert.ts';
import { idTime } from '#core/ids.ts';
import {
  type RequestRow,
  selectRequest,
  selectRequests,
} from '#request-log/request-log-queries.ts';
import { createTestIntent, startTestApi } from '#testkit/apis/api.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';

const api = openForTests(startTestApi);

const NO_FILTERS = {
  status: null,
  failed: false,
  byServers: false,
  operation: null,
  callerId: null,
  objectId: null,
  createdGte: null,
  createdLt: null,
};

async function logged(requestId: string): Promise<RequestRow> {
  const created = present(idTime('request', requestId), 'time of a request id');
  for (let tries = 0; tries < 40; tries++) {
    const named = { id: requestId, created };
    const row = await selectRequest(api.db, api.merchant.test.tenant, named);
    if (row !== null) return row;
    await sleep(50);
  }
  throw new Error('the request was not logged');
}

test('each answered request is logged with its caller, action, time and result', async () => {
  const { id } = await createTestIntent(api);
  const read = await api.call({
    path: `/v1/payment_intents/${id}`,
    headers: { 'user-agent': 'shop/1.0' },
  });
  const row = await logged(read.headers['request-id'] ?? '');
  assert.equal(row.operation, 'retrievePaymentIntent');
  assert.equal(row.method, 'GET');
  assert.equal(row.path, `/api/v1/payment_intents/${id}`);
  assert.equal(row.status, 200);
  assert.equal(row.object_id, id);
  assert.equal(row.caller_id, api.merchant.test.keyId);
  assert.equal(row.user_agent, 'shop/1.0');
  assert.equal(row.code, null);
  assert.ok(row.duration_ms > 0 && row.duration_ms < 10_000);
});

test('a change is found by the object that it created, a failure by its status', async () => {
  const { id } = await createTestIntent(api);
  const refused = await api.call({ path: '/v1/payment_intents', body: { amount: 0 } });
  await logged(refused.headers['request-id'] ?? '');
  const { tenant } = api.merchant.test;
  const find = (filters: object) =>
    selectRequests(
      api.db,
      { tenant, filters: { ...NO_FILTERS, ...filters } },
      { limit: 10, after: null },
    );
  assert.deepEqual(
    (await find({ objectId: id })).map(({ operation, status }) => [operation, status]),
    [['createPaymentIntent', 201]],
  );
  const failures = await find({ failed: true, operation: 'createPaymentIntent' });
  assert.deepEqual(
    failures.map(({ status, code }) => [status, code]),
    [[400, 'idempotency_key_required']],
  );
});

test('a NUL in a path is a missing object, and loses no line of the log', async () => {
  const other = await api.addMerchant();
  const [first, broken, last] = await Promise.all([
    api.call({ path: '/v1/terminals' }),
    api.call({ path: '/v1/payment_intents/%00', key: other.test.key }),
    api.call({ path: '/v1/balance' }),
  ]);
  assert.deepEqual([broken.status, broken.body.error.code], [404, 'resource_missing']);
  for (const { headers } of [first, last]) await logged(headers['request-id'] ?? '');
});

test('pages of the log are consecutive, and another account has its own log', async () => {
  const other = await api.addMerchant();
  for (let i = 0; i < 5; i++) await api.call({ path: '/v1/terminals', key: other.test.key });
  const last = await api.call({ path: '/v1/payments', key: other.test.key });
  const { tenant } = other.test;
  const created = present(idTime('request', last.headers['request-id'] ?? ''), 'time');
  while (
    (await selectRequest(api.db, tenant, { id: last.headers['request-id'] ?? '', created })) ===
    null
  ) {
    await sleep(50);
  }
  const seen: string[] = [];
  let after: { created: Date; id: string } | null = null;
  for (;;) {
    const search = { tenant, filters: NO_FILTERS };
    const rows: RequestRow[] = await selectRequests(api.db, search, { limit: 2, after });
    seen.push(...rows.slice(0, 2).map(({ id }) => id));
    after = rows[1] ?? null;
    if (rows.length < 3) break;
  }
  assert.equal(seen.length, 6);
  assert.equal(new Set(seen).size, 6);
});

test('a secret in a path or header is not stored', async () => {
  const { key } = api.merchant.test;
  const answered = await api.call({
    path: `/v1/idempotency_keys/${key}`,
    headers: { 'user-agent': `agent ${key}`, 'x-note': 'tab\\there' },
  });
  const row = await logged(answered.headers['request-id'] ?? '');
  assert.equal(row.path, '/api/v1/idempotency_keys/tlsk_test_…');
  assert.equal(row.user_agent, 'agent tlsk_test_…');
});

test('characters special to COPY are stored as they were sent', async () => {
  const agent = 'back\\slash \\N \\. tab\there';
  const answered = await api.call({ path: '/v1/terminals', headers: { 'user-agent': agent } });
  const row = await logged(answered.headers['request-id'] ?? '');
  assert.equal(row.user_agent, agent);
});
