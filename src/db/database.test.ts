import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Bug } from '#core/assert.ts';
import {
  Abandon,
  CommitUnknown,
  codeOf,
  DatabaseUnavailable,
  openDatabase,
  RunAgain,
  type Sql,
} from '#db/database.ts';
import { toFault } from '#db/database-faults.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { testDatabase } from '#testkit/fixtures/db/database.ts';
import { startTcpProxy, type TcpProxy } from '#testkit/network/tcp-proxy.ts';

const database = openForTests(testDatabase, async () => {
  await database.db.query('create table notes (id int primary key, text text not null)');
});

let ids = 0;

async function writeNote(tx: Sql, id = ++ids, text = 'first'): Promise<number> {
  await tx.query('insert into notes values ($1, $2)', [id, text]);
  return id;
}

async function readNote(id: number, sql: Sql = database.db): Promise<string | undefined> {
  const rows = await sql.query<{ text: string }>('select text from notes where id = $1', [id]);
  return rows[0]?.text;
}

const update = 'update notes set text = $2 where id = $1';

test("a transaction's writes are visible to others when it returns, and not before", async () => {
  const id = ++ids;
  const result = await database.db.transaction(async (tx) => {
    await writeNote(tx, id);
    assert.equal(await readNote(id), undefined);
    return 'value';
  });
  assert.equal(result, 'value');
  assert.equal(await readNote(id), 'first');
});

test('an error in the work undoes everything and reaches the caller unchanged', async () => {
  const id = ++ids;
  const fault = new Error('no');
  const failing = database.db.transaction(async (tx) => {
    await writeNote(tx, id);
    throw fault;
  });
  await assert.rejects(failing, (error) => error === fault);
  assert.equal(await readNote(id), undefined);
});

test('Abandon undoes everything and still returns its value', async () => {
  const id = ++ids;
  const result = await database.db.transaction(async (tx) => {
    await writeNote(tx, id);
    return new Abandon('refused');
  });
  assert.equal(result, 'refused');
  assert.equal(await readNote(id), undefined);
});

test('a statement whose failure went unnoticed never counts as committed', async () => {
  const id = ++ids;
  const careless = database.db.transaction(async (tx) => {
    await writeNote(tx, id);
    await writeNote(tx, id).catch(() => {});
  });
  await assert.rejects(careless, Bug);
  assert.equal(await readNote(id), undefined);
});

test('statements sent together all succeed or all fail', async () => {
  const [good, bad] = [++ids, ++ids];
  await database.db.transaction((tx) => writeNote(tx, bad));
  const failing = database.db.transaction((tx) =>
    Promise.all([writeNote(tx, good), writeNote(tx, bad), readNote(good, tx)]),
  );
  await assert.rejects(failing, (error) => codeOf(error) === '23505');
  assert.equal(await readNote(good), undefined);
});

test('a commit is sent right after the last statements, before they have returned', async () => {
  const [id, slow] = [++ids, ++ids];
  let isAnswered = false;
  const { written } = await database.db.transaction(async (tx) => {
    const written = tx.query('select pg_sleep(0.05)').then(() => {
      isAnswered = true;
      return 'answered';
    });
    tx.finish(writeNote(tx, id));
    tx.finish(written);
    tx.finish(writeNote(tx, slow));
    assert.equal(isAnswered, false);
    return { written };
  });
  assert.equal(await written, 'answered');
  assert.ok((await readNote(id)) !== undefined && (await readNote(slow)) !== undefined);
});

test('if one of the last statements fails, nothing is done, and its error is thrown', async () => {
  const [good, bad] = [++ids, ++ids];
  for (const broken of ['select 1 / 0', 'select no_such_column']) {
    const failing = database.db.transaction(async (tx) => {
      tx.finish(writeNote(tx, good));
      tx.finish(tx.query(broken));
      tx.finish(writeNote(tx, bad));
    });
    await assert.rejects(failing, (error) => /^(22012|42703)$/.test(codeOf(error)));
    assert.deepEqual([await readNote(good), await readNote(bad)], [undefined, undefined]);
  }
});

test('a row that another transaction inserted since the check is found by a retry', async () => {
  const id = ++ids;
  let runs = 0;
  const seen = await database.db.transaction(async (tx) => {
    runs++;
    const there = await readNote(id, tx);
    if (there !== undefined) return there;
    await writeNote(database.db, id, 'quicker');
    tx.finish(writeNote(tx, id, 'slower'));
    return 'slower';
  });
  assert.deepEqual([seen, runs], ['quicker', 2]);
});

