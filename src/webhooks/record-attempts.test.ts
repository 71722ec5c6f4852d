import assert from 'node:assert/strict';
import { test } from 'node:test';
import { only } from '#core/assert.ts';
import { addMs } from '#core/clock.ts';
import { type Database, DatabaseUnavailable } from '#db/database.ts';
import { silentLog } from '#observability/log.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { addEndpoint } from '#testkit/fixtures/webhooks/webhook-endpoints.ts';
import { writeTestEvents } from '#testkit/fixtures/webhooks/webhook-events.ts';
import { openBench } from '#testkit/fixtures/webhooks/webhooks.ts';
import { openTarget } from '#webhooks/attempt-delivery.ts';
import { claimEndpoints, fetchDue } from '#webhooks/delivery-queue-queries.ts';
import { openSession } from '#webhooks/endpoint-session.ts';
import { createRecorder, type Finished } from '#webhooks/record-attempts.ts';

const bench = openForTests(openBench);

/** Returns a delivery that its receiver has accepted, and whose result is not recorded yet. */
async function delivered(): Promise<Finished> {
  const { endpoint } = await addEndpoint(bench, 'http://127.0.0.1:8081/');
  await writeTestEvents(bench);
  const now = addMs(bench.clock.now(), 1_000);
  const lease = { owner: 'worker', now, leaseUntil: addMs(now, 9_000), after: '' };
  const limits = { healthy: 8, failing: 8 };
  const leased = only(await claimEndpoints(bench.db, { ...lease, limits }), 'endpoint');
  const due = await fetchDue(bench.db, [{ endpointId: endpoint.id, most: 1, held: [] }], now);
  const health = { consecutiveFailures: 0, failingSince: null, notBefore: null, window: 1 };
  const target = openTarget(endpoint.id, leased, {
    secretKey: bench.keys.webhook,
    network: bench.outside.webhooks,
  });
  const answer = { succeeded: true, responseStatus: 200, responseBody: '', error: null };
  return {
    session: openSession({
      endpointId: endpoint.id,
      fencingToken: leased.fencing_token,
      target,
      health,
    }),
    row: only(due, 'delivery'),
    result: { ...answer, durationMs: 1, finished: now, retryAfterMs: null },
    health,
    status: 'succeeded',
    nextAttemptAt: null,
  };
}

test('a result is kept while the database is unreachable, and recorded afterwards', async () => {
  let tries = 0;
  const transaction: Database['transaction'] = async (work) => {
    tries++;
    if (tries === 1) throw new DatabaseUnavailable('away');
    return bench.db.transaction(work);
  };
  const recorder = createRecorder({ ...bench.db, transaction }, silentLog);
  assert.equal(await recorder.record(await delivered()), 'recorded');
  assert.equal(tries, 2);
});
