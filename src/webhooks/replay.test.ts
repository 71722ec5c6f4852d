import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { isRefusal } from '#core/answer.ts';
import { addMs } from '#core/clock.ts';
import { accepted } from '#testkit/fixtures/core/accepted.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import {
  addEndpoint,
  dueOf,
  openReceivingAccount,
  setEndpointStatus,
} from '#testkit/fixtures/webhooks/webhook-endpoints.ts';
import { writeTestEvents } from '#testkit/fixtures/webhooks/webhook-events.ts';
import {
  eventually,
  openBench,
  type WebhookBench,
  withNewAccount,
} from '#testkit/fixtures/webhooks/webhooks.ts';
import type { TestReceiver } from '#testkit/network/webhook-receiver.ts';
import {
  expandTypes,
  getReplay,
  renderReplay,
  replayStep,
  type StartReplay,
  startReplay,
} from '#webhooks/replay.ts';

const clock = new FakeClock();

const shared = openForTests(() => openBench({ clock }));

interface Scene {
  readonly bench: WebhookBench;
  readonly receiver: TestReceiver;
  readonly endpointId: string;
  replay(input?: Partial<StartReplay>): ReturnType<typeof startReplay>;
  due(): Promise<number>;
}

async function scene(t: TestContext): Promise<Scene> {
  const { bench, receiver } = await openReceivingAccount(t, shared);
  const { endpoint } = await addEndpoint(bench, receiver.url);
  const all = { since: addMs(clock.now(), -1_000), until: null, types: null };
  return {
    bench,
    receiver,
    endpointId: endpoint.id,
    replay: (input = {}) =>
      startReplay(bench, bench.tenant, endpoint.id, {
        input: { ...all, ...input },
        now: clock.now(),
      }),
    due: () => dueOf(bench, endpoint.id),
  };
}

async function run(bench: WebhookBench): Promise<number> {
  let steps = 0;
  while ((await replayStep(bench.db, clock.now())).more) steps++;
  return steps;
}

