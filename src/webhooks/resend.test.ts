import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isRefusal } from '#core/answer.ts';
import { accepted } from '#testkit/fixtures/core/accepted.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { constructEvent } from '#testkit/fixtures/webhooks/stripe-webhooks.ts';
import {
  addEndpoint,
  deliveriesOf,
  openReceivingAccount,
  setEndpointStatus,
} from '#testkit/fixtures/webhooks/webhook-endpoints.ts';
import { writeTestEvents } from '#testkit/fixtures/webhooks/webhook-events.ts';
import { workerLooked } from '#testkit/fixtures/webhooks/webhook-looks.ts';
import { eventually, openBench, withNewAccount } from '#testkit/fixtures/webhooks/webhooks.ts';
import type { WebhookWorker } from '#webhooks/delivery-loops.ts';
import { selectDelivery } from '#webhooks/delivery-queries.ts';
import { renderDelivery } from '#webhooks/delivery-tables.ts';
import { selectEndpoint } from '#webhooks/endpoint-queries.ts';
import { retryDelivery } from '#webhooks/retry-delivery.ts';
import { sendTest } from '#webhooks/send-test.ts';

const clock = new FakeClock(new Date());
let worker: WebhookWorker;

const shared = openForTests(
  () => openBench({ clock }),
  async () => {
    worker = shared.startWorker();
  },
);

describe('the test of an endpoint', () => {
  test('sends a ping to it alone and returns the delivery', async (t) => {
    const { bench, receiver } = await openReceivingAccount(t, shared);
    const { endpoint, secret } = await addEndpoint(bench, `${receiver.url}/a`);
    await addEndpoint(bench, `${receiver.url}/b`);
    receiver.answer((_received, response) => void response.writeHead(202).end('pong'));
    const row = accepted(await sendTest(bench, bench.tenant, endpoint.id, clock));
    const delivery = renderDelivery(row);
    assert.equal(delivery.status, 'succeeded');
    assert.equal(delivery.response_status, 202);
    assert.equal(delivery.response_body, 'pong');
    assert.equal(delivery.attempt, 1);
    assert.equal(delivery.event_type, 'ping');
    const [got, ...more] = receiver.received;
    assert.ok(got);
    assert.equal(more.length, 0);
    assert.equal(got.headers['service-delivery-id'], delivery.id);
    const signature = String(got.headers['service-signature']);
    const event = constructEvent(got.body, signature, secret, 1e9);
    assert.equal(event.type as string, 'ping');
    assert.equal(event.id, delivery.event);
    const stored = await bench.db.query<{ body: string }>('select body from events where id = $1', [
      event.id,
    ]);
    assert.equal(stored[0]?.body, got.body.toString());
    const kept = await selectDelivery(bench.db, bench.tenant, row.id);
    assert.ok(kept !== undefined);
    assert.deepEqual(renderDelivery(kept), delivery);
  });

  test('that fails is not retried, and marks the endpoint as failing', async (t) => {
    const { bench, receiver } = await openReceivingAccount(t, shared);
    const { endpoint } = await addEndpoint(bench, receiver.url);
    receiver.answer((_received, response) => void response.writeHead(500).end());
    const row = accepted(await sendTest(bench, bench.tenant, endpoint.id, clock));
    assert.equal(row.status, 'failed');
    assert.equal(row.response_status, 500);
    assert.equal(row.next_attempt_at, null);
    const failing = async () =>
      (await selectEndpoint(bench.db, bench.tenant, endpoint.id))?.failing_since;
    assert.ok(await failing());
    clock.advance(60_000);
    worker.wake();
    await workerLooked(shared, worker);
    assert.equal(receiver.received.length, 1);
    receiver.answer((_received, response) => void response.end());
    accepted(await sendTest(bench, bench.tenant, endpoint.id, clock));
    assert.equal(await failing(), null);
  });

  test('works while the endpoint is disabled', async (t) => {
    const { bench, receiver } = await openReceivingAccount(t, shared);
    const { endpoint } = await addEndpoint(bench, receiver.url);
    await setEndpointStatus(bench, endpoint.id, 'disabled');
    const row = accepted(await sendTest(bench, bench.tenant, endpoint.id, clock));
    assert.equal(row.status, 'succeeded');
  });
});

