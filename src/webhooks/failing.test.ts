import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { DAY_MS } from '#core/durations.ts';
import type { Tx } from '#db/database.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import {
  addEndpoint,
  deliveriesOf,
  dueOf,
  openReceivingAccount,
  setEndpointStatus,
} from '#testkit/fixtures/webhooks/webhook-endpoints.ts';
import { writeTestEvents } from '#testkit/fixtures/webhooks/webhook-events.ts';
import { leaseGivenBack, workerLooked } from '#testkit/fixtures/webhooks/webhook-looks.ts';
import { eventually, openBench, type WebhookBench } from '#testkit/fixtures/webhooks/webhooks.ts';
import {
  type Answerer,
  startReceiver,
  type TestReceiver,
} from '#testkit/network/webhook-receiver.ts';
import type { WebhookWorker } from '#webhooks/delivery-loops.ts';
import type { DeliveryRow, DeliveryStatus } from '#webhooks/delivery-tables.ts';
import { selectEndpoint } from '#webhooks/endpoint-queries.ts';
import { disableLongFailing } from '#webhooks/housekeeping.ts';
import { RETRY_DELAYS_MS } from '#webhooks/retry-schedule.ts';
import { removeEndpoint } from '#webhooks/update-endpoint.ts';

interface Scene {
  readonly bench: WebhookBench;
  readonly receiver: TestReceiver;
  readonly endpointId: string;
  list(status?: DeliveryStatus): Promise<DeliveryRow[]>;
  /** Advances the clock and lets the worker poll. */
  later(ms: number): void;
  failingSince(): Promise<Date | null>;
}

const clock = new FakeClock();
const names: Record<string, string[]> = {};
let shared: WebhookBench;
let worker: WebhookWorker;

before(async () => {
  const resolve = async (host: string) => names[host] ?? ['127.0.0.1'];
  shared = await openBench({ clock, resolver: { resolve } });
  worker = shared.startWorker();
});
after(() => shared.close());

async function scene(t: TestContext): Promise<Scene> {
  const { bench, receiver } = await openReceivingAccount(t, shared);
  const { endpoint } = await addEndpoint(bench, receiver.url);
  return {
    bench,
    receiver,
    endpointId: endpoint.id,
    list: (status) => deliveriesOf(bench, endpoint.id, status && { status }),
    later: (ms) => {
      clock.advance(ms);
      worker.wake();
    },
    failingSince: async () =>
      (await selectEndpoint(bench.db, bench.tenant, endpoint.id))?.failing_since ?? null,
  };
}

const answerStatus =
  (status: number): Answerer =>
  (_received, response) =>
    void response.writeHead(status).end(`status ${status}`);

/** Waits until the only delivery has had this many attempts, and returns it. */
function attempted({ list }: Scene, attempts: number): Promise<DeliveryRow> {
  return eventually(`attempt ${attempts}`, async () => {
    const [row] = await list();
    return row?.attempt === attempts ? row : undefined;
  });
}

const looked = () => workerLooked(shared, worker);

