import assert from 'node:assert/strict';
import { once } from 'node:events';
import { beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '#core/clock.ts';
import type { Database } from '#db/database.ts';
import { eventStreams, type Following } from '#events/event-streams.ts';
import { EventBatch, StreamReader } from '#events/stream-reader.ts';
import { silentLog } from '#observability/log.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { writeTestEvents } from '#testkit/fixtures/webhooks/webhook-events.ts';
import {
  openBench,
  type WebhookBench,
  withNewAccount,
} from '#testkit/fixtures/webhooks/webhooks.ts';

let bench: WebhookBench;
let statements = 0;

/** Returns the bench's database and counts its statements. */
const counting = (): Database => ({
  ...shared.db,
  query: (text, values) => {
    statements++;
    return shared.db.query(text, values);
  },
});

const shared = openForTests(openBench, async () => {
  shared.db.carryHints(shared.wakeups.send);
});
beforeEach(async () => {
  bench = await withNewAccount(shared);
});

interface Followed {
  readonly reader: StreamReader;
  /** Returns the ids of the received events, in the order of arrival. */
  readonly ids: () => string[];
  readonly gone: AbortController;
}

function streams() {
  const { wakeups } = shared;
  const made = eventStreams({ db: counting(), wakeups, clock: systemClock, log: silentLog });
  return async (changes: Partial<Following> = {}): Promise<Followed> => {
    const gone = new AbortController();
    const { tenant } = bench;
    const following = { tenant, after: null, types: null, gone: gone.signal, ...changes };
    const reader = await made.follow(following);
    let text = '';
    reader.stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    return {
      reader,
      gone,
      ids: () => [...text.matchAll(/^id: (.*)$/gm)].map(([, id]) => id ?? ''),
    };
  };
}

async function untilHeard({ ids }: Followed, count: number): Promise<string[]> {
  const end = performance.now() + 5_000;
  while (ids().length < count && performance.now() < end) await sleep(5);
  assert.equal(ids().length, count);
  return ids();
}

test('a hundred streams of an account share one read', async () => {
  const follow = streams();
  const all = await Promise.all(Array.from({ length: 100 }, () => follow()));
  await sleep(100);
  statements = 0;
  const begun = performance.now();
  for (let i = 0; i < 5; i++) await writeTestEvents(bench, 3);
  const heard = await Promise.all(all.map((one) => untilHeard(one, 15)));
  for (const ids of heard) assert.deepEqual(ids, heard[0]);
  const polls = Math.ceil((performance.now() - begun) / 1000);
  // Allows two reads per write (the second finds nothing) and two per poll.
  assert.ok(statements <= 10 + 2 * polls, `${statements} statements`);
  for (const { gone } of all) gone.abort();
});

test('an account gets only its own events; its reader stops with its last stream', async () => {
  const follow = streams();
  const [mine, other] = [await follow(), await withNewAccount(shared)];
  await writeTestEvents(other, 2);
  await writeTestEvents(bench, 1);
  await untilHeard(mine, 1);
  mine.gone.abort();
  await once(mine.reader.stream, 'close');
  statements = 0;
  await writeTestEvents(bench, 1);
  // A running reader would poll each second, so real time must pass.
  await sleep(1_200);
  assert.equal(statements, 0);
  const again = await follow();
  await writeTestEvents(bench, 1);
  await untilHeard(again, 1);
  again.gone.abort();
});

test('a stream that starts in the past catches up without gaps or repeats', async () => {
  const follow = streams();
  const live = await follow();
  const before = live.reader.at;
  const writing = (async () => {
    for (let i = 0; i < 60; i++) await writeTestEvents(bench, 10);
  })();
  await sleep(20);
  const late = await Promise.all([1, 2, 3].map(() => follow({ after: before })));
  await writing;
  const expected = await untilHeard(live, 600);
  for (const one of late) assert.deepEqual(await untilHeard(one, 600), expected);
  assert.equal(new Set(expected).size, 600);
  for (const { gone } of [live, ...late]) gone.abort();
});

test('a batch that was read before the stream had caught up repeats nothing', async () => {
  const created = new Date('2026-11-23T12:00:00Z');
  const event = (position: bigint) => {
    const id = `evt_${position}`;
    return { id, type: 'payment.succeeded', body: '{}', created, position };
  };
  const [first, second, third] = [event(1n), event(2n), event(3n)] as const;
  const start = { created, position: 0n };
  const reader = new StreamReader(start, null);
  // The reader has already read two events; the feed's batch for the other streams has only the
  // first.
  reader.give(new EventBatch(start, [first, second]));
  reader.give(new EventBatch(start, [first]));
  reader.give(new EventBatch(first, [second, third]));
  reader.end();
  let text = '';
  for await (const chunk of reader.stream) text += chunk;
  const ids = [...text.matchAll(/^id: (.*)$/gm)].map(([, id]) => id);
  assert.deepEqual(ids, ['evt_1', 'evt_2', 'evt_3']);
});

test('when the process ends, a stream ends after the events already written to it', async () => {
  const follow = streams();
  const one = await follow();
  await writeTestEvents(bench, 5);
  await untilHeard(one, 5);
  const ended = once(one.reader.stream, 'end');
  one.gone.abort();
  await ended;
});
