import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DAY_MS } from '#core/durations.ts';
import { maintainPartitions, RETENTION_DAYS } from '#events/event-retention.ts';
import { selectPartitions } from '#events/partition-queries.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { addEndpoint } from '#testkit/fixtures/webhooks/webhook-endpoints.ts';
import { writeTestEvents } from '#testkit/fixtures/webhooks/webhook-events.ts';
import { openBench, type WebhookBench } from '#testkit/fixtures/webhooks/webhooks.ts';

async function count(bench: WebhookBench, table: string): Promise<number> {
  return (await bench.db.query(`select from ${table}`)).length;
}

/** Leaves out the partitions of other folders' tables, which follow the same rules. */
const ours = (names: readonly string[]) => names.filter((name) => /^(events|webhook)_/.test(name));

describe('retention', () => {
  const clock = new FakeClock(new Date('2027-01-30T23:00:00.000Z'));

  const bench = openForTests(() => openBench({ clock }));

  test('partitions are made a week ahead, filled, and dropped with their rows', async () => {
    await addEndpoint(bench, 'http://127.0.0.1:8080/');
    await writeTestEvents(bench);

    const first = await maintainPartitions(bench.db, clock.now());
    assert.equal(ours(first.created).length, 3 * 7);
    assert.ok(first.created.includes('events_20270131'));
    assert.ok(first.created.includes('webhook_deliveries_20270206'));
    assert.deepEqual(await maintainPartitions(bench.db, clock.now()), { created: [], dropped: [] });

    clock.advance(DAY_MS);
    await writeTestEvents(bench, 3);
    assert.equal(await count(bench, 'events_20270131'), 3);
    assert.equal(await count(bench, 'events_default'), 1);
    assert.equal(await count(bench, 'webhook_due'), 4);

    const dropped = new Set<string>();
    for (let day = 0; day < RETENTION_DAYS - 1; day++) {
      clock.advance(DAY_MS);
      for (const name of (await maintainPartitions(bench.db, clock.now())).dropped) {
        dropped.add(name);
      }
    }
    assert.equal(dropped.size, 0);
    assert.equal(await count(bench, 'events'), 4);

    clock.advance(2 * 3_600_000);
    await maintainPartitions(bench.db, clock.now());
    // The first event was in the default partition; the three others are 30 days old.
    assert.equal(await count(bench, 'events'), 3);
    clock.advance(DAY_MS);
    const last = await maintainPartitions(bench.db, clock.now());
    assert.deepEqual(ours(last.dropped), [
      'events_20270131',
      'webhook_deliveries_20270131',
      'webhook_attempts_20270131',
    ]);
    assert.equal(await count(bench, 'events'), 0);
    assert.equal(await count(bench, 'webhook_due'), 0);
    const left = await selectPartitions(bench.db, 'events');
    assert.equal(left[0], 'events_20270201');
  });

  test('two workers that maintain at once create each partition once', async () => {
    clock.advance(60 * DAY_MS);
    const made = await Promise.all([
      maintainPartitions(bench.db, clock.now()),
      maintainPartitions(bench.db, clock.now()),
    ]);
    await maintainPartitions(bench.db, clock.now());
    const names = made.flatMap(({ created }) => created);
    assert.equal(new Set(names).size, names.length);
    const partitions = await selectPartitions(bench.db, 'events');
    assert.equal(partitions.length, 7 + 1);
  });

  test('writers continue while partitions are created', async () => {
    clock.advance(60 * DAY_MS);
    let done = false;
    let written = 0;
    const writing = (async () => {
      while (!done) {
        await writeTestEvents(bench);
        written++;
      }
    })();
    await maintainPartitions(bench.db, clock.now());
    done = true;
    await writing;
    assert.ok(written > 0);
    assert.equal(await count(bench, 'events'), written);
    assert.equal((await selectPartitions(bench.db, 'events')).length, 7 + 1);
  });
});
