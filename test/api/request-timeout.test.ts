import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Caller, Reply } from '#testkit/apis/api-client.ts';
import { keepRefunding } from '#testkit/apis/api-objects.ts';
import { errorCodeOf } from '#testkit/apis/error-code.ts';
import { type StoreServer, serveStore } from '#testkit/apis/store-server.ts';
import { openStore, type TestStore } from '#testkit/fixtures/payments/store.ts';
import { addPayment } from '#testkit/fixtures/payments/store-payments.ts';

/**
 * Replaces the service's limit of 30 s. The requests below wait for a lock, so all of them exceed
 * it.
 */
const TIME_LIMIT_MS = 400;
/** Allows for a busy machine. Once the lock is free, the work takes milliseconds. */
const WORK_LIMIT_MS = 20_000;

let store: TestStore;
let server: StoreServer;
let merchant: Caller;

before(async () => {
  store = await openStore();
  server = await serveStore(store, { timeLimitMs: TIME_LIMIT_MS });
  merchant = await server.merchant();
});

after(async () => {
  await server.close();
  await store.close();
});

/** Holds the account's order lock, for which every change of a listed object waits. */
async function holdAccount(): Promise<{ release(): Promise<void> }> {
  const { accountId, livemode } = store.merchant.tenant;
  const holder = await store.db.connect();
  await holder.query('begin');
  await holder.query(
    'select 1 from account_modes where account_id = $1 and livemode = $2 for update',
    [accountId, livemode],
  );
  return {
    release: async () => {
      await holder.query('rollback');
      await holder.end();
    },
  };
}

/** Waits until the request has stored its response, although its client has disconnected. */
async function untilStored(key: string): Promise<void> {
  const end = performance.now() + WORK_LIMIT_MS;
  for (;;) {
    const rows = await store.db.query(
      `select from idempotency_keys where key = $1 and status = 'completed'`,
      [key],
    );
    if (rows.length === 1) return;
    assert.ok(performance.now() < end, 'the work did not go on after the answer');
    await sleep(10);
  }
}

function assertTimedOut(reply: Reply): void {
  assert.deepEqual([reply.status, errorCodeOf(reply.body)], [503, 'request_timeout']);
  assert.equal(reply.headers.get('idempotent-replayed'), null);
}

function assertStillRuns(reply: Reply): void {
  assert.deepEqual(
    [reply.status, errorCodeOf(reply.body)],
    [409, 'idempotency_request_in_progress'],
  );
}

/** Repeats a request while the process that ran it may still report the request as in progress. */
async function untilDone(send: () => Promise<Reply>): Promise<Reply> {
  const until = performance.now() + 5_000;
  for (;;) {
    const reply = await send();
    if (reply.status !== 409 || performance.now() > until) return reply;
    await sleep(10);
  }
}

/**
 * Sends a request that times out, repeats it while it runs, and checks that a later repeat gets the
 * stored response.
 */
async function timeOutAndRetry(send: () => Promise<Reply>, key: string): Promise<Reply> {
  const account = await holdAccount();
  try {
    assertTimedOut(await send());
    assertStillRuns(await send());
  } finally {
    await account.release();
  }
  await untilStored(key);
  const retry = await untilDone(send);
  assert.equal(retry.status, 201, JSON.stringify(retry.body));
  assert.equal(retry.headers.get('idempotent-replayed'), 'true');
  assert.deepEqual((await send()).body, retry.body);
  return retry;
}

async function eventsOf(objectId: unknown, type: string): Promise<number> {
  const values = [objectId, type];
  return (await store.db.query('select from events where object_id = $1 and type = $2', values))
    .length;
}

test('a create that timed out continues, and its retry gets the real response', async () => {
  const key = randomUUID();
  const body = { amount: 2_500_000, terminal: store.terminalId, order_id: 'LATE-1' };
  const retry = await timeOutAndRetry(() => merchant.post('/payment_intents', body, key), key);
  assert.equal(retry.body.status, 'requires_payment_method');
  const intents = await store.db.query<{ id: string }>(
    'select id from payment_intents where order_id = $1',
    [body.order_id],
  );
  assert.deepEqual(
    intents.map(({ id }) => id),
    [retry.body.id],
  );
  assert.equal(await eventsOf(retry.body.id, 'payment_intent.created'), 1);
  const read = await merchant.get(`/payment_intents/${retry.body.id}`);
  assert.deepEqual(read.body, retry.body);
});

test('a refund that timed out continues, and refunds once', async () => {
  const payment = await addPayment(store, 1_000);
  const chain = keepRefunding(store);
  try {
    const key = randomUUID();
    const body = { payment: payment.id, amount: 400 };
    const retry = await timeOutAndRetry(() => merchant.post('/refunds', body, key), key);
    assert.equal(retry.body.status, 'succeeded');
    const refunds = await store.db.query<{ id: string }>(
      'select id from refunds where payment_id = $1',
      [payment.id],
    );
    assert.deepEqual(
      refunds.map(({ id }) => id),
      [retry.body.id],
    );
    assert.equal(await eventsOf(retry.body.id, 'refund.succeeded'), 1);
    const { body: read } = await merchant.get(`/payments/${payment.id}`);
    assert.equal(read.amount_refunded, 400);
  } finally {
    await chain.stop();
  }
});

test('until the chain has a result, a retry gets "still running"', async () => {
  const payment = await addPayment(store, 1_000);
  const key = randomUUID();
  const send = () => merchant.post('/refunds', { payment: payment.id }, key);
  assertTimedOut(await send());
  assertStillRuns(await send());
  const chain = keepRefunding(store);
  try {
    await untilStored(key);
    const retry = await untilDone(send);
    assert.deepEqual([retry.status, retry.body.status], [201, 'succeeded']);
    assert.equal(retry.headers.get('idempotent-replayed'), 'true');
  } finally {
    await chain.stop();
  }
});
