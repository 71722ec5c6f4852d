import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createWaitingRoom } from '#db/waiting-room.ts';
import { localWakeups } from '#db/wakeups.ts';

const LONG = 10_000;

/** Rows that are kept in memory, and a room to wait for them. */
function openRoom(pollMs = LONG) {
  const rows = new Map<string, number>();
  const wakeups = localWakeups();
  const reads: (readonly string[])[] = [];
  const read = async (keys: readonly string[]) => {
    reads.push(keys);
    await sleep(1);
    return new Map(rows);
  };
  const room = createWaitingRoom<number>({ wakeups, topic: 'row', read, pollMs });
  return { rows, wakeups, reads, room };
}

const isTwo = (item: number | undefined) => item === 2;

test('a row that is accepted at once is not waited for', async () => {
  const { rows, reads, room } = openRoom();
  rows.set('a', 2);
  assert.equal(await room.wait('a', { accept: isTwo, waitMs: LONG }), 2);
  assert.equal(reads.length, 1);
});

test('a wake-up ends the wait as soon as the row is accepted', async () => {
  const { rows, wakeups, room } = openRoom();
  rows.set('a', 1);
  const started = performance.now();
  const waiting = room.wait('a', { accept: isTwo, waitMs: LONG });
  await sleep(10);
  wakeups.send('row', 'a');
  await sleep(10);
  rows.set('a', 2);
  wakeups.send('row', 'a');
  assert.equal(await waiting, 2);
  assert.ok(performance.now() - started < 1_000);
});

test('a change between the first read and the wait is not missed', async () => {
  const { rows, wakeups, reads, room } = openRoom();
  rows.set('a', 1);
  const waiting = room.wait('a', { accept: isTwo, waitMs: 2_000 });
  while (reads.length === 0) await new Promise(setImmediate);
  // The statement has begun, and may show the row as it was.
  wakeups.send('row', 'a');
  await sleep(5);
  assert.ok(reads.length >= 2);
  rows.set('a', 2);
  wakeups.send('row', 'a');
  assert.equal(await waiting, 2);
});

test('a wake-up that got lost costs one poll', async () => {
  const { rows, room } = openRoom(20);
  rows.set('a', 1);
  const waiting = room.wait('a', { accept: isTwo, waitMs: LONG });
  await sleep(5);
  rows.set('a', 2);
  assert.equal(await waiting, 2);
});

test('when the time is up the row is answered as it is', async () => {
  const { rows, room } = openRoom();
  rows.set('a', 1);
  const started = performance.now();
  assert.equal(await room.wait('a', { accept: isTwo, waitMs: 30 }), 1);
  assert.ok(performance.now() - started >= 28);
  assert.equal(await room.wait('a', { accept: isTwo, waitMs: 0 }), 1);
  assert.equal(await room.wait('gone', { accept: isTwo, waitMs: 0 }), undefined);
});

test('the wait ends when the client is gone', async () => {
  const { rows, room } = openRoom();
  rows.set('a', 1);
  const gone = new AbortController();
  const started = performance.now();
  const waiting = room.wait('a', { accept: isTwo, waitMs: LONG, gone: gone.signal });
  await sleep(10);
  gone.abort();
  assert.equal(await waiting, 1);
  const again = { accept: isTwo, waitMs: LONG, gone: gone.signal };
  assert.equal(await room.wait('a', again), 1);
  assert.ok(performance.now() - started < 1_000);
});

test('a thousand who wait are read with few statements, each for its own row', async () => {
  const { rows, wakeups, reads, room } = openRoom();
  const keys = Array.from({ length: 1_000 }, (_, index) => `key ${index}`);
  const waiting = keys.map((key) => room.wait(key, { accept: isTwo, waitMs: LONG }));
  await sleep(20);
  for (const key of keys) {
    rows.set(key, 2);
    wakeups.send('row', key);
  }
  assert.deepEqual(new Set(await Promise.all(waiting)), new Set([2]));
  assert.ok(reads.length <= 8, `${reads.length} statements`);
});

test('a read that fails ends the wait with its fault, and nobody listens any more', async () => {
  const wakeups = localWakeups();
  let listening = 0;
  const counted = {
    ...wakeups,
    on: (topic: string, key: string, listener: () => void) => {
      listening++;
      const stop = wakeups.on(topic, key, listener);
      return () => {
        listening--;
        stop();
      };
    },
  };
  const read = async () => {
    throw new Error('no database');
  };
  const room = createWaitingRoom<number>({ wakeups: counted, topic: 'row', read });
  await assert.rejects(room.wait('a', { accept: isTwo, waitMs: LONG }), /no database/);
  assert.equal(listening, 0);
});
