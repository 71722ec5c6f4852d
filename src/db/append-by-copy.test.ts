import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { openRowAppender, type RowAppender } from '#db/append-by-copy.ts';
import { type TestDatabase, testDatabase } from '#testkit/fixtures/db/database.ts';

let database: TestDatabase;
let appender: RowAppender<{ n: number; t: string }>;

before(async () => {
  database = await testDatabase();
  await database.db.query('create table noted (n int not null check (n >= 0), t text)');
  appender = openRowAppender(database.db, { name: 'noted', columns: 'n, t' }, 64 * 1024);
});

beforeEach(async () => {
  await database.db.query('delete from noted');
});

after(async () => {
  await appender.close();
  await database.close();
});

const stored = () =>
  database.db.query<{ n: number; t: string | null }>('select n, t from noted order by n');

test('rows that the table refuses do not affect others', async () => {
  const refused = new Set([0, 7, 8, 99]);
  for (let n = 0; n < 100; n++) appender.add({ n: refused.has(n) ? -1 : n, t: `row ${n}` });
  assert.equal(await appender.flush(), refused.size);
  const expected = Array.from({ length: 100 }, (_, n) => n).filter((n) => !refused.has(n));
  assert.deepEqual(
    (await stored()).map(({ n }) => n),
    expected,
  );
});

test('a flush of only refused rows stores nothing and ends', async () => {
  for (let n = 0; n < 5; n++) appender.add({ n: -1, t: '' });
  assert.equal(await appender.flush(), 5);
  assert.deepEqual(await stored(), []);
});

test("a NUL, half a surrogate and COPY's special characters arrive as text", async () => {
  const texts = ['a\0b', 'a\ud800b', 'tab\tnew\nline\r\\N', '\\.'];
  for (const [n, text] of texts.entries()) appender.add({ n, t: text });
  assert.equal(await appender.flush(), 0);
  assert.deepEqual(
    (await stored()).map(({ t }) => t),
    ['a\ufffdb', 'a\ufffdb', ...texts.slice(2)],
  );
});