describe('a replay', () => {
  test('sends every event of its period again, delivered or not, with the same ids', async (t) => {
    const { bench, receiver, endpointId, replay } = await scene(t);
    await writeTestEvents(bench, 3);
    const worker = bench.startWorker();
    const first = await receiver.waitFor(3);
    await eventually('recorded', async () => {
      const rows = await bench.db.query('select from webhook_deliveries where endpoint_id = $1', [
        endpointId,
      ]);
      return rows.length === 3;
    });
    // Writes the event while the endpoint is disabled, so that it gets no delivery.
    await setEndpointStatus(bench, endpointId, 'disabled');
    await writeTestEvents(bench, 2);
    await setEndpointStatus(bench, endpointId, 'enabled');
    clock.advance(1_000);
    const started = accepted(await replay());
    const all = await receiver.waitFor(8);
    await worker.stop();
    const again = all.slice(3);
    const key = ({ headers }: (typeof all)[number]) =>
      `${headers['service-event-id']} ${headers['service-delivery-id']}`;
    const repeated = again.filter((got) => first.map(key).includes(key(got)));
    assert.equal(repeated.length, 3);
    assert.ok(repeated.every(({ headers }) => headers['service-delivery-attempt'] === '2'));
    const others = again.filter((got) => !repeated.includes(got));
    assert.ok(others.every(({ headers }) => headers['service-delivery-attempt'] === '1'));
    const done = accepted(await getReplay(bench, bench.tenant, started.id));
    assert.equal(renderReplay(done).status, 'completed');
    assert.equal(renderReplay(done).events_queued, 5);
    const rows = await bench.db.query('select from webhook_deliveries where endpoint_id = $1', [
      endpointId,
    ]);
    assert.equal(rows.length, 5);
  });

  test('respects its period and its types', async (t) => {
    const { bench, endpointId, replay } = await scene(t);
    await bench.db.query('delete from webhook_due where endpoint_id = $1', [endpointId]);
    const begin = clock.now();
    for (const type of ['refund.created', 'payment.succeeded', 'refund.created'] as const) {
      clock.advance(1_000);
      await writeTestEvents(bench, 1, { type });
    }
    clock.advance(1_000);
    await bench.db.query('delete from webhook_due where endpoint_id = $1', [endpointId]);
    const span = { since: addMs(begin, 1_000), until: addMs(begin, 3_000) };
    await replay({ ...span, types: ['refund.*'] });
    await run(bench);
    const rows = await bench.db.query<{ event_type: string; event_created: Date }>(
      'select event_type, event_created from webhook_due where endpoint_id = $1',
      [endpointId],
    );
    // since is inclusive, until is exclusive.
    assert.deepEqual(
      rows.map((row) => [row.event_type, row.event_created]),
      [['refund.created', addMs(begin, 1_000)]],
    );
  });

  test('runs in batches, pauses behind a backlog, and resumes where it stopped', async (t) => {
    const { bench, endpointId, replay, due } = await scene(t);
    for (let i = 0; i < 6; i++) await writeTestEvents(bench, 1_000);
    await bench.db.query('delete from webhook_due where endpoint_id = $1', [endpointId]);
    clock.advance(1_000);
    const { id } = accepted(await replay());
    assert.equal(await run(bench), 10);
    assert.equal(await due(), 5_000);
    const half = accepted(await getReplay(bench, bench.tenant, id));
    assert.equal(half.status, 'running');
    await bench.db.query('delete from webhook_due where endpoint_id = $1', [endpointId]);
    await run(bench);
    assert.equal(await due(), 1_000);
    const done = accepted(await getReplay(bench, bench.tenant, id));
    assert.deepEqual([done.status, done.events_queued], ['completed', 6_000]);
  });

  test('leaves waiting deliveries alone', async (t) => {
    const { bench, replay, due } = await scene(t);
    await writeTestEvents(bench, 4);
    clock.advance(1_000);
    await replay();
    await run(bench);
    assert.equal(await due(), 4);
  });

  test('is processed by several workers at once without doing anything twice', async (t) => {
    const { bench, endpointId, replay, due } = await scene(t);
    await writeTestEvents(bench, 2_000);
    await bench.db.query('delete from webhook_due where endpoint_id = $1', [endpointId]);
    clock.advance(1_000);
    const { id } = accepted(await replay());
    await Promise.all([run(bench), run(bench), run(bench)]);
    await run(bench);
    assert.equal(await due(), 2_000);
    const done = accepted(await getReplay(bench, bench.tenant, id));
    assert.equal(done.events_queued, 2_000);
  });

  test('of another account, of a disabled endpoint or of an invalid time is refused', async (t) => {
    const { bench, endpointId, replay } = await scene(t);
    const now = clock.now();
    for (const input of [
      { since: now, until: null },
      { since: addMs(now, 1_000), until: null },
      { since: addMs(now, -1_000), until: addMs(now, -2_000) },
      { since: new Date(Number.NaN), until: null },
      { since: addMs(now, -1_000), until: null, types: ['payment.unknown'] },
    ]) {
      const refusal = await replay(input);
      assert.ok(isRefusal(refusal));
      assert.equal(refusal.code, 'parameter_invalid');
    }
    const other = (await withNewAccount(bench)).tenant;
    const input = { since: addMs(now, -1_000), until: null, types: null };
    const missing = await startReplay(bench, other, endpointId, { input, now });
    assert.ok(isRefusal(missing) && missing.code === 'resource_missing');
    await setEndpointStatus(bench, endpointId, 'disabled');
    const refusal = await replay();
    assert.ok(isRefusal(refusal) && refusal.param === 'id');
  });

  test('never resends a ping', () => {
    assert.equal(expandTypes(['*']).includes('ping'), false);
    assert.deepEqual(expandTypes(['ping']), []);
    assert.deepEqual(expandTypes(['terminal.*']), ['terminal.created', 'terminal.updated']);
  });
});
