import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { addMs } from '#core/clock.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { underWay } from '#testkit/fixtures/core/open-transactions.ts';
import { addEndpoint } from '#testkit/fixtures/webhooks/webhook-endpoints.ts';
import { writeTestEvents } from '#testkit/fixtures/webhooks/webhook-events.ts';
import { openBench } from '#testkit/fixtures/webhooks/webhooks.ts';
import {
  claimEndpoints,
  fetchDue,
  type LeasedRow,
  recordResults,
} from '#webhooks/delivery-queue-queries.ts';

let ids: string[] = [];
let now: Date;

const bench = openForTests(openBench);
beforeEach(async () => {
  await bench.db.query('delete from webhook_due');
  const made = [
    await addEndpoint(bench, 'http://127.0.0.1:8081/'),
    await addEndpoint(bench, 'http://127.0.0.1:8082/'),
  ];
  ids = made.map(({ endpoint }) => endpoint.id);
  await writeTestEvents(bench);
  now = addMs(bench.clock.now(), 1_000);
});

/**
 * Disables an endpoint without ending its deliveries, which is the state that a worker sees if it
 * reads the endpoint before its deliveries are ended.
 */
async function disableSecond(): Promise<void> {
  await bench.db.query(
    `update webhook_endpoints set status = 'disabled', disabled_reason = 'gone' where id = $1`,
    [ids[1]],
  );
}

async function claim(): Promise<LeasedRow[]> {
  const leased = await claimEndpoints(bench.db, {
    ...{ owner: 'worker', now, leaseUntil: addMs(now, 9_000), after: '' },
    limits: { healthy: 8, failing: 8 },
  });
  return leased.filter((row) => ids.includes(row.endpoint_id));
}

const fetchAll = () =>
  fetchDue(
    bench.db,
    ids.map((endpointId) => ({ endpointId, most: 8, held: [] })),
    now,
  );

test('a disabled endpoint is not leased, whatever is due', async () => {
  await disableSecond();
  assert.deepEqual(
    (await claim()).map((row) => row.endpoint_id),
    [ids[0]],
  );
});

test('an endpoint that another worker is about to lease is skipped', async () => {
  const other = await underWay(bench.db, (tx) =>
    tx.query(
      `update webhook_endpoint_leases set lease_owner = 'other', lease_until = $2
       where endpoint_id = $1`,
      [ids[0], addMs(now, 9_000)],
    ),
  );
  const leased = await claim();
  await other.commit();
  assert.deepEqual(
    leased.map((row) => row.endpoint_id),
    [ids[1]],
  );
});

test('an endpoint that is disabled after it was leased gets nothing more', async () => {
  assert.equal((await claim()).length, 2);
  await disableSecond();
  assert.deepEqual(
    (await fetchAll()).map((row) => row.endpoint_id),
    [ids[0]],
  );
});

test('each endpoint is failing since its own first failure', async () => {
  const leased = await claim();
  const tokenOf = new Map(leased.map((row) => [row.endpoint_id, row.fencing_token]));
  const results = (await fetchAll()).map((row) => ({
    endpoint_id: row.endpoint_id,
    fencing_token: tokenOf.get(row.endpoint_id) ?? 0n,
    event_created: row.event_created,
    event_position: row.event_position,
    status: 'pending' as const,
    attempt: 1,
    finished: now,
    response_status: 500,
    response_body: null,
    error: null,
    duration_ms: 1,
    next_attempt_at: addMs(now, 5_000),
  }));
  const since = [now, addMs(now, -60_000)];
  const health = ids.map((endpoint_id, index) => ({
    endpoint_id,
    fencing_token: tokenOf.get(endpoint_id) ?? 0n,
    consecutive_failures: 1,
    not_before: null,
    failing_since: since[index] ?? null,
  }));
  assert.equal((await recordResults(bench.db, results, health)).size, 0);
  const rows = await bench.db.query<{ failing_since: Date }>(
    `select failing_since from webhook_endpoints where id = any($1::text[])
     order by array_position($1::text[], id)`,
    [ids],
  );
  assert.deepEqual(
    rows.map((row) => row.failing_since),
    since,
  );
});
