import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartError } from '#core/start-error.ts';
import { openDatabase } from '#db/database.ts';
import { migrate } from '#db/migrate.ts';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';
import { databaseForTests } from '#testkit/fixtures/db/database-for-tests.ts';

const database = databaseForTests();
let folder: string;
let round = 0;
beforeEach((t) => {
  folder = testFolder(t as TestContext);
  round++;
});

const name = (number: number) => `${String(number).padStart(4, '0')}_long_${round}.sql`;

async function put(number: number, sql: string): Promise<void> {
  await writeFile(path.join(folder, name(number)), sql);
}

async function count(sql: string, values: readonly unknown[] = []): Promise<number> {
  const [row] = await database.db.query<{ n: bigint }>(`select count(*) as n ${sql}`, values);
  return Number(row?.n);
}

const isValid = async (index: string) =>
  (await count('from pg_index where indexrelid = to_regclass($1) and indisvalid', [index])) === 1;

/** Terminates the session that runs a matching statement, as if its process had been killed. */
async function cutOff(like: string): Promise<void> {
  const ended = await waitUntil(async () => {
    const result = await count(
      `from (select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and state = 'active'
          and query ilike $1) ended`,
      [like],
    );
    return result > 0;
  }, 5_000);
  assert.ok(ended, `no session ran ${like}`);
}

/** Opens a transaction that reads and then stays open, as a report or a backup does. */
async function holdOpen(sql: string): Promise<() => Promise<void>> {
  const client = await database.db.connect();
  await client.query(`begin isolation level repeatable read; ${sql}`);
  return async () => {
    await client.query('rollback');
    await client.end();
  };
}

const index = (table: string) =>
  `-- concurrently\ncreate index concurrently if not exists ${table}_n on ${table} (n);\n`;

test('an index that is built concurrently blocks no write, however long it takes', async () => {
  await put(1, 'create table i1 (n int); insert into i1 select generate_series(1, 1000)');
  await migrate(database.db, { folder });
  const release = await holdOpen('select from i1');
  await put(2, index('i1'));
  const limits = { lockMs: 20, statementMs: 100, tries: 1, pauseMs: 10 };
  const migrating = migrate(database.db, { folder, limits });
  let slowestMs = 0;
  const end = performance.now() + 1_500;
  while (performance.now() < end) {
    const started = performance.now();
    await database.db.query('insert into i1 values (0)');
    slowestMs = Math.max(slowestMs, performance.now() - started);
  }
  assert.equal(await isValid('i1_n'), false, 'it still waits for the open transaction');
  assert.ok(slowestMs < 500, `a write waited ${Math.round(slowestMs)} ms`);
  await release();
  assert.deepEqual(await migrating, [name(2)]);
  assert.equal(await isValid('i1_n'), true);
});

test('an interrupted build leaves an invalid index, and the next start repairs it', async () => {
  await put(1, 'create table j1 (n int)');
  await migrate(database.db, { folder });
  const release = await holdOpen('select from j1');
  await put(2, index('j1'));
  const lost = assert.rejects(migrate(database.db, { folder }));
  const isBegun = async () => (await count(`from pg_class where relname = 'j1_n'`)) === 1;
  assert.ok(await waitUntil(isBegun, 5_000));
  await cutOff('%create index concurrently%');
  await lost;
  await release();
  assert.ok(await isBegun());
  assert.equal(await isValid('j1_n'), false);
  assert.deepEqual(await migrate(database.db, { folder }), [name(2)]);
  assert.equal(await isValid('j1_n'), true);
});

test('a second start does not block the index that the first one builds', async () => {
  await put(1, 'create table k1 (n int)');
  await migrate(database.db, { folder });
  const release = await holdOpen('select from k1');
  await put(2, index('k1'));
  const first = migrate(database.db, { folder });
  await sleep(200);
  const second = migrate(database.db, { folder });
  await sleep(700);
  await release();
  const started = performance.now();
  assert.deepEqual([await first, await second], [[name(2)], []]);
  assert.ok(performance.now() - started < 2_000, 'no process waited for a deadlock to be detected');
});

