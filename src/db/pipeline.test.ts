import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Bug } from '#core/assert.ts';
import {
  CommitUnknown,
  codeOf,
  type Database,
  DatabaseUnavailable,
  openDatabase,
  type Pipeline,
} from '#db/database.ts';
import type { Statement } from '#db/pipeline.ts';
import { type TestDatabase, testDatabase } from '#testing/database.ts';
import { underWay, waitingForLocks } from '#testing/open-transactions.ts';
import { startTcpProxy, type TcpProxy } from '#testing/tcp-proxy.ts';
import { eventually } from '#testing/webhooks.ts';

let database: TestDatabase;
let pipeline: Pipeline;
before(async () => {
  database = await testDatabase();
  await database.db.query(
    'create table notes (id int primary key, place serial, pid int default pg_backend_pid())',
  );
  pipeline = database.db.openPipeline();
});
after(() => database.close());

let ids = 0;

interface Note {
  readonly id: number;
  readonly place: number;
  readonly pid: number;
}

/** Writes a note after a pause in the server. */
async function writeNote(
  id: number,
  on: Pipeline = pipeline,
  seconds = 0,
): Promise<Note | undefined> {
  const text = `insert into notes (id) select $1 from pg_sleep($2) returning id, place, pid`;
  return (await on.run<Note>(text, [id, seconds]))[0];
}

async function isThere(id: number): Promise<boolean> {
  return (await database.db.query('select 1 as there from notes where id = $1', [id])).length > 0;
}

const next = (count: number) => Array.from({ length: count }, () => ++ids);

/** The database behind a wire that the test can hold or cut, with a connection or two. */
async function withWire(
  maxConnections: number,
  work: (db: Database, wire: TcpProxy) => Promise<unknown>,
): Promise<void> {
  const url = new URL(database.url);
  const wire = await startTcpProxy(Number(url.port));
  url.port = String(wire.port);
  const db = openDatabase({ url: url.toString(), maxConnections });
  try {
    await work(db, wire);
  } finally {
    wire.holdAnswers = () => false;
    await db.close();
    await wire.close();
  }
}

test('statements are done in the order of their asking, on one connection', async () => {
  const notes = await Promise.all(next(5).map((id, n) => writeNote(id, pipeline, (5 - n) * 0.01)));
  const places = notes.map((note) => Number(note?.place));
  assert.deepEqual(
    places,
    places.map((_, n) => Number(notes[0]?.place) + n),
  );
  assert.equal(new Set(notes.map((note) => note?.pid)).size, 1);
});

test('each is a transaction of its own: done before the next is', async () => {
  const [first = 0, slow = 0] = next(2);
  const writing = [writeNote(first), writeNote(slow, pipeline, 0.3)];
  await writing[0];
  assert.deepEqual([await isThere(first), await isThere(slow)], [true, false]);
  await Promise.all(writing);
});

test('the next is sent before the one before it has answered', { timeout: 20_000 }, () =>
  withWire(1, async (db, wire) => {
    await db.query('select 1');
    let sent = '';
    wire.onClientBytes = (text) => {
      sent += text;
      return 'pass';
    };
    // No answer comes back until both have been sent.
    wire.holdAnswers = () => !sent.includes('note b');
    const on = db.openPipeline();
    const asked = ['note a', 'note b'].map((text) => on.run<{ text: string }>('select $1', [text]));
    assert.equal((await Promise.all(asked)).length, 2);
  }),
);

test('one that fails does no harm to those around it', async () => {
  const [first = 0, last = 0] = next(2);
  const other = database.db.openPipeline();
  const results = await Promise.allSettled([
    writeNote(first, other),
    writeNote(first, other),
    other.run('select no_such_column', []),
    writeNote(last, other),
  ]);
  assert.deepEqual(
    results.map((result) => (result.status === 'rejected' ? codeOf(result.reason) : 'done')),
    ['done', '23505', '42703', 'done'],
  );
  assert.ok((await isThere(first)) && (await isThere(last)));
  assert.equal((await writeNote(++ids, other))?.id, ids);
});

const lockTotal = { text: 'select name, total from totals for update', values: [] };
const addOne = { text: 'update totals set total = total + 1 returning total', values: [] };

/** The total of a table with one row, and a way to add to it under its lock. */
async function totals(): Promise<{ total(): Promise<number>; drop(): Promise<unknown> }> {
  await database.db.query(`create table totals as select 'a' as name, 0 as total`);
  return {
    total: async () => (await database.db.query<{ total: number }>(lockTotal.text))[0]?.total ?? -1,
    drop: () => database.db.query('drop table totals'),
  };
}

const pause = (seconds: number) => ({ text: 'select pg_sleep($1)', values: [seconds] });

