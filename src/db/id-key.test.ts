import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { beforeEach, test } from 'node:test';
import { StartError } from '#core/start-error.ts';
import { openDatabase } from '#db/database.ts';
import { openIdKey } from '#db/id-key.ts';
import { databaseForTests } from '#testkit/fixtures/db/database-for-tests.ts';

const database = databaseForTests();
const sealingKey = randomBytes(32);
beforeEach(() => database.db.query('delete from service_keys').then(() => {}));

test('processes that start at once all get the same key, and later ones too', async () => {
  const nodes = Array.from({ length: 6 }, () =>
    openDatabase({ url: database.url, maxConnections: 1 }),
  );
  const keys = await Promise.all(nodes.map((db) => openIdKey(db, sealingKey)));
  await Promise.all(nodes.map((db) => db.close()));
  keys.push(await openIdKey(database.db, sealingKey));
  assert.equal(new Set(keys.map((key) => key.export().toString('hex'))).size, 1);
  assert.equal(keys[0]?.symmetricKeySize, 32);
});

test('each database has its own key, which is not stored in clear', async () => {
  const first = await openIdKey(database.db, sealingKey);
  const bytes = first.export();
  const rows = await database.db.query<{ sealed: Buffer }>('select sealed from service_keys');
  const sealed = rows[0]?.sealed ?? Buffer.alloc(0);
  assert.equal(sealed.includes(bytes), false);
  assert.equal(sealed.includes(bytes.toString('base64')), false);
  await database.db.query('delete from service_keys');
  assert.notDeepEqual(await openIdKey(database.db, sealingKey), first);
});

test('a different secret fails the start with one line, and changes nothing', async () => {
  const key = await openIdKey(database.db, sealingKey);
  await assert.rejects(
    openIdKey(database.db, randomBytes(32)),
    (error) => error instanceof StartError && /TAPLINE_SECRET/.test(error.message),
  );
  assert.deepEqual(await openIdKey(database.db, sealingKey), key);
});
