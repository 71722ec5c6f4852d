import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { migrate } from '#db/migrate.ts';
import { MIGRATIONS_FOLDER, readMigrations, sumOf } from '#db/migration-files.ts';
import { withoutComments } from '#db/sql-comments.ts';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';
import { testDatabase } from '#testkit/fixtures/db/database.ts';
import { databaseForTests } from '#testkit/fixtures/db/database-for-tests.ts';

const database = databaseForTests(2);

/** Statements as written, and without comments. PostgreSQL must read both alike. */
const CASES: Readonly<Record<string, readonly [string, string]>> = {
  'a line comment': ['-- a\nselect 1 -- b\n, 2 --', 'select 1\n, 2'],
  'a block comment': ['select/* a */1 /*\n*/', 'select 1'],
  'nested block comments': ['select 1 /* a /* b */ c -- */ , 2 /* /**/ */', 'select 1 , 2'],
  'a line comment that opens a block': ['select 1 -- /*\n, 2', 'select 1\n, 2'],
  'a comment between operators': ['select 1 -/* - */-1', 'select 1 - -1'],
  'an operator before a comment': ['select 1 +-- a\n1', 'select 1 +\n1'],
  'comments in a string': [`select 'a -- b', '/* c'/* d */`, `select 'a -- b', '/* c'`],
  'a doubled quote': [`select 'it''s -- a' -- b`, `select 'it''s -- a'`],
  'a backslash in a plain string': [`select 'a\\' -- b'\n, 'c'`, `select 'a\\'\n, 'c'`],
  'a backslash in an escape string': [`select E'a\\' -- b' -- c`, `select E'a\\' -- b'`],
  'a doubled quote in an escape string': [`select e'\\\\''-- a' -- b`, `select e'\\\\''-- a'`],
  'a continued string': [`select 'a' -- b\n' -- c'`, `select 'a'\n' -- c'`],
  'a continued escape string': [
    `select E'a' -- b\n'\\' -- c' -- d\n'\\' --e'`,
    `select E'a'\n'\\' -- c'\n'\\' --e'`,
  ],
  'a word that ends in e before a string': [
    `select date'2026-11-30' -- \\'`,
    `select date'2026-11-30'`,
  ],
  'a Unicode string': [`select U&'\\0061\\\\' -- a'`, `select U&'\\0061\\\\'`],
  'a quoted identifier': [
    `select 1 as "a -- ""b" /* c */, 2 as "/*"`,
    `select 1 as "a -- ""b" , 2 as "/*"`,
  ],
  'a dollar quote': ['select $$ -- a\n  /* b $$ -- c', 'select $$ -- a\n  /* b $$'],
  'a dollar quote with a tag': [
    'select $é1$ $$ -- a $é$ $é1$ -- b',
    'select $é1$ $$ -- a $é$ $é1$',
  ],
  'dollar signs in an identifier': ['select 1 as a$$ -- $$\n, 2', 'select 1 as a$$\n, 2'],
};

for (const [what, [sql, stripped]] of Object.entries(CASES)) {
  test(`without comments, statements mean the same: ${what}`, async () => {
    assert.equal(withoutComments(sql), stripped);
    const rows = await database.db.query(sql);
    assert.equal(rows.length, 1);
    assert.deepEqual(await database.db.query(stripped), rows);
  });
}

test('a parameter quotes nothing', () => {
  assert.equal(withoutComments('select $1 -- a\n, $2'), 'select $1\n, $2');
});

test('an unclosed token extends to the end', () => {
  for (const open of [`'a -- b`, `E'\\' -- b`, '"a -- b', '$a$ -- b $$']) {
    assert.equal(withoutComments(`select ${open}`), `select ${open}`);
  }
  assert.equal(withoutComments('select 1 /* a /* b */ , 2'), 'select 1');
});

test('a corrected, rewrapped or removed comment leaves the sum as it is', () => {
  const sum = sumOf('-- Why.\ncreate table a (n int); -- end\n');
  assert.equal(sumOf('-- Another\n-- reason.\ncreate table a (n int);'), sum);
  assert.equal(sumOf('/* Why. */\n\ncreate table a\t(n int);'), sum);
});

test('strings, bodies and declarations at the top belong to the sum', () => {
  const texts = [
    'select 1',
    '-- concurrently\nselect 1',
    '-- batched\nselect 1',
    '-- baseline\nselect 1',
    `select '-- a'`,
    `select '-- b'`,
    `select '-- b '`,
    'do $$ begin -- a\nend $$',
    'do $$ begin -- b\nend $$',
    'do $$ begin\nend $$',
    'select "--a"',
    'select "--b"',
  ];
  assert.equal(new Set(texts.map(sumOf)).size, texts.length);
  const behind = 'select 1\n-- batched';
  assert.equal(sumOf(behind), sumOf('select 1'), 'only the top of a file declares');
});

/** Migrates an empty database. @returns its columns, constraints, indexes and functions. */
async function schemaFrom(folder: string): Promise<unknown[]> {
  const own = await testDatabase(2);
  try {
    await own.db.query('drop schema public cascade');
    await own.db.query('create schema public');
    await migrate(own.db, { folder });
    return await own.db.query(`
      select format('%s.%s %s %s %s', c.relname, attname, format_type(atttypid, atttypmod),
        attnotnull, pg_get_expr(adbin, adrelid)) as line
      from pg_attribute a join pg_class c on c.oid = attrelid
        left join pg_attrdef d on adrelid = attrelid and adnum = attnum
      where relnamespace = 'public'::regnamespace and attnum > 0
      union all select pg_get_constraintdef(oid) from pg_constraint
      where connamespace = 'public'::regnamespace
      union all select indexdef from pg_indexes where schemaname = 'public'
      union all select prosrc from pg_proc where pronamespace = 'public'::regnamespace
      union all select pg_get_triggerdef(oid) from pg_trigger where not tgisinternal
      order by 1`);
  } finally {
    await own.close();
  }
}

test('migrations without comments leave the same schema', async (t) => {
  const migrations = await readMigrations(MIGRATIONS_FOLDER);
  const folder = testFolder(t);
  for (const { name, text, kind } of migrations) {
    await writeFile(path.join(folder, name), `-- ${kind}\n${withoutComments(text)}`);
  }
  const schema = await schemaFrom(MIGRATIONS_FOLDER);
  assert.ok(schema.length > 1_000, `only ${schema.length} parts of a schema were seen`);
  assert.deepEqual(await schemaFrom(folder), schema);
});