describe('a statement behind a lock', () => {
  test('is made with what the lock was waited for, and holds it until it is done', async () => {
    const { total, drop } = await totals();
    const other = await underWay(database.db, (tx) => tx.query(addOne.text));
    const seen = 'update totals set total = (select total from totals) + $1 returning total';
    const waiting = pipeline.runLocked<{ total: number }, { total: number }>(
      lockTotal,
      (locked) => ({
        text: seen,
        values: [(locked[0]?.total ?? 0) * 10],
      }),
    );
    await waitingForLocks(database.db, 1);
    await other.commit();
    assert.deepEqual(await waiting, [{ total: 11 }]);
    assert.equal(await total(), 11);
    await drop();
  });

  test('is rolled back with it, and so is a lock without one: both are given back', async () => {
    const { total, drop } = await totals();
    const wrong = { text: 'select no_such', values: [] };
    const own = openDatabase({ url: database.url, maxConnections: 1 });
    const on = own.openPipeline();
    const codeBehind = async (lock: Statement, then: () => Statement | null) => {
      const [result] = await Promise.allSettled([on.runLocked(lock, then)]);
      // By another connection, which would wait if it was locked yet.
      assert.equal((await database.db.query(`${lockTotal.text} nowait`)).length, 1);
      return result.status === 'rejected' ? codeOf(result.reason) : 'done';
    };
    assert.equal(await codeBehind(addOne, () => wrong), '42703');
    assert.equal(await codeBehind(wrong, () => addOne), '42703');
    assert.equal(await codeBehind(addOne, () => null), 'done');
    const bug = Object.assign(new Error('a bug'), { code: 'bug' });
    const throws = () => {
      throw bug;
    };
    assert.equal(await codeBehind(addOne, throws), 'bug');
    assert.equal(await total(), 0);
    assert.equal(await codeBehind(lockTotal, () => addOne), 'done');
    assert.equal(await total(), 1);
    await own.close();
    await drop();
  });

  test('has done nothing without the lock; is unknown when its connection ends', async () => {
    const { total, drop } = await totals();
    const own = database.db.openPipeline();
    const other = await underWay(database.db, (tx) => tx.query(addOne.text));
    const end = (how: 'cancel' | 'terminate', waits: string) =>
      eventually(`a session waits for ${waits}`, async () => {
        const ended = await database.db.query(
          `select pg_${how}_backend(pid) from pg_stat_activity
           where datname = current_database() and (wait_event_type = $1 or wait_event = $1)`,
          [waits],
        );
        return ended.length > 0;
      });
    for (const how of ['cancel', 'terminate'] as const) {
      const refused = assert.rejects(
        own.runLocked(lockTotal, () => addOne),
        DatabaseUnavailable,
      );
      await end(how, 'Lock');
      await refused;
    }
    const waiting = own.runLocked(lockTotal, () => addOne);
    await waitingForLocks(database.db, 1);
    await other.commit();
    await waiting;
    assert.equal(await total(), 2);
    const unknown = assert.rejects(
      own.runLocked(lockTotal, () => pause(20)),
      CommitUnknown,
    );
    await end('terminate', 'PgSleep');
    await unknown;
    await drop();
  });

  test('has the pipeline to itself: another call would be part of its transaction', async () => {
    const on = database.db.openPipeline();
    const none = { text: 'select 1', values: [] };
    const own = on.runLocked(none, () => pause(0.05));
    await assert.rejects(on.run('select 1', []), Bug);
    await assert.rejects(
      on.runLocked(none, () => none),
      Bug,
    );
    await own;
    const running = on.run(pause(0.05).text, pause(0.05).values);
    await assert.rejects(
      on.runLocked(none, () => none),
      Bug,
    );
    await running;
    await on.runLocked(none, () => none);
  });
});

test('a connection that ends: unknown for all under way, the next one has another', async () => {
  const [quick = 0, cut = 0, behind = 0, later = 0] = next(4);
  const before = writeNote(quick);
  const lost = Promise.allSettled([writeNote(cut, pipeline, 20), writeNote(behind)]);
  const note = await before;
  await database.db.query('select pg_terminate_backend($1, 5000)', [note?.pid]);
  for (const result of await lost) {
    assert.ok(result.status === 'rejected' && result.reason instanceof CommitUnknown);
  }
  assert.deepEqual([await isThere(cut), await isThere(behind)], [false, false]);
  const again = await writeNote(later);
  assert.ok(again !== undefined && again.pid !== note?.pid);
});