test('no further statement is written once a concurrent one has failed', async () => {
  const id = ++ids;
  const fault = new Error('no');
  let late: Promise<unknown> = Promise.resolve();
  const failing = database.db.transaction(async (tx) => {
    late = tx.query('select pg_sleep(0.1)').then(() => writeNote(tx, id));
    await Promise.all([Promise.reject(fault), late]);
  });
  await assert.rejects(failing, (error) => error === fault);
  await assert.rejects(late, Bug);
  assert.equal(await readNote(id), undefined);
});

test('of two transactions that deadlock both succeed: one runs again', async () => {
  const [a, b] = [++ids, ++ids];
  await database.db.transaction((tx) => Promise.all([writeNote(tx, a), writeNote(tx, b)]));
  let runs = 0;
  let waiting = 0;
  let bothHold: () => void = () => {};
  const met = new Promise<void>((resolve) => {
    bothHold = resolve;
  });
  const cross = (first: number, second: number) =>
    database.db.transaction(async (tx) => {
      runs++;
      await tx.query(update, [first, `by ${first}`]);
      if (++waiting === 2) bothHold();
      await met;
      await tx.query(update, [second, `by ${first}`]);
    });
  await Promise.all([cross(a, b), cross(b, a)]);
  assert.ok(runs >= 3, 'they did not wait for each other');
  assert.equal(await readNote(a), await readNote(b));
});

test('work that requests it runs again, its first writes undone', async () => {
  const id = ++ids;
  let runs = 0;
  await database.db.transaction(async (tx) => {
    await writeNote(tx, id, `run ${++runs}`);
    if (runs === 1) throw new RunAgain('moved');
  });
  assert.equal(await readNote(id), 'run 2');
});

test('work that keeps requesting another run is not run forever', async () => {
  let runs = 0;
  const failing = database.db.transaction(async (tx) => {
    runs++;
    await tx.query(`do $$ begin raise sqlstate '40001'; end $$`);
  });
  await assert.rejects(failing, (error) => codeOf(error) === '40001');
  assert.equal(runs, 4);
});

test('other errors are not retried', async () => {
  let runs = 0;
  const failing = database.db.transaction(async () => {
    runs++;
    throw new Error('no');
  });
  await assert.rejects(failing);
  assert.equal(runs, 1);
});

async function killOwn(tx: Sql): Promise<void> {
  const [row] = await tx.query<{ pid: number }>('select pg_backend_pid() as pid');
  await database.db.query('select pg_terminate_backend($1, 1000)', [row?.pid]);
}

test('if a connection ends before the commit, nothing was done; the next one works', async () => {
  const id = ++ids;
  const cut = database.db.transaction(async (tx) => {
    await writeNote(tx, id);
    await killOwn(tx);
    await writeNote(tx);
  });
  await assert.rejects(cut, DatabaseUnavailable);
  assert.equal(await readNote(id), undefined);
  await database.db.transaction((tx) => writeNote(tx, id));
  assert.equal(await readNote(id), 'first');
});

test('an abandoned transaction returns although its connection was ended', async () => {
  const result = await database.db.transaction(async (tx) => {
    await killOwn(tx);
    return new Abandon('refused');
  });
  assert.equal(result, 'refused');
  assert.equal(await readNote(-1), undefined);
});

test('idle connections that the server ends are replaced, and do not end the process', async () => {
  const sleeps = Array.from({ length: 4 }, () => database.db.query('select pg_sleep(0.02)'));
  await Promise.all(sleeps);
  await database.db.query(
    `select pg_terminate_backend(pid, 1000) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid()`,
  );
  await sleep(20);
  assert.equal(await readNote(-1), undefined);
});

test('a statement that takes too long is unavailable: nothing was done', async () => {
  const id = ++ids;
  const slow = database.db.transaction(async (tx) => {
    await writeNote(tx, id);
    await tx.query(`set local statement_timeout = '20ms'`);
    await tx.query('select pg_sleep(20)');
  });
  await assert.rejects(slow, (error) => {
    assert.ok(error instanceof DatabaseUnavailable);
    return codeOf(error.cause) === '57014';
  });
  assert.equal(await readNote(id), undefined);
  await database.db.transaction((tx) => writeNote(tx, id));
  assert.equal(await readNote(id), 'first');
});

