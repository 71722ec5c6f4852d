import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { newSecret } from '#core/bearer-secrets.ts';
import { addMs } from '#core/clock.ts';
import { constructEvent } from '#testkit/fixtures/webhooks/stripe-webhooks.ts';
import { addEndpoint, deliveriesOf } from '#testkit/fixtures/webhooks/webhook-endpoints.ts';
import { drainDeliveries, writeTestEvents } from '#testkit/fixtures/webhooks/webhook-events.ts';
import {
  eventually,
  openBench,
  type WebhookBench,
  withNewAccount,
} from '#testkit/fixtures/webhooks/webhooks.ts';
import { startReceiver, type TestReceiver } from '#testkit/network/webhook-receiver.ts';
import type { WebhookWorker } from '#webhooks/delivery-loops.ts';
import { claimEndpoints, fetchDue, recordResults } from '#webhooks/delivery-queue-queries.ts';
import type { DeliveryStatus } from '#webhooks/delivery-tables.ts';

const WORKER_PROCESS = path.join(
  import.meta.dirname,
  '../../testkit/fixtures/webhooks/webhook-worker-process.ts',
);

let shared: WebhookBench;

before(async () => {
  shared = await openBench();
});
after(() => shared.close());

interface Scene {
  readonly bench: WebhookBench;
  readonly receiver: TestReceiver;
  readonly endpointId: string;
  readonly secret: string;
  count(status: DeliveryStatus): Promise<number>;
}

async function scene(t: TestContext): Promise<Scene> {
  const bench = await withNewAccount(shared);
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const { endpoint, secret } = await addEndpoint(bench, `${receiver.url}/hook?a=1`);
  const count = async (status: DeliveryStatus) =>
    (await deliveriesOf(bench, endpoint.id, { status, limit: 5_000 })).length;
  return { bench, receiver, endpointId: endpoint.id, secret, count };
}

/**
 * Starts a worker that ends with the test, so that workers of different tests do not share
 * endpoints.
 */
function startWorker(t: TestContext): WebhookWorker {
  const worker = shared.startWorker();
  t.after(() => worker.stop());
  return worker;
}