test('a statement right after a break gets another connection, while others still wait', () =>
  withWire(2, async (db, wire) => {
    const on = db.openPipeline();
    const [first = 0, second = 0, third = 0] = next(3);
    wire.onClientBytes = (text) => (text.includes('insert into notes') ? 'pass_and_cut' : 'pass');
    // The first hears of the break before the second does: they fail one after the other.
    const retried = writeNote(first, on).catch((error) => {
      assert.ok(error instanceof CommitUnknown);
      wire.onClientBytes = () => 'pass';
      return writeNote(third, on);
    });
    const lost = writeNote(second, on);
    await assert.rejects(lost, CommitUnknown);
    assert.equal((await retried)?.id, third);
    assert.ok(await isThere(first), 'it was done, only its answer was lost');
  }));

test('one that is canceled is unknown: the next has another, who waited is served', async () => {
  const [quick = 0, canceled = 0, behind = 0, later = 0] = next(4);
  const note = writeNote(quick);
  const slow = assert.rejects(writeNote(canceled, pipeline, 20), CommitUnknown);
  const waiting = writeNote(behind, pipeline, 0.3);
  const pid = (await note)?.pid;
  const cancel = `select pg_cancel_backend(pid) as done from pg_stat_activity
    where pid = $1 and wait_event = 'PgSleep'`;
  while ((await database.db.query(cancel, [pid])).length === 0);
  await slow;
  const after = await writeNote(later);
  assert.ok(after !== undefined && after.pid !== pid);
  assert.equal((await waiting)?.pid, pid);
  assert.equal(await isThere(canceled), false);
});

test('one behind another that was canceled while it was prepared has done nothing', async () => {
  const [id = 0] = next(1);
  const text = 'insert into notes (id) values ($1) returning id as added';
  const cancel = `select pg_cancel_backend(pid) from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  const lock = await underWay(database.db, (tx) => tx.query('lock table notes'));
  const both = Promise.allSettled([pipeline.run(text, [id]), pipeline.run(text, [id])]);
  await waitingForLocks(database.db, 1);
  await database.db.query(cancel);
  const [canceled, behind] = await both;
  await lock.commit();
  assert.ok(canceled?.status === 'rejected' && canceled.reason instanceof CommitUnknown);
  assert.ok(behind?.status === 'rejected' && behind.reason instanceof DatabaseUnavailable);
  assert.equal(await isThere(id), false);
  assert.equal((await pipeline.run(text, [id])).length, 1);
});

test('no connection means unavailable, and the next statement tries again', async () => {
  const away = openDatabase({ url: 'postgres://127.0.0.1:1/none', maxConnections: 1 });
  const on = away.openPipeline();
  for (const result of await Promise.allSettled([on.run('select 1', []), on.run('select 2', [])])) {
    assert.ok(result.status === 'rejected' && result.reason instanceof DatabaseUnavailable);
  }
  await assert.rejects(on.run('select 3', []), DatabaseUnavailable);
  await away.close();
  await withWire(1, async (db, wire) => {
    const later = db.openPipeline();
    wire.onClientBytes = () => 'cut';
    await assert.rejects(later.run('select 1', []), DatabaseUnavailable);
    wire.onClientBytes = () => 'pass';
    assert.equal((await later.run('select 1', [])).length, 1);
  });
});

test('the only connection goes back to the pool when nothing is under way', async () => {
  const db = openDatabase({ url: database.url, maxConnections: 1 });
  const [one, two] = [db.openPipeline(), db.openPipeline()];
  await Promise.all([one.run('select 1', []), one.run('select pg_sleep(0.01)', [])]);
  await db.query('select 1');
  await assert.rejects(two.run('select no_such_column', []));
  await Promise.all([two.run('select 1', []), one.run('select 1', [])]);
  await db.transaction((tx) => tx.query('select 1'));
  await db.close();
});

test('a server that turns out to be another one is looked at again', async () => {
  const db = openDatabase({ url: database.url, maxConnections: 1 });
  const on = db.openPipeline();
  const says = (timeline: string) => ({
    text: `select pg_current_wal_flush_lsn()::text as wal_position, ${timeline} as wal_timeline`,
    values: [],
  });
  const own = says('substr(pg_walfile_name(pg_current_wal_flush_lsn()), 1, 8)');
  await Promise.all([on.run(own.text, []), on.run(own.text, [])]);
  assert.equal(db.watch.changes, 0);
  assert.ok(db.watch.highest > 0n);
  // As if the database that we know had come further than this one.
  db.watch.note(1n << 60n);
  assert.equal((await on.run(own.text, [])).length, 1, 'its answer stays');
  assert.equal(db.watch.changes, 1);
  db.watch.note(1n << 60n);
  await on.runLocked({ text: 'select 1', values: [] }, () => own);
  assert.equal(db.watch.changes, 2);
  await db.close();
});
