import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { addEndpoint } from '#testkit/fixtures/webhooks/webhook-endpoints.ts';
import { writeTestEvents } from '#testkit/fixtures/webhooks/webhook-events.ts';
import {
  openBench,
  type WebhookBench,
  withNewAccount,
} from '#testkit/fixtures/webhooks/webhooks.ts';
import { type Answerer, startReceiver } from '#testkit/network/webhook-receiver.ts';
import { removeEndpoint } from '#webhooks/update-endpoint.ts';

/** The size of the backlog; the long run has more (test/long/budgets.test.ts). */
const BACKLOG = Number(process.env.WEBHOOK_BACKLOG ?? 20_000);
const PROBES = 60;

/** Queues this many deliveries for the account's endpoint without writing each event. */
async function fillBacklog(bench: WebhookBench, endpointId: string): Promise<void> {
  await writeTestEvents(bench);
  await bench.db.query(
    `insert into webhook_due
       (endpoint_id, event_created, event_position, id, account_id, livemode, event_id, event_type,
        created, updated, due_at)
     select d.endpoint_id, d.event_created, 1000000 + n, 'wdl_' || n, d.account_id, d.livemode,
       d.event_id, d.event_type, d.created, d.updated, d.due_at
     from webhook_due d cross join generate_series(1, $2) n where d.endpoint_id = $1`,
    [endpointId, BACKLOG - 1],
  );
}

/**
 * Measures the milliseconds from just before an event is written until it arrives, one event at a
 * time.
 */
async function measure(
  bench: WebhookBench,
  receiver: Awaited<ReturnType<typeof startReceiver>>,
): Promise<{ readonly p50: number; readonly p99: number }> {
  const took: number[] = [];
  const base = receiver.received.length;
  for (let n = 1; n <= PROBES; n++) {
    const started = performance.now();
    await writeTestEvents(bench);
    const all = await receiver.waitFor(base + n);
    took.push((all.at(-1)?.atMs ?? 0) - started);
  }
  took.sort((a, b) => a - b);
  return { p50: took[PROBES / 2] ?? 0, p99: took[PROBES - 1] ?? 0 };
}

describe('fairness', () => {
  let bench: WebhookBench;

  before(async () => {
    bench = await openBench();
    bench.startWorker();
  });
  after(() => bench.close());

  for (const [name, answer] of [
    ['never answers', () => {}],
    ['fails', (_got, response) => void response.writeHead(500).end()],
    ['responds as fast as it can', (_got, response) => void response.end()],
  ] as const satisfies readonly (readonly [string, Answerer])[]) {
    test(`${BACKLOG} deliveries for an endpoint that ${name} do not delay another's`, async (t) => {
      const [us, neighbor] = [await withNewAccount(bench), await withNewAccount(bench)];
      const [healthy, other] = [await startReceiver(), await startReceiver()];
      t.after(() => Promise.all([healthy.close(), other.close()]));
      other.answer(answer);
      await addEndpoint(us, healthy.url);
      const { endpoint } = await addEndpoint(neighbor, other.url);
      const before = await measure(us, healthy);
      await fillBacklog(neighbor, endpoint.id);
      bench.wakeups.send('deliveries');
      await other.waitFor(1);
      const during = await measure(us, healthy);
      t.diagnostic(`p50 ${before.p50.toFixed(1)} -> ${during.p50.toFixed(1)} ms`);
      t.diagnostic(`p99 ${before.p99.toFixed(1)} -> ${during.p99.toFixed(1)} ms`);
      await removeEndpoint(neighbor, neighbor.tenant, endpoint.id, bench.clock.now());
      // A generous limit, because other tests may run at the same time. Behind the others' backlog
      // the event would take many seconds.
      assert.ok(during.p50 < 250, `p50 ${before.p50} -> ${during.p50}`);
      assert.ok(during.p99 < 1_000, `p99 ${before.p99} -> ${during.p99}`);
    });
  }
});
