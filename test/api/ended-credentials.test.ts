import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { deviceSurface } from '#apis/device/device-routes.ts';
import { merchantSurface } from '#app/merchant-surface.ts';
import { hashSecret, newSecret } from '#core/bearer-secrets.ts';
import { anySurface } from '#http/route.ts';
import { startTestApi } from '#testkit/apis/api.ts';
import { addTestPayment } from '#testkit/apis/api-objects.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';

/** Two nodes that do not notify each other, so each relies on its cache of key rows. */
let nodes: string[];

const api = openForTests(
  () =>
    startTestApi({
      surfaces: (ctx) => [anySurface(merchantSurface(ctx)), anySurface(deviceSurface(ctx))],
    }),
  async () => {
    nodes = [api.url, await api.addNode()];
  },
);

interface Asked {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: object;
}

async function ask(node: string, secret: string, { method, path, body }: Asked) {
  const response = await fetch(`${node}/api${path}`, {
    method,
    headers: {
      authorization: `Bearer ${secret}`,
      'idempotency-key': randomUUID(),
      'content-type': 'application/json',
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as { id?: string; error?: { code: string } };
  return { status: response.status, id: answer.id, code: answer.error?.code };
}

/** Makes each node cache the key. */
async function warmUp(secret: string, path: string): Promise<void> {
  for (const node of nodes) {
    assert.equal((await ask(node, secret, { method: 'GET', path })).status, 200);
  }
}

async function addDevice(): Promise<string> {
  const secret = newSecret('deviceKeyTest');
  await api.db.query(
    'insert into device_keys (hash, terminal_id, created) values ($1, $2, now())',
    [hashSecret(secret), api.merchant.test.terminal],
  );
  return secret;
}

/** Counts the objects that must not be created. */
async function counts() {
  return api.db.query(
    `select (select count(*) from payment_intents) as intents,
       (select count(*) from payment_intents where tapped_at is not null) as tapped,
       (select count(*) from refunds) as refunds,
       (select count(*) from webhook_endpoints) as endpoints,
       (select count(*) from payment_intents where status = 'canceled') as canceled`,
  );
}

const terminal = () => api.merchant.test.terminal;

async function intentId(): Promise<string> {
  const body = { amount: 5, terminal: terminal() };
  const request = { method: 'POST', path: '/v1/payment_intents', body } as const;
  const created = await ask(api.url, api.merchant.test.key, request);
  assert.equal(created.status, 201);
  return created.id ?? '';
}

async function merchantChanges(): Promise<Asked[]> {
  const intent = await intentId();
  const payment = await addTestPayment(api.db, api.merchant.test);
  const changes = {
    '/v1/payment_intents': { amount: 5, terminal: terminal() },
    [`/v1/payment_intents/${intent}/confirm`]: { agent_token: newSecret('agentToken') },
    [`/v1/payment_intents/${intent}/cancel`]: {},
    '/v1/refunds': { payment: payment.id, amount: 1 },
    '/v1/webhook_endpoints': { url: 'https://example.com/hook', enabled_events: ['*'] },
    [`/v1/test_helpers/terminals/${terminal()}/tap`]: { payment_intent: intent },
  };
  return Object.entries(changes).map(([path, body]) => ({ method: 'POST', path, body }));
}

async function deviceChanges(): Promise<Asked[]> {
  const intent = await intentId();
  const payment = await addTestPayment(api.db, api.merchant.test);
  const credential = { type: 'nfc_id', value: newSecret('pass') };
  const changes = {
    '/device/v1/payment_intents': { amount: 5 },
    [`/device/v1/payment_intents/${intent}/tap`]: { credential },
    [`/device/v1/payment_intents/${intent}/cancel`]: {},
    '/device/v1/refunds': { payment: payment.id, amount: 1 },
  };
  return Object.entries(changes).map(([path, body]) => ({ method: 'POST', path, body }));
}

/** Checks that both nodes refuse every change with this error code and create nothing. */
async function assertRefused(secret: string, changes: readonly Asked[], code: string) {
  const before = await counts();
  for (const node of nodes) {
    // Sends all changes in parallel, so that the key's row is still cached for each of them.
    const answers = await Promise.all(changes.map((change) => ask(node, secret, change)));
    assert.deepEqual(
      answers.map((answer, index) => [changes[index]?.path, answer.code]),
      changes.map(({ path }) => [path, code]),
    );
  }
  assert.deepEqual(await counts(), before);
}

test('a revoked key changes nothing from the next request on, on any node', async () => {
  const { id, secret } = await api.addKey(api.merchant.test.tenant);
  const changes = await merchantChanges();
  await warmUp(secret, '/v1/terminals');
  await api.db.query('update api_keys set revoked_at = now() where id = $1', [id]);
  await assertRefused(secret, changes, 'api_key_revoked');
});

test('a rotated key changes nothing from the end of its overlap on', async () => {
  const { id, secret } = await api.addKey(api.merchant.test.tenant);
  const changes = await merchantChanges();
  await warmUp(secret, '/v1/terminals');
  const overlap = `update api_keys set expires_at = now() + interval '300 ms' where id = $1`;
  await api.db.query(overlap, [id]);
  const [create] = changes;
  assert.ok(create !== undefined);
  assert.equal((await ask(nodes[1] ?? '', secret, create)).status, 201);
  await warmUp(secret, '/v1/terminals');
  await sleep(300);
  await assertRefused(secret, changes, 'api_key_expired');
});

test('after a device is paired again, its old key changes nothing, on any node', async () => {
  const secret = await addDevice();
  const changes = await deviceChanges();
  await warmUp(secret, '/device/v1/terminal');
  const hash = hashSecret(secret);
  await api.db.query('update device_keys set revoked_at = now() where hash = $1', [hash]);
  await assertRefused(secret, changes, 'api_key_revoked');
});

test('a deactivated terminal creates, charges and refunds nothing', async () => {
  const secret = await addDevice();
  const changes = (await deviceChanges()).filter(({ path }) => !path.endsWith('/cancel'));
  await warmUp(secret, '/device/v1/terminal');
  const setStatus = `update terminals set status = $2 where id = $1`;
  await api.db.query(setStatus, [terminal(), 'inactive']);
  await assertRefused(secret, changes, 'terminal_inactive');
  await api.db.query(setStatus, [terminal(), 'active']);
});

test('an ended key in the same batch does not delay a valid one', async () => {
  const ended = await api.addKey(api.merchant.test.tenant);
  await warmUp(ended.secret, '/v1/terminals');
  await api.db.query('update api_keys set revoked_at = now() where id = $1', [ended.id]);
  const body = { amount: 5, terminal: terminal() };
  const create = { method: 'POST', path: '/v1/payment_intents', body } as const;
  const secrets = Array.from({ length: 20 }, (_, i) =>
    i % 2 === 0 ? ended.secret : api.merchant.test.key,
  );
  const answers = await Promise.all(secrets.map((secret) => ask(api.url, secret, create)));
  assert.deepEqual(
    answers.map(({ status }) => status),
    secrets.map((secret) => (secret === ended.secret ? 401 : 201)),
  );
});