describe('sending a delivery again', () => {
  test('works in any status, keeps its ids and continues the attempt count', async (t) => {
    const { bench, receiver } = await openReceivingAccount(t, shared);
    const { endpoint } = await addEndpoint(bench, receiver.url);
    await writeTestEvents(bench);
    const attempted = (attempt: number) =>
      eventually(`attempt ${attempt}`, async () => {
        const [row] = await deliveriesOf(bench, endpoint.id);
        return row?.attempt === attempt ? row : undefined;
      });
    const first = await attempted(1);
    assert.equal(first.status, 'succeeded');
    const pending = accepted(await retryDelivery(bench, bench.tenant, first.id, clock.now()));
    assert.equal(pending.id, first.id);
    assert.equal(pending.status, 'pending');
    assert.deepEqual(pending.next_attempt_at, clock.now());
    receiver.answer((_received, response) => void response.writeHead(500).end());
    await attempted(2);
    receiver.answer((_received, response) => void response.end());
    accepted(await retryDelivery(bench, bench.tenant, first.id, clock.now()));
    const last = await attempted(3);
    assert.equal(last.status, 'succeeded');
    assert.equal((await deliveriesOf(bench, endpoint.id)).length, 1);
    const headers = receiver.received.map((got) => got.headers);
    assert.deepEqual(
      headers.map((each) => each['service-delivery-attempt']),
      ['1', '2', '3'],
    );
    assert.equal(new Set(headers.map((each) => each['service-delivery-id'])).size, 1);
  });

  test('is sent at once even while the endpoint is broken and others wait', async (t) => {
    const { bench, receiver } = await openReceivingAccount(t, shared);
    const { endpoint } = await addEndpoint(bench, receiver.url);
    receiver.answer((_received, response) => void response.writeHead(500).end());
    await writeTestEvents(bench, 30);
    await receiver.waitFor(5);
    await workerLooked(shared, worker);
    const sent = receiver.received.length;
    const rows = await deliveriesOf(bench, endpoint.id);
    const waiting = rows.find((row) => row.attempt === 0);
    assert.ok(waiting);
    accepted(await retryDelivery(bench, bench.tenant, waiting.id, clock.now()));
    const got = (await receiver.waitFor(sent + 1)).at(-1);
    assert.equal(got?.headers['service-delivery-id'], waiting.id);
  });

  test('is refused for a disabled endpoint, and for one that does not exist', async (t) => {
    const { bench, receiver } = await openReceivingAccount(t, shared);
    const { endpoint } = await addEndpoint(bench, receiver.url);
    const row = accepted(await sendTest(bench, bench.tenant, endpoint.id, clock));
    await setEndpointStatus(bench, endpoint.id, 'disabled');
    const refusal = await retryDelivery(bench, bench.tenant, row.id, clock.now());
    assert.ok(isRefusal(refusal) && refusal.code === 'parameter_invalid');
    const other = (await withNewAccount(bench)).tenant;
    const missing = await retryDelivery(bench, other, row.id, clock.now());
    assert.ok(isRefusal(missing) && missing.code === 'resource_missing');
  });
});

describe('the list of deliveries', () => {
  test('pages all of them once, newest event first, in every status', async (t) => {
    const { bench, receiver } = await openReceivingAccount(t, shared);
    const { endpoint } = await addEndpoint(bench, receiver.url);
    let requests = 0;
    receiver.answer((_received, response) => {
      response.writeHead(requests++ % 3 === 0 ? 500 : 200).end();
    });
    await writeTestEvents(bench, 25);
    await eventually('all tried', async () => {
      const rows = await deliveriesOf(bench, endpoint.id);
      return rows.length === 25 && rows.every((row) => row.attempt > 0);
    });
    const seen: bigint[] = [];
    let after: { created: Date; position: bigint } | null = null;
    for (;;) {
      const rows = await deliveriesOf(bench, endpoint.id, { limit: 4, after });
      const shown = rows.slice(0, 4);
      seen.push(...shown.map((row) => row.event_position));
      const last = shown.at(-1);
      if (rows.length <= 4 || last === undefined) break;
      after = { created: last.event_created, position: last.event_position };
    }
    const newestFirst = [...new Set(seen)].sort((a, b) => Number(b - a));
    assert.equal(seen.length, 25);
    assert.deepEqual(seen, newestFirst);
    const counts = await Promise.all(
      (['pending', 'succeeded', 'failed'] as const).map(
        async (status) => (await deliveriesOf(bench, endpoint.id, { status })).length,
      ),
    );
    assert.equal(
      counts.reduce((sum, count) => sum + count, 0),
      25,
    );
    assert.ok((counts[0] ?? 0) > 0 && (counts[1] ?? 0) > 0 && counts[2] === 0);
  });
});