describe('a delivery', () => {
  test('carries the stored event byte for byte, signed in both forms', async (t) => {
    const { bench, receiver, secret, endpointId } = await scene(t);
    startWorker(t);
    await writeTestEvents(bench);
    const [got] = await receiver.waitFor(1);
    assert.ok(got);
    const [stored] = await bench.db.query<{ id: string; body: string }>(
      'select id, body from events where account_id = $1',
      [bench.tenant.accountId],
    );
    assert.ok(stored);
    assert.equal(got.body.toString(), stored.body);
    assert.equal(got.method, 'POST');
    assert.equal(got.path, '/hook?a=1');
    assert.equal(got.headers['content-type'], 'application/json; charset=utf-8');
    assert.equal(got.headers['service-event-id'], stored.id);
    assert.equal(got.headers['service-event-type'], 'terminal.created');
    assert.equal(got.headers['service-delivery-attempt'], '1');
    assert.match(String(got.headers['service-delivery-id']), /^wdl_[0-9A-Za-z]{22}$/);

    const signature = String(got.headers['service-signature']);
    assert.equal(constructEvent(got.body, signature, secret).id, stored.id);
    const headers = got.headers as Record<string, string>;
    assert.deepEqual(
      new Webhook(secret).verify(got.body.toString(), headers),
      JSON.parse(stored.body),
    );

    const delivered = await eventually('recorded', async () => {
      return (await deliveriesOf(bench, endpointId, { status: 'succeeded' }))[0];
    });
    assert.equal(delivered.id, got.headers['service-delivery-id']);
    assert.equal(delivered.response_status, 200);
    assert.equal(delivered.response_body, 'ok');
    assert.equal(delivered.error, null);
    assert.equal(delivered.attempt, 1);
  });

  test('stores no part of a response that looks like a secret', async (t) => {
    const { bench, receiver, secret, endpointId } = await scene(t);
    const key = newSecret('apiKeyLive');
    receiver.answer((_received, response) => {
      response.writeHead(500).end(`config: {"key": "${key}", "signing": "${secret}"}`);
    });
    startWorker(t);
    await writeTestEvents(bench);
    const attempt = await eventually('recorded', async () => {
      const rows = await bench.db.query<{ row: string; response_body: string }>(
        `select to_jsonb(a)::text as row, response_body from webhook_attempts a
         where endpoint_id = $1`,
        [endpointId],
      );
      return rows[0];
    });
    assert.equal(attempt.response_body, 'config: {"key": "tlsk_live_…", "signing": "whsec_…"}');
    for (const kept of [key, secret]) assert.ok(!attempt.row.includes(kept.slice(-20)));
  });

  test('is one of at most eight in flight per endpoint, with any number of workers', async (t) => {
    const { bench, receiver, count } = await scene(t);
    let inFlight = 0;
    let most = 0;
    receiver.answer(async (_received, response) => {
      inFlight++;
      most = Math.max(most, inFlight);
      await new Promise((resolve) => setTimeout(resolve, 5));
      inFlight--;
      response.end();
    });
    for (let i = 0; i < 3; i++) startWorker(t);
    await writeTestEvents(bench, 300);
    await eventually('all delivered', async () => (await count('succeeded')) === 300);
    assert.equal(most, 8);
    assert.equal(receiver.received.length, 300);
  });

  test('is made once by several workers that share many endpoints', async (t) => {
    const { bench, receiver } = await scene(t);
    for (let i = 0; i < 9; i++) await addEndpoint(bench, `${receiver.url}/${i}`);
    const workers = [1, 2, 3].map(() => startWorker(t));
    for (let i = 0; i < 10; i++) await writeTestEvents(bench, 20);
    await receiver.waitFor(2_000, 30_000);
    await drainDeliveries(bench);
    // Waits for requests in flight.
    await Promise.all(workers.map((worker) => worker.stop()));
    const ids = receiver.received.map(({ headers }) => headers['service-delivery-id']);
    assert.equal(new Set(ids).size, 2_000);
    assert.equal(ids.length, 2_000);
  });
});

