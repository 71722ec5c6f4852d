import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerWith } from '#core/answer.ts';
import { CommitUnknown, DatabaseUnavailable } from '#db/database.ts';
import { createLongPolls } from '#db/long-polls.ts';
import { type Awaited, awaitAnswer } from '#idempotency/await-answer.ts';
import { selectKey, updateWaiting } from '#idempotency/key-queries.ts';
import type { IdempotentRequest } from '#idempotency/request-fingerprint.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { holdKey } from '#testkit/fixtures/db/idempotency-keys.ts';
import { newRequest, openStore } from '#testkit/fixtures/payments/store.ts';

const LONG = 10_000;
const clock = new FakeClock();
const store = openForTests(
  () => openStore({ clock }),
  async () => {
    await store.db.query('create table jobs (id text primary key, status text)');
  },
);

interface Job {
  readonly id: string;
  readonly status: string;
}

let ids = 0;

/** Starts a job, and the request that waits for it. */
async function begin(): Promise<{ id: string; request: IdempotentRequest }> {
  const [id, request] = [`job_${++ids}`, newRequest(store)];
  await store.db.transaction(async (tx) => {
    await holdKey(tx, request, clock.now(), { resource: id });
    await tx.query(`insert into jobs values ($1, 'running')`, [id]);
  });
  return { id, request };
}

/**
 * Acts as the worker: stores the object and the response in one transaction, then wakes the waiting
 * request.
 */
async function finish(id: string, wake = true): Promise<void> {
  await store.db.transaction(async (tx) => {
    await tx.query(`update jobs set status = 'done' where id = $1`, [id]);
    const response = answerWith(201, { id, status: 'done', by: 'worker' });
    await updateWaiting(tx, [{ resource: id, ...response }]);
  });
  if (wake) store.wakeups.send('job', id);
}

function polls(pollMs = LONG) {
  return createLongPolls<Job>({
    wakeups: store.wakeups,
    topic: 'job',
    pollMs,
    read: async (keys) => {
      const rows = await store.db.query<Job>('select * from jobs where id = any($1)', [keys]);
      return new Map(rows.map((row) => [row.id, row]));
    },
  });
}

async function wait(
  { id, request }: { readonly id: string; readonly request: IdempotentRequest | null },
  options: Partial<Awaited<Job>> = {},
): Promise<unknown> {
  const answer = await awaitAnswer(store, {
    polls: polls(),
    resource: id,
    isDone: (job) => job.status === 'done',
    waitMs: LONG,
    answer: (job) => answerWith(201, { ...job, by: 'waiter' }),
    request,
    ...options,
  });
  return JSON.parse(answer.body);
}

async function stored({ request }: { readonly request: IdempotentRequest }): Promise<unknown> {
  const row = await selectKey(store.db, request.tenant, { ...request, now: clock.now() });
  return row?.response_body === null || row === undefined ? null : JSON.parse(row.response_body);
}

test('the response is the one that the worker stored with the outcome', async () => {
  const begun = await begin();
  const waiting = wait(begun);
  await sleep(10);
  await finish(begun.id);
  assert.deepEqual(await waiting, { id: begun.id, status: 'done', by: 'worker' });
});

test('a woken request reads the stored response, and not the object again', async () => {
  const begun = await begin();
  const shared = polls();
  const looked = Promise.withResolvers<void>();
  let reads = 0;
  const read = async (key: string) => {
    const job = await shared.read(key);
    reads++;
    looked.resolve();
    return job;
  };
  const waiting = wait(begun, { polls: { ...shared, read } });
  await looked.promise;
  await finish(begun.id);
  assert.deepEqual(await waiting, { id: begun.id, status: 'done', by: 'worker' });
  assert.equal(reads, 1);
});

test('work that was done before the wait began is answered at once', async () => {
  const begun = await begin();
  await finish(begun.id);
  assert.deepEqual(await wait(begun), { id: begun.id, status: 'done', by: 'worker' });
});

test('a wake-up that got lost costs one poll', async () => {
  const begun = await begin();
  const waiting = wait(begun, { polls: polls(20) });
  await sleep(10);
  await finish(begun.id, false);
  assert.deepEqual(await waiting, { id: begun.id, status: 'done', by: 'worker' });
});

test('after the time-out the current object becomes the response, for retries too', async () => {
  const begun = await begin();
  const late = await wait(begun, { waitMs: 20 });
  assert.deepEqual(late, { id: begun.id, status: 'running', by: 'waiter' });
  assert.deepEqual(await stored(begun), late);
  await finish(begun.id);
  assert.deepEqual(await stored(begun), late);
});

test('a final response that arrives at the last moment wins over the interim one', async () => {
  const begun = await begin();
  let done: Promise<void> | undefined;
  const answer = await wait(begun, {
    waitMs: 0,
    polls: {
      ...polls(),
      read: async () => {
        done = finish(begun.id);
        await done;
        return { id: begun.id, status: 'running' };
      },
    },
  });
  assert.deepEqual(answer, { id: begun.id, status: 'done', by: 'worker' });
});

test('a disconnected client stores nothing: its key waits for the final response', async () => {
  const begun = await begin();
  const gone = new AbortController();
  const waiting = wait(begun, { gone: gone.signal });
  gone.abort();
  await waiting;
  assert.equal(await stored(begun), null);
  await finish(begun.id);
  assert.deepEqual(await stored(begun), { id: begun.id, status: 'done', by: 'worker' });
});

test('without a key the object itself is the response', async () => {
  const begun = await begin();
  await finish(begun.id);
  const answer = await wait({ id: begun.id, request: null });
  assert.deepEqual(answer, { id: begun.id, status: 'done', by: 'waiter' });
});

test('if the database becomes unreachable, no response claims that nothing was done', async () => {
  const begun = await begin();
  const away = {
    ...polls(),
    until: async () => {
      throw new DatabaseUnavailable('away');
    },
  };
  await assert.rejects(wait(begun, { polls: away }), CommitUnknown);
});

test('after a restore of the database the outcome is unknown, which is not a bug', async () => {
  const begun = await begin();
  const lose = async () => {
    await store.db.query('delete from jobs where id = $1', [begun.id]);
    const { changes } = store.db.watch;
    const checkpoint = { timeline: '000000FF', position: 1n };
    store.db.watch.meet({ system: 'another', timeline: '000000FF', position: 1n, checkpoint });
    assert.equal(store.db.watch.changes, changes + 1);
  };
  const waiting = wait(begun, { polls: polls(20) });
  await sleep(10);
  await lose();
  await assert.rejects(waiting, CommitUnknown);
  await assert.rejects(wait(begun), /object of a request/, 'an object that never existed is a bug');
});
