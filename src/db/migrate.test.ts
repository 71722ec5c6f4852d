import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartError } from '#core/start-error.ts';
import { openDatabase } from '#db/database.ts';
import { migrate, requireMigrated } from '#db/migrate.ts';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';
import { type TestDatabase, testDatabase } from '#testkit/fixtures/db/database.ts';
import { databaseForTests } from '#testkit/fixtures/db/database-for-tests.ts';

const database = databaseForTests();
let folder: string;
let round = 0;
beforeEach((t) => {
  folder = testFolder(t as TestContext);
  round++;
});

function name(number: number): string {
  return `${String(number).padStart(4, '0')}_round_${round}.sql`;
}

async function put(number: number, sql: string): Promise<void> {
  await writeFile(path.join(folder, name(number)), sql);
}

async function exists(table: string): Promise<boolean> {
  const rows = await database.db.query<{ there: boolean }>(
    'select to_regclass($1) is not null as there',
    [table],
  );
  return rows[0]?.there === true;
}

test("the product's migrations leave nothing to do at a second start", async () => {
  assert.deepEqual(await migrate(database.db), []);
});

test('files are applied in the order of their numbers, each once', async () => {
  await put(2, 'insert into a1 values (2)');
  await put(1, 'create table a1 (n int)');
  assert.deepEqual(await migrate(database.db, { folder }), [name(1), name(2)]);
  await put(3, 'insert into a1 values (3)');
  assert.deepEqual(await migrate(database.db, { folder }), [name(3)]);
  assert.deepEqual(await migrate(database.db, { folder }), []);
  const rows = await database.db.query<{ n: number }>('select n from a1 order by n');
  assert.deepEqual(
    rows.map((row) => row.n),
    [2, 3],
  );
});

test('of two simultaneous starts one migrates and the other waits', async () => {
  await put(1, 'create table b1 (n int); select pg_sleep(0.1)');
  await put(2, 'insert into b1 values (1)');
  const other = openDatabase({ url: database.url, maxConnections: 1 });
  const applied = await Promise.all([migrate(database.db, { folder }), migrate(other, { folder })]);
  await other.close();
  assert.deepEqual(applied.flat(), [name(1), name(2)]);
  assert.ok(applied.some((names) => names.length === 0));
  assert.equal((await database.db.query('select from b1')).length, 1);
});

test('a file that was changed after it was applied stops the start and is named', async () => {
  await put(1, 'create table c1 (n int)');
  await migrate(database.db, { folder });
  await put(1, 'create table c1 (n bigint)');
  await put(2, 'create table c2 (n int)');
  await assert.rejects(
    migrate(database.db, { folder }),
    (error) => error instanceof StartError && error.message.includes(name(1)),
  );
  assert.equal(await exists('c2'), false);
});

test('a comment that was corrected after its file was applied stops no start', async () => {
  await put(1, '-- Wrong.\ncreate table c3 (n int) -- wrong');
  await migrate(database.db, { folder });
  await put(1, '-- Right, and\n-- longer.\ncreate table c3 (n int)');
  assert.deepEqual(await migrate(database.db, { folder }), []);
});

async function recorded(own: TestDatabase): Promise<Map<string, { digest: string; sum: string }>> {
  const rows = await own.db.query<{ name: string; digest: string; sum: string }>(
    'select name, digest, sum from migrations order by name',
  );
  return new Map(rows.map(({ name, ...digests }) => [name, digests]));
}

/** The digest of 0001_service.sql, as a build without sums compares it. */
const WHOLE_TEXT = '2fce6ebc95dce87374e0a41489e62db29574fddd7b15f036a0db490c7493ac49';

test('sums are stored beside the digests of a build without sums, which stay', async () => {
  const own = await testDatabase(2);
  try {
    const applied = await recorded(own);
    assert.equal(applied.get('0001_service.sql')?.digest, WHOLE_TEXT);
    await own.db.query('alter table migrations drop column sum');
    await requireMigrated(own.db);
    assert.deepEqual(await migrate(own.db), []);
    assert.deepEqual(await recorded(own), applied);
    await own.db.query(`update migrations set sum = null, digest = '0' where name like '0007%'`);
    await assert.rejects(
      migrate(own.db),
      (error) => error instanceof StartError && /0007\w+.sql was changed/.test(error.message),
    );
  } finally {
    await own.close();
  }
});

test('a start continues what a build without sums began', async () => {
  const own = await testDatabase(2);
  try {
    await own.db.query('truncate migrations');
    await own.db.query('alter table migrations drop column sum');
    await put(1, 'create table c4 (n int)');
    assert.deepEqual(await migrate(own.db, { folder }), [name(1)]);
  } finally {
    await own.close();
  }
});

test('a start waits for no lock to store sums', async () => {
  const own = await testDatabase(3);
  const client = await own.db.connect();
  try {
    await own.db.query('update migrations set sum = null');
    await client.query('select pg_advisory_lock(7218344190)');
    assert.deepEqual(await migrate(own.db), []);
    await client.query('select pg_advisory_unlock_all()');
    assert.deepEqual(await migrate(own.db), []);
    assert.ok([...(await recorded(own)).values()].every(({ sum }) => sum !== null));
  } finally {
    await client.end();
    await own.close();
  }
});

test('a failing file changes nothing, and a later start resumes with it', async () => {
  await put(1, 'create table d1 (n int)');
  await put(2, 'create table d2 (n int); select no_such_function()');
  await put(3, 'create table d3 (n int)');
  await assert.rejects(migrate(database.db, { folder }), {
    message: `migration ${name(2)} failed`,
  });
  const there = await Promise.all(['d1', 'd2', 'd3'].map(exists));
  assert.deepEqual(there, [true, false, false]);
  await put(2, 'create table d2 (n int)');
  assert.deepEqual(await migrate(database.db, { folder }), [name(2), name(3)]);
});