test('a file marked as concurrent without such an index is named', async () => {
  await put(1, '-- concurrently\ncreate table l1 (n int)');
  await assert.rejects(migrate(database.db, { folder }), {
    message: `migration ${name(1)} failed`,
  });
});

/**
 * Returns a migration that changes ten rows at a time. Each run also writes one row, so that the
 * test can count the runs.
 */
const backfill = (table: string) => `-- batched
with part as (
  select n from ${table} where n > coalesce($1::int, 0) order by n limit 10
), filled as (
  update ${table} set twice = ${table}.n * 2 from part where ${table}.n = part.n
), told as (
  insert into ${table}_runs select count(*) from part having count(*) > 0
), rest as (
  select pg_sleep(0.05)
)
select max(part.n)::text as cursor from part, rest;
`;

async function makeTable(table: string): Promise<void> {
  await put(
    1,
    `create table ${table} (n int primary key, twice int); create table ${table}_runs (rows int);
     insert into ${table} (n) select generate_series(1, 95)`,
  );
  await migrate(database.db, { folder });
  await put(2, backfill(table));
}

test('a backfill runs in batches, and resumes where it was interrupted', async () => {
  await makeTable('m1');
  const lost = assert.rejects(migrate(database.db, { folder }));
  assert.ok(await waitUntil(async () => (await count('from m1_runs')) >= 3, 5_000));
  await cutOff('%m1_runs%');
  await lost;
  assert.ok((await count('from m1 where twice is null')) > 0, 'it was interrupted before its end');
  assert.deepEqual(await migrate(database.db, { folder }), [name(2)]);
  assert.equal(await count('from m1 where twice = n * 2'), 95);
  assert.equal(await count('from m1_runs'), 10, 'no batch ran twice');
  assert.equal(await count('from migration_cursors'), 0);
});

test('a backfill that makes no progress ends with its name', async () => {
  await put(1, `-- batched\nselect 'here' as cursor where coalesce($1::text, '') is not null`);
  await assert.rejects(migrate(database.db, { folder }), (error: Error) =>
    /cursor of the migration did not advance from here/.test(String(error.cause)),
  );
});

test('a statement that is too slow for its table names the heads that help', async () => {
  await put(1, 'select pg_sleep(5)');
  const limits = { lockMs: 20, statementMs: 50, tries: 60, pauseMs: 10 };
  await assert.rejects(
    migrate(database.db, { folder, limits }),
    (error) =>
      error instanceof StartError &&
      /gave up after 3 tries .*57014.*"-- concurrently" or "-- batched"/.test(error.message),
  );
});

test('a role that does not own the tables waits for the owner, with one line', async () => {
  const role = `app_${randomBytes(4).toString('hex')}`;
  const url = new URL(database.url);
  url.username = role;
  url.password = randomBytes(8).toString('hex');
  await put(1, 'create table o1 (n int)');
  await migrate(database.db, { folder });
  for (const sql of [
    `create role ${role} login password '${url.password}'`,
    `grant usage on schema public to ${role}`,
    `grant select on all tables in schema public to ${role}`,
    `grant usage on all sequences in schema public to ${role}`,
  ]) {
    await database.db.query(sql);
  }
  const app = openDatabase({ url: url.toString(), maxConnections: 1 });
  try {
    await put(2, 'alter table o1 add column m int');
    const lines: string[] = [];
    let ended = false;
    const waiting = migrate(app, { folder, tell: (line) => lines.push(line) }).then((names) => {
      ended = true;
      return names;
    });
    await sleep(1_200);
    assert.equal(ended, false);
    assert.deepEqual(lines, [
      `waiting for the database's migration ${name(2)}: run "npm run migrate" as its owner`,
    ]);
    assert.deepEqual(await migrate(database.db, { folder }), [name(2)]);
    assert.deepEqual(await waiting, []);
  } finally {
    await app.close();
    await database.db.query(`grant ${role} to current_user`);
    await database.db.query(`drop owned by ${role}`);
    await database.db.query(`drop role ${role}`);
  }
});
