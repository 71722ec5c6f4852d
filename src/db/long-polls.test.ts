import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLongPolls } from '#db/long-polls.ts';
import { localWakeups } from '#db/wakeups.ts';

/**
 * Opens a registry of rows that the test changes. It records how many keys each statement reads.
 */
function openPolls(pollMs?: number) {
  const wakeups = localWakeups();
  const rows = new Map<string, string>();
  const statements: number[] = [];
  const polls = createLongPolls<string>({
    wakeups,
    topic: 'row',
    read: async (keys) => {
      statements.push(keys.length);
      // Reads the rows now but responds later, because a statement sees the rows as of its start.
      const seen = new Map(
        keys.flatMap((key) => (rows.has(key) ? [[key, rows.get(key) ?? '']] : [])),
      );
      await sleep(2);
      return seen;
    },
    ...(pollMs === undefined ? {} : { pollMs }),
  });
  const set = (key: string, value: string) => {
    rows.set(key, value);
    wakeups.send('row', key);
  };
  return { polls, rows, statements, set };
}

const isThere = (item: string | undefined) => item !== undefined;

describe('a long poll', () => {
  test('responds at once if the row is already there', async () => {
    const { polls, set } = openPolls();
    set('a', 'ready');
    assert.equal(await polls.wait('a', { accept: isThere, waitMs: 10_000 }), 'ready');
  });

  test('responds within milliseconds of the change', async () => {
    const { polls, set } = openPolls();
    const waiting = polls.wait('a', { accept: isThere, waitMs: 10_000 });
    await sleep(30);
    const changed = performance.now();
    set('a', 'now');
    assert.equal(await waiting, 'now');
    assert.ok(performance.now() - changed < 500);
  });

  test('misses no change that happens while it reads', async () => {
    for (let i = 0; i < 50; i++) {
      const { polls, set } = openPolls();
      const waiting = polls.wait('a', { accept: isThere, waitMs: 2_000 });
      await sleep(i % 4);
      set('a', 'between');
      const started = performance.now();
      assert.equal(await waiting, 'between');
      assert.ok(performance.now() - started < 500, 'the change was found by the poll only');
    }
  });

  test('finds a change whose wake-up got lost', async () => {
    const { polls, rows } = openPolls(40);
    const waiting = polls.wait('a', { accept: isThere, waitMs: 10_000 });
    await sleep(10);
    rows.set('a', 'unannounced');
    assert.equal(await waiting, 'unannounced');
  });

  test('keeps waiting through changes that it does not accept', async () => {
    const { polls, set } = openPolls();
    set('a', 'one');
    const waiting = polls.wait('a', { accept: (item) => item === 'three', waitMs: 10_000 });
    set('a', 'two');
    await sleep(20);
    set('a', 'three');
    assert.equal(await waiting, 'three');
  });

  test('returns the current row after the time-out', async () => {
    const { polls, set } = openPolls();
    set('a', 'unchanged');
    const started = performance.now();
    const item = await polls.wait('a', { accept: () => false, waitMs: 60 });
    assert.equal(item, 'unchanged');
    assert.ok(performance.now() - started >= 55);
  });

  test('ends when its client has disconnected', async () => {
    const { polls } = openPolls();
    const client = new AbortController();
    const waiting = polls.wait('a', { accept: isThere, waitMs: 60_000, gone: client.signal });
    await sleep(10);
    client.abort();
    assert.equal(await waiting, undefined);
  });

  test('fails if the row cannot be read, and leaves no timer behind', async () => {
    const polls = createLongPolls<string>({
      wakeups: localWakeups(),
      topic: 'row',
      read: async () => {
        throw new Error('the database is away');
      },
    });
    await assert.rejects(polls.wait('a', { accept: isThere, waitMs: 60_000 }), /away/);
  });
});

test('two thousand waiting clients cost few statements; only one is notified', async () => {
  const { polls, set, statements } = openPolls(500);
  const keys = Array.from({ length: 2_000 }, (_, index) => `terminal-${index}`);
  const answered: string[] = [];
  const waits = keys.map(async (key) => {
    const item = await polls.wait(key, { accept: isThere, waitMs: 2_250 });
    if (item !== undefined) answered.push(key);
  });
  await sleep(60);
  set('terminal-1234', 'work');
  await Promise.all(waits);
  assert.deepEqual(answered, ['terminal-1234']);
  // Allows for one read at the start, four polls and one read at the end, each with at most 500
  // rows per statement. On a busy machine, the timers may fire in more groups.
  const total = statements.reduce((sum, count) => sum + count, 0);
  assert.ok(statements.length <= 400, `${statements.length} statements`);
  assert.ok(total <= 2_000 * 7, `${total} rows`);
});