describe('a failing endpoint', () => {
  test('gets 12 attempts on schedule with one id, then the delivery has failed', async (t) => {
    const s = await scene(t);
    s.receiver.answer(answerStatus(500));
    await writeTestEvents(s.bench);
    for (const [index, delay] of RETRY_DELAYS_MS.entries()) {
      const row = await attempted(s, index + 1);
      assert.equal(row.status, 'pending');
      assert.equal(row.response_status, 500);
      assert.equal(row.error, 'status_not_2xx');
      const wait = (row.next_attempt_at?.getTime() ?? 0) - clock.now().getTime();
      assert.ok(wait >= delay * 0.79 && wait <= delay * 1.21, `${index}: ${wait}`);
      s.later(wait + 1);
    }
    const last = await attempted(s, 12);
    assert.equal(last.status, 'failed');
    assert.equal(last.next_attempt_at, null);
    await leaseGivenBack(s.bench, s.endpointId);
    s.later(10 * DAY_MS);
    await looked();
    const got = s.receiver.received;
    assert.equal(got.length, 12);
    assert.deepEqual(
      got.map(({ headers }) => headers['service-delivery-attempt']),
      Array.from({ length: 12 }, (_, index) => String(index + 1)),
    );
    assert.equal(new Set(got.map(({ headers }) => headers['service-delivery-id'])).size, 1);
    // Each attempt is signed again.
    assert.equal(new Set(got.map(({ headers }) => headers['service-signature'])).size, 12);
    const attempts = await s.bench.db.query<{ attempt: number; response_body: string }>(
      `select attempt, response_body from webhook_attempts
       where endpoint_id = $1 and event_created = $2 and event_position = $3 order by attempt`,
      [last.endpoint_id, last.event_created, last.event_position],
    );
    assert.deepEqual(
      attempts.map(({ attempt, response_body }) => [attempt, response_body]),
      Array.from({ length: 12 }, (_, index) => [index + 1, 'status 500']),
    );
  });

  test('carries failing_since from the first failure to the next success', async (t) => {
    const s = await scene(t);
    await writeTestEvents(s.bench);
    await attempted(s, 1);
    assert.equal(await s.failingSince(), null);
    s.receiver.answer(answerStatus(503));
    const failedAt = clock.now();
    await writeTestEvents(s.bench);
    const since = await eventually('failing', async () => (await s.failingSince()) ?? undefined);
    assert.deepEqual(since, failedAt);
    s.receiver.answer(answerStatus(204));
    s.later(7_000);
    await eventually('healed', async () => (await s.failingSince()) === null);
    assert.equal((await s.list('succeeded')).length, 2);
  });

  test('that is broken gets one probe at a time, and all the rest once it responds', async (t) => {
    const s = await scene(t);
    s.receiver.answer(answerStatus(500));
    await writeTestEvents(s.bench, 60);
    await s.receiver.waitFor(5);
    await looked();
    const first = s.receiver.received.length;
    // Tolerates at most the requests that were in flight when the receiver broke.
    assert.ok(first >= 5 && first <= 13, `${first}`);
    for (let probe = 1; probe <= 3; probe++) {
      s.later(6_000 + probe * 1_000);
      await s.receiver.waitFor(first + probe);
      await looked();
      assert.equal(s.receiver.received.length, first + probe);
    }
    s.receiver.answer(answerStatus(200));
    s.later(60_000);
    await eventually('all delivered', async () => (await s.list('succeeded')).length === 60);
    assert.equal(await s.failingSince(), null);
  });

  test('that sends Retry-After gets no request for that time', async (t) => {
    const s = await scene(t);
    s.receiver.answer((_received, response) => {
      response.writeHead(429, { 'retry-after': '120' }).end();
    });
    await writeTestEvents(s.bench);
    const row = await attempted(s, 1);
    assert.equal((row.next_attempt_at?.getTime() ?? 0) - row.updated.getTime(), 120_000);
    s.receiver.answer(answerStatus(200));
    await writeTestEvents(s.bench);
    await leaseGivenBack(s.bench, s.endpointId);
    s.later(60_000);
    await looked();
    assert.equal(s.receiver.received.length, 1);
    s.later(61_000);
    await eventually('both', async () => (await s.list('succeeded')).length === 2);
  });

  test('that returns 410 is disabled at once, and the other endpoints get the event', async (t) => {
    const s = await scene(t);
    const other = await startReceiver();
    t.after(() => other.close());
    const enabledEvents = ['webhook_endpoint.*'];
    await addEndpoint(s.bench, other.url, { enabledEvents });
    s.receiver.answer(answerStatus(410));
    await writeTestEvents(s.bench);
    const [told] = await other.waitFor(1);
    const event = JSON.parse(String(told?.body));
    assert.equal(event.type, 'webhook_endpoint.disabled');
    assert.equal(event.data.object.id, s.endpointId);
    assert.equal(event.data.object.status, 'disabled');
    assert.equal(event.data.object.disabled_reason, 'gone');
    assert.equal(event.data.object.secret, undefined);
    const [row] = await s.list();
    assert.equal(row?.status, 'failed');
    await writeTestEvents(s.bench, 5);
    s.later(60_000);
    await looked();
    assert.equal(s.receiver.received.length, 1);
  });

  test('without success for five days is disabled, and its waiting deliveries fail', async (t) => {
    const s = await scene(t);
    s.receiver.answer(answerStatus(500));
    await writeTestEvents(s.bench, 3);
    await eventually('failing', async () => (await s.failingSince()) ?? undefined);
    clock.advance(5 * DAY_MS - 60_000);
    assert.deepEqual(await disableLongFailing(s.bench), []);
    clock.advance(120_000);
    const told: string[] = [];
    const notifyDisabled = async (tx: Tx, { endpointId }: { readonly endpointId: string }) => {
      // Runs in the transaction that disables the endpoint, so both commit together.
      assert.ok(tx.inTransaction);
      told.push(endpointId);
    };
    const [notice, ...more] = await disableLongFailing(s.bench, notifyDisabled);
    assert.deepEqual(told, [s.endpointId]);
    assert.equal(notice?.endpointId, s.endpointId);
    assert.equal(notice?.reason, 'persistent_failure');
    assert.equal(more.length, 0);
    const row = await selectEndpoint(s.bench.db, s.bench.tenant, s.endpointId);
    assert.equal(row?.status, 'disabled');
    assert.equal(row?.disabled_reason, 'persistent_failure');
    assert.equal((await s.list('failed')).length, 3);
    assert.equal((await s.list('pending')).length, 0);
    assert.deepEqual(await disableLongFailing(s.bench), []);
  });

  test('that is enabled again starts without failures', async (t) => {
    const s = await scene(t);
    s.receiver.answer(answerStatus(500));
    await writeTestEvents(s.bench);
    await attempted(s, 1);
    clock.advance(6 * DAY_MS);
    await disableLongFailing(s.bench);
    s.receiver.answer(answerStatus(200));
    await setEndpointStatus(s.bench, s.endpointId, 'enabled');
    assert.equal(await s.failingSince(), null);
    assert.deepEqual(await disableLongFailing(s.bench), []);
    await writeTestEvents(s.bench);
    await eventually('delivered', async () => (await s.list('succeeded')).length === 1);
  });

  for (const way of ['deleted', 'disabled'] as const) {
    test(`${way} between two attempts gets no further request`, async (t) => {
      const s = await scene(t);
      s.receiver.answer(answerStatus(500));
      await writeTestEvents(s.bench);
      await attempted(s, 1);
      if (way === 'deleted') {
        await removeEndpoint(s.bench, s.bench.tenant, s.endpointId, clock.now());
      } else {
        await setEndpointStatus(s.bench, s.endpointId, 'disabled');
      }
      s.later(60_000);
      await looked();
      assert.equal(s.receiver.received.length, 1);
      assert.equal(await dueOf(s.bench, s.endpointId), 0);
      assert.deepEqual(
        (await s.list()).map((row) => [row.status, row.error]),
        way === 'deleted' ? [] : [['failed', 'endpoint_disabled']],
      );
    });
  }

  test('deleted or disabled while a request is in flight ignores its late response', async (t) => {
    const s = await scene(t);
    let answer: () => void = () => {};
    s.receiver.answer((_received, response) => {
      answer = () => response.end('late');
    });
    await writeTestEvents(s.bench);
    await s.receiver.waitFor(1);
    await removeEndpoint(s.bench, s.bench.tenant, s.endpointId, clock.now());
    answer();
    await looked();
    const recorded = 'select from webhook_deliveries where endpoint_id = $1';
    assert.deepEqual(await s.bench.db.query(recorded, [s.endpointId]), []);
    assert.equal(await dueOf(s.bench, s.endpointId), 0);
  });

  test('gets no further attempt of an event that is past its retention', async (t) => {
    const s = await scene(t);
    s.receiver.answer(answerStatus(500));
    await writeTestEvents(s.bench);
    await attempted(s, 1);
    await s.bench.db.query('delete from events where account_id = $1', [s.bench.tenant.accountId]);
    s.later(7_000);
    const row = await attempted(s, 2);
    assert.equal(row.status, 'failed');
    assert.equal(row.error, 'event_expired');
    assert.equal(s.receiver.received.length, 1);
  });

  test('whose name changes to a private address gets no connection at all', async (t) => {
    const { bench, receiver, endpointId } = await scene(t);
    await removeEndpoint(bench, bench.tenant, endpointId, clock.now());
    const { endpoint } = await addEndpoint(bench, `http://rebind.example:${receiver.port}/`, {
      enabledEvents: ['refund.created'],
    });
    names['rebind.example'] = ['10.0.0.1', '127.0.0.1'];
    await writeTestEvents(bench, 1, { type: 'refund.created' });
    const row = await eventually('refused', async () => {
      const [result] = await deliveriesOf(bench, endpoint.id);
      return result?.attempt === 1 ? result : undefined;
    });
    assert.equal(row.error, 'address_refused');
    assert.equal(row.response_status, null);
    assert.equal(receiver.connections(), 0);
  });
});