test('unreachable means unavailable, for statements, transactions and connections', async () => {
  // The driver's error if a server accepts a connection but never responds.
  assert.ok(toFault(new Error('timeout expired')) instanceof DatabaseUnavailable);
  const db = openDatabase({ url: 'postgres://127.0.0.1:1/none', maxConnections: 1 });
  await assert.rejects(db.query('select 1'), DatabaseUnavailable);
  await assert.rejects(db.connect(), DatabaseUnavailable);
  await assert.rejects(
    db.transaction(async () => assert.fail('never runs')),
    DatabaseUnavailable,
  );
  await db.close();
});

/** Runs `work` with a database behind a TCP proxy whose connections the test can cut. */
async function withWire(work: (db: ReturnType<typeof openDatabase>, wire: TcpProxy) => unknown) {
  const url = new URL(database.url);
  const wire = await startTcpProxy(Number(url.port));
  url.port = String(wire.port);
  const db = openDatabase({ url: url.toString(), maxConnections: 1 });
  try {
    await work(db, wire);
  } finally {
    await db.close();
    await wire.close();
  }
}

test('a commit whose response is lost is unknown: it was done', () =>
  withWire(async (db, wire) => {
    const id = ++ids;
    wire.onClientBytes = (text) => (text.includes('COMMIT') ? 'pass_and_cut' : 'pass');
    await assert.rejects(
      db.transaction((tx) => writeNote(tx, id)),
      CommitUnknown,
    );
    assert.equal(await readNote(id), 'first');
  }));

test('a commit that got lost is unknown: it was not done', () =>
  withWire(async (db, wire) => {
    const id = ++ids;
    wire.onClientBytes = (text) => (text.includes('COMMIT') ? 'cut' : 'pass');
    await assert.rejects(
      db.transaction((tx) => writeNote(tx, id)),
      CommitUnknown,
    );
    assert.equal(await readNote(id), undefined);
    wire.onClientBytes = () => 'pass';
    await db.transaction((tx) => writeNote(tx, id));
    assert.equal(await readNote(id), 'first');
  }));

test('if the connection is cut before the commit, it is known that nothing was done', () =>
  withWire(async (db, wire) => {
    const id = ++ids;
    wire.onClientBytes = (text) => (text.includes('insert into notes') ? 'cut' : 'pass');
    await assert.rejects(
      db.transaction((tx) => writeNote(tx, id)),
      DatabaseUnavailable,
    );
    assert.equal(await readNote(id), undefined);
  }));

test('the first statement does not wait for the response to BEGIN', () =>
  withWire(async (db, wire) => {
    await db.query('select 1');
    let sent = '';
    wire.onClientBytes = (text) => {
      sent += text;
      return 'pass';
    };
    wire.holdAnswers = () => sent.includes('BEGIN') && !sent.includes('insert into notes');
    const id = await Promise.race([db.transaction((tx) => writeNote(tx)), sleep(2_000, 'stuck')]);
    wire.holdAnswers = () => false;
    assert.notEqual(id, 'stuck');
    assert.equal(await readNote(Number(id)), 'first');
  }));

test('whole numbers arrive as bigint, times as milliseconds of UTC', async () => {
  const [row] = await database.db.query<{ n: bigint; at: Date; j: unknown }>(
    `select 9007199254740993::bigint as n, '2026-10-01 14:00:00.123+02'::timestamptz as at,
       '{"a": [1]}'::jsonb as j`,
  );
  assert.equal(row?.n, 9_007_199_254_740_993n);
  assert.equal(row?.at.toISOString(), '2026-10-01T12:00:00.123Z');
  assert.deepEqual(row?.j, { a: [1] });
});

test('times are right in any time zone of the server', async () => {
  await database.db.transaction(async (tx) => {
    const at = new Date('2026-10-01T12:00:00.123Z');
    for (const zone of ['Asia/Kathmandu', 'America/St_Johns', 'UTC', 'Pacific/Kiritimati']) {
      await tx.query(`select set_config('timezone', $1, true)`, [zone]);
      const [row] = await tx.query<{ at: Date }>('select $1::timestamptz as at', [at]);
      assert.deepEqual(row?.at, at, zone);
    }
  });
});
