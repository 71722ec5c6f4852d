import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRefusal } from '#core/answer.ts';
import { only } from '#core/assert.ts';
import { addMs } from '#core/clock.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { addEndpoint } from '#testkit/fixtures/webhooks/webhook-endpoints.ts';
import { writeTestEvents } from '#testkit/fixtures/webhooks/webhook-events.ts';
import {
  eventually,
  openBench,
  type WebhookBench,
  withNewAccount,
} from '#testkit/fixtures/webhooks/webhooks.ts';
import { storeDeliveryDays } from '#webhooks/count-deliveries-by-day.ts';
import { replayStep, startReplay } from '#webhooks/replay.ts';
import { retryDelivery } from '#webhooks/retry-delivery.ts';

/**
 * Whatever changes an endpoint's deliveries locks the endpoint before its days. If one of them did
 * so in the opposite order, two could deadlock, and PostgreSQL would end one after a second.
 */

const clock = new FakeClock();

const shared = openForTests(() => openBench({ clock }));

/** Adds an endpoint with one waiting delivery. */
async function addDelivery() {
  const bench = await withNewAccount(shared);
  const { endpoint } = await addEndpoint(bench, 'https://receiver.test/');
  await writeTestEvents(bench, 1);
  const rows = await bench.db.query<{ id: string }>(
    'select id from webhook_due where endpoint_id = $1',
    [endpoint.id],
  );
  const { id } = only(rows, 'delivery');
  const retry = () => retryDelivery(bench, bench.tenant, id, clock.now());
  return { bench, endpointId: endpoint.id, retry };
}

/** Waits until `count` transactions wait for locks. @returns the kinds of these locks. */
function waitsFor(bench: WebhookBench, count: number): Promise<string[]> {
  return eventually('transactions wait', async () => {
    const rows = await bench.db.query<{ wait_event: string }>(
      `select wait_event from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows.length < count ? undefined : rows.map((row) => row.wait_event);
  });
}

test('a batch of a replay never waits for the retry of a delivery that waits itself', async () => {
  const { bench, endpointId, retry } = await addDelivery();
  clock.advance(1_000);
  const input = { since: addMs(clock.now(), -10_000), until: null, types: null };
  await startReplay(bench, bench.tenant, endpointId, { input, now: clock.now() });
  let retried: ReturnType<typeof retry> | undefined;
  await bench.db.transaction(async (tx) => {
    // The retry waits for this lock, which lets the replay lock the endpoint.
    await tx.query('select from webhook_endpoints where id = $1 for key share', [endpointId]);
    retried = retry();
    await waitsFor(bench, 1);
    let isDone = false;
    replayStep(bench.db, clock.now()).then(
      () => {
        isDone = true;
      },
      () => {},
    );
    await eventually('the batch ends', async () => isDone || undefined);
  });
  assert.equal(isRefusal(await retried), false);
});

test('a retry never waits for the days of an endpoint that it has locked', async () => {
  const { bench, retry } = await addDelivery();
  const day = clock.now().toISOString().slice(0, 10);
  const request = {
    tenant: bench.tenant,
    shop: { timeZone: 'UTC', starts: [] },
    from: day,
    to: day,
  };
  let stored: Promise<void> | undefined;
  let retried: ReturnType<typeof retry> | undefined;
  await bench.db.transaction(async (tx) => {
    // Stops the count after it has locked the days, before it writes.
    await tx.query('lock table delivery_days in share mode');
    stored = storeDeliveryDays(bench.db, request, clock.now());
    assert.deepEqual(await waitsFor(bench, 1), ['relation']);
    retried = retry();
    const waits = await waitsFor(bench, 2);
    assert.equal(waits.includes('advisory'), false, waits.join());
  });
  await stored;
  assert.equal(isRefusal(await retried), false);
});