test('other files in the folder are ignored', async () => {
  await put(1, 'create table e1 (n int)');
  await writeFile(path.join(folder, '0002_draft.sql.orig'), 'no sql');
  await writeFile(path.join(folder, 'README.md'), 'no sql');
  assert.deepEqual(await migrate(database.db, { folder }), [name(1)]);
});

test('a baseline needs an empty database, and continues after an interruption', async () => {
  const own = await testDatabase(2);
  const marked = '-- baseline\ncreate table in_baseline (n int)';
  await put(1, marked);
  await put(2, 'insert into in_baseline values (1)');
  try {
    await assert.rejects(
      migrate(own.db, { folder }),
      (error) => error instanceof StartError && /before the first release/.test(error.message),
    );
    await own.db.query('truncate migrations');
    await put(2, 'select no_such_function()');
    await assert.rejects(migrate(own.db, { folder }));
    await put(2, 'insert into in_baseline values (1)');
    assert.deepEqual(await migrate(own.db, { folder }), [name(2)]);
    await rm(path.join(folder, name(2)));
    assert.deepEqual(await migrate(own.db, { folder }), [], 'the previous release finds nothing');
  } finally {
    await own.close();
  }
});

test('a process that may not migrate names the missing migration', async () => {
  const own = await testDatabase(2);
  try {
    await requireMigrated(own.db);
    await own.db.query(`delete from migrations where name like '0020%'`);
    await assert.rejects(
      requireMigrated(own.db),
      (error) => error instanceof StartError && /lacks the migration 0020/.test(error.message),
    );
    await own.db.query(`update migrations set name = 'former_' || name`);
    await assert.rejects(
      requireMigrated(own.db),
      (error) => error instanceof StartError && /before the first release/.test(error.message),
    );
  } finally {
    await own.close();
  }
});

/** Opens a transaction that reads the table and then stays open, as a report or a backup does. */
async function holdTable(table: string): Promise<() => Promise<void>> {
  const client = await database.db.connect();
  await client.query(`begin; select from ${table}`);
  return async () => {
    await client.query('rollback');
    await client.end();
  };
}

test('a migration that waits for a lock blocks no query, and continues later', async () => {
  await put(1, 'create table f1 (n int)');
  await migrate(database.db, { folder });
  const release = await holdTable('f1');
  await put(2, 'alter table f1 add column m int');
  const migrating = migrate(database.db, { folder });
  let slowestMs = 0;
  const end = performance.now() + 2_500;
  while (performance.now() < end) {
    const started = performance.now();
    await database.db.query('select from f1');
    slowestMs = Math.max(slowestMs, performance.now() - started);
  }
  assert.ok(slowestMs < 1_000, `a read waited ${Math.round(slowestMs)} ms`);
  await release();
  assert.deepEqual(await migrating, [name(2)]);
});

test('a migration that never gets its lock ends the start with one line', async () => {
  await put(1, 'create table g1 (n int)');
  await migrate(database.db, { folder });
  const release = await holdTable('g1');
  await put(2, 'alter table g1 add column m int');
  const few = { lockMs: 20, statementMs: 1_000, tries: 3, pauseMs: 10 };
  await assert.rejects(
    migrate(database.db, { folder, limits: few }),
    (error) =>
      error instanceof StartError &&
      error.message.includes(`${name(2)} gave up after 3 tries (SQLSTATE 55P03)`),
  );
  await release();
  assert.deepEqual(await migrate(database.db, { folder, limits: few }), [name(2)]);
});

test('a statement of a migration does not lock a table for longer than its limit', async () => {
  await put(1, 'create table h1 (n int)');
  await migrate(database.db, { folder });
  await put(2, 'alter table h1 add column m int; select pg_sleep(5)');
  const short = { lockMs: 20, statementMs: 100, tries: 1, pauseMs: 10 };
  await assert.rejects(migrate(database.db, { folder, limits: short }), /SQLSTATE 57014/);
  await database.db.query('select from h1');
});

test('a role without grants waits for them until its process ends', async () => {
  await put(1, 'create table granted (n int)');
  await migrate(database.db, { folder });
  const role = `reader_${process.pid}_${round}`;
  await database.db.query(`create role ${role} login password 'x'`);
  const url = new URL(database.url);
  url.username = role;
  url.password = 'x';
  const db = openDatabase({ url: url.toString(), maxConnections: 1 });
  const told: string[] = [];
  const tell = (line: string) => {
    told.push(line);
  };
  try {
    const ends = new AbortController();
    const ended = migrate(db, { folder, tell, ends: ends.signal });
    while (told.length === 0) await sleep(10);
    assert.match(told[0] ?? '', /grants of this role/);
    ends.abort();
    const began = performance.now();
    await assert.rejects(ended);
    assert.ok(performance.now() - began < 1_000);
    const waiting = migrate(db, { folder, tell });
    while (told.length === 1) await sleep(10);
    assert.match(told[1] ?? '', /may not use "migrations"/);
    await database.db.query(`grant select on all tables in schema public to ${role}`);
    while (told.length === 2) await sleep(10);
    assert.match(told[2] ?? '', /may not use "(?!migrations)/, 'sequences are granted separately');
    await database.db.query(`grant usage on all sequences in schema public to ${role}`);
    assert.deepEqual(await waiting, []);
    assert.equal(told.length, 3, 'one line for each thing that it waits for');
  } finally {
    await db.close();
    for (const kind of ['tables', 'sequences']) {
      await database.db.query(`revoke all on all ${kind} in schema public from ${role}`);
    }
    await database.db.query(`drop role ${role}`);
  }
});
