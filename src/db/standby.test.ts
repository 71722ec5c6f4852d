import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDatabase, type Sql } from '#db/database.ts';
import { testDatabase } from '#testkit/fixtures/db/database.ts';

const NAME = 'select current_database() as name';

async function nameOf(sql: Sql): Promise<string> {
  const [row] = await sql.query<{ name: string }>(NAME);
  return row?.name ?? '';
}

const last = (url: string) => new URL(url).pathname.slice(1);

test('displays read from the standby, or from the primary while it is unreachable', async () => {
  const [primary, other] = [await testDatabase(2), await testDatabase(2)];
  const db = openDatabase({ url: primary.url, maxConnections: 4, readUrl: other.url });
  assert.equal(await nameOf(db.standby), last(other.url));
  assert.equal(await nameOf(db), last(primary.url));
  assert.equal(await db.transaction(nameOf), last(primary.url), 'decisions read from the primary');
  const [row] = await db.standby.query<{ big: bigint; on: string }>(
    `select 5::bigint as big, current_setting('default_transaction_read_only') as on`,
  );
  assert.deepEqual(row, { big: 5n, on: 'on' }, 'the same types, and the standby refuses writes');
  // Creates a table that the standby does not have yet, as happens right after a migration.
  await primary.db.query('create table fresh as select 1 as n');
  assert.equal((await db.standby.query('select n from fresh')).length, 1);
  assert.equal(await nameOf(db.standby), last(primary.url), 'and it is not used for a while');
  await db.close();
  const away = openDatabase({
    url: primary.url,
    maxConnections: 4,
    readUrl: 'postgres://x@127.0.0.1:1/y',
  });
  assert.equal(await nameOf(away.standby), last(primary.url));
  const none = openDatabase({ url: primary.url, maxConnections: 4 });
  assert.equal(await nameOf(none.standby), last(primary.url));
  await Promise.all([away.close(), none.close()]);
  await Promise.all([primary.close(), other.close()]);
});