describe('a worker', () => {
  test('killed while delivering is replaced within 30 s, with the same delivery ids', async (t) => {
    const { bench, receiver, count } = await scene(t);
    let killed = false;
    receiver.answer((_received, response) => {
      if (killed) response.end('ok');
    });
    const key = bench.keys.webhook.toString('hex');
    const child = fork(WORKER_PROCESS, [bench.url, key]);
    t.after(() => child.kill('SIGKILL'));
    await once(child, 'message');
    await writeTestEvents(bench, 2);
    const first = await receiver.waitFor(2);
    child.kill('SIGKILL');
    await once(child, 'exit');
    killed = true;
    const at = performance.now();
    startWorker(t);
    const all = await receiver.waitFor(4, 30_000);
    assert.ok(performance.now() - at < 30_000);
    const idsOf = (received: typeof all) =>
      received
        .map(({ headers }) => `${headers['service-event-id']} ${headers['service-delivery-id']}`)
        .sort();
    assert.deepEqual(idsOf(all.slice(2)), idsOf(first));
    await eventually('recorded', async () => (await count('succeeded')) === 2);
  });

  test('that stops lets its deliveries finish and hands over its endpoints at once', async (t) => {
    const { bench, receiver, count } = await scene(t);
    receiver.answer((_received, response) => void setTimeout(() => response.end(), 200));
    const first = shared.startWorker();
    await writeTestEvents(bench, 20);
    await receiver.waitFor(8);
    await first.stop();
    assert.equal(await count('succeeded'), receiver.received.length);
    assert.ok(receiver.received.length < 20);
    receiver.answer((_received, response) => void response.end());
    const at = performance.now();
    startWorker(t);
    await eventually('the rest', async () => (await count('succeeded')) === 20);
    assert.ok(performance.now() - at < 3_000);
    assert.equal(receiver.received.length, 20);
  });

  test('that returns after its lease has expired changes nothing', async (t) => {
    const { bench, endpointId, count } = await scene(t);
    await writeTestEvents(bench, 2);
    const now = bench.clock.now();
    const claim = (owner: string, at: Date) =>
      claimEndpoints(bench.db, {
        owner,
        now: at,
        leaseUntil: addMs(at, 20_000),
        after: '',
        limits: { healthy: 100, failing: 100 },
      });
    const mine = (await claim('slow', now)).find((row) => row.endpoint_id === endpointId);
    assert.ok(mine);
    assert.equal((await claim('other', now)).length, 0);
    const asks = [{ endpointId, most: 10, held: [] }];
    const rows = await fetchDue(bench.db, asks, now);
    assert.equal(rows.length, 2);
    const later = addMs(now, 21_000);
    const theirs = (await claim('other', later)).find((row) => row.endpoint_id === endpointId);
    assert.ok(theirs && theirs.fencing_token > mine.fencing_token);

    const resultOf = (fencingToken: bigint, row: (typeof rows)[number]) => ({
      endpoint_id: endpointId,
      fencing_token: fencingToken,
      event_created: row.event_created,
      event_position: row.event_position,
      status: 'succeeded' as const,
      attempt: 1,
      finished: later,
      response_status: 200,
      response_body: null,
      error: null,
      duration_ms: 1,
      next_attempt_at: null,
    });
    const broken = {
      endpoint_id: endpointId,
      fencing_token: mine.fencing_token,
      consecutive_failures: 9,
      not_before: later,
      failing_since: later,
    };
    const stale = await recordResults(
      bench.db,
      rows.map((row) => resultOf(mine.fencing_token, row)),
      [broken],
    );
    assert.deepEqual([...stale], [endpointId]);
    assert.equal(await count('pending'), 2);
    const [state] = await bench.db.query<{ consecutive_failures: number }>(
      'select consecutive_failures from webhook_endpoint_leases where endpoint_id = $1',
      [endpointId],
    );
    assert.equal(state?.consecutive_failures, 0);
    const fresh = await recordResults(
      bench.db,
      rows.map((row) => resultOf(theirs.fencing_token, row)),
      [],
    );
    assert.equal(fresh.size, 0);
    assert.equal(await count('succeeded'), 2);
  });

  test('that cannot decrypt one endpoint still serves the others', async (t) => {
    const { bench, receiver, endpointId } = await scene(t);
    const { endpoint } = await addEndpoint(bench, `${receiver.url}/locked`);
    const values = [endpoint.id, Buffer.alloc(64)];
    await bench.db.query('update webhook_endpoints set secret = $2 where id = $1', values);
    startWorker(t);
    await writeTestEvents(bench, 3);
    await receiver.waitFor(3);
    assert.ok(receiver.received.every(({ path }) => path === '/hook?a=1'));
    const waiting = await bench.db.query<{ endpoint_id: string }>(
      'select endpoint_id from webhook_due where account_id = $1',
      [bench.tenant.accountId],
    );
    const locked = waiting.filter((row) => row.endpoint_id !== endpointId);
    assert.equal(locked.length, 3);
  });

  test('whose database connections break keeps sending, and records the results', async (t) => {
    const { bench, receiver, count } = await scene(t);
    startWorker(t);
    receiver.answer((_received, response) => void setTimeout(() => response.end(), 3));
    await writeTestEvents(bench, 400);
    for (let i = 0; i < 5; i++) {
      await receiver.waitFor(20 + i * 40);
      await bench.db
        .query(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = current_database() and pid <> pg_backend_pid()`,
        )
        .catch(() => {});
    }
    await eventually('all delivered', async () => (await count('succeeded')) === 400, 20_000);
    const ids = receiver.received.map(({ headers }) => headers['service-delivery-id']);
    assert.equal(new Set(ids).size, 400);
  });
});
