import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTestIntent, startTestApi, type TestApi } from '#testkit/apis/api.ts';
import { addTestPayment, keepRefunding } from '#testkit/apis/api-objects.ts';

let api: TestApi;
let other: string;
let stopChain: () => Promise<void>;

before(async () => {
  api = await startTestApi();
  other = await api.addNode();
  const chain = keepRefunding(api);
  stopChain = () => chain.stop();
});

after(async () => {
  await stopChain();
  await api.close();
});

interface Raced {
  readonly status: number;
  readonly replayed: boolean;
  readonly text: string;
}

/** Sends the same request `times` times in parallel, alternating between both nodes. */
async function race(
  path: string,
  body: object | null,
  key: string,
  times: number,
): Promise<Raced[]> {
  const send = async (url: string): Promise<Raced> => {
    const response = await fetch(`${url}/api${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${api.merchant.test.key}`,
        'idempotency-key': key,
        ...(body === null ? {} : { 'content-type': 'application/json' }),
      },
      body: body === null ? null : JSON.stringify(body),
    });
    const replayed = response.headers.get('idempotent-replayed') === 'true';
    return { status: response.status, replayed, text: await response.text() };
  };
  return Promise.all(Array.from({ length: times }, (_, i) => send(i % 2 === 0 ? api.url : other)));
}

/** Checks that one request ran, and that the others got its response or an "in progress" error. */
function assertOnce(raced: readonly Raced[], status: number): void {
  const ran = raced.filter((one) => one.status === status && !one.replayed);
  assert.equal(ran.length, 1, JSON.stringify(raced.map((one) => [one.status, one.replayed])));
  for (const one of raced) {
    if (one === ran[0]) continue;
    if (one.status === 409) assert.match(one.text, /idempotency_request_in_progress/);
    else assert.deepEqual([one.status, one.replayed, one.text], [status, true, ran[0]?.text]);
  }
}

test('50 racing creates with one key over two nodes make one intent', async () => {
  const { terminal } = api.merchant.test;
  for (let round = 0; round < 5; round++) {
    const key = randomUUID();
    const order = `R-${round}`;
    const raced = await race(
      '/v1/payment_intents',
      { amount: 1, terminal, order_id: order },
      key,
      50,
    );
    assertOnce(raced, 201);
    const rows = await api.db.query('select id from payment_intents where order_id = $1', [order]);
    assert.equal(rows.length, 1);
    const events = await api.db.query(
      `select e.id from events e join payment_intents i on i.id = e.object_id
       where i.order_id = $1`,
      [order],
    );
    assert.equal(events.length, 1);
  }
});

test('50 racing cancels with one key over two nodes cancel once', async () => {
  const { id } = await createTestIntent(api);
  assertOnce(await race(`/v1/payment_intents/${id}/cancel`, null, randomUUID(), 50), 200);
  const events = await api.db.query(
    `select id from events where object_id = $1 and type = 'payment_intent.canceled'`,
    [id],
  );
  assert.equal(events.length, 1);
});

test('50 racing refunds with one key over two nodes pay back once', async () => {
  const payment = await addTestPayment(api.db, api.merchant.test);
  const body = { payment: payment.id, amount: 1_000_000 };
  assertOnce(await race('/v1/refunds', body, randomUUID(), 50), 201);
  const rows = await api.db.query('select id from refunds where payment_id = $1', [payment.id]);
  assert.equal(rows.length, 1);
});

test('50 racing creates with one order_id and different keys make one intent', async () => {
  const { terminal } = api.merchant.test;
  const raced = await Promise.all(
    Array.from({ length: 50 }, () =>
      race('/v1/payment_intents', { amount: 1, terminal, order_id: 'one' }, randomUUID(), 1),
    ),
  );
  const statuses = raced.flat().map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 201).length, 1);
  assert.equal(statuses.filter((status) => status === 409).length, 49);
});

test('a key that is revoked on one node is refused by all of them within a second', async () => {
  const { id, secret } = await api.addKey(api.merchant.test.tenant);
  const status = async (url: string) =>
    (await fetch(`${url}/api/v1/terminals`, { headers: { authorization: `Bearer ${secret}` } }))
      .status;
  assert.deepEqual([await status(api.url), await status(other)], [200, 200]);
  await api.db.query('update api_keys set revoked_at = now() where id = $1', [id]);
  await sleep(1_000);
  assert.deepEqual([await status(api.url), await status(other)], [401, 401]);
});

test('an Idempotency-Key belongs to the account and mode, not to one API key', async () => {
  const { tenant, terminal } = api.merchant.test;
  const second = await api.addKey(tenant);
  const call = {
    path: '/v1/payment_intents',
    idempotencyKey: randomUUID(),
    body: { amount: 3, terminal },
  };
  const first = await api.call(call);
  const again = await api.call({ ...call, key: second.secret });
  assert.equal(again.text, first.text);
  const live = {
    ...call,
    key: api.merchant.live.key,
    body: { amount: 3, terminal: api.merchant.live.terminal },
  };
  assert.equal((await api.call(live)).status, 201);
});
