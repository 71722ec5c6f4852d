import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createKeyAuthenticator } from '#accounts/authenticate-api-key.ts';
import { isRefusal } from '#core/answer.ts';
import { newSecret } from '#core/bearer-secrets.ts';
import type { Database } from '#db/database.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { underWay } from '#testkit/fixtures/core/open-transactions.ts';
import { addTestKey } from '#testkit/fixtures/payments/merchants.ts';
import { openStore } from '#testkit/fixtures/payments/store.ts';
import { eventually } from '#testkit/fixtures/webhooks/webhooks.ts';

const store = openForTests(openStore);

const addKey = () => addTestKey(store.db, store.merchant.tenant, { now: new Date() });

async function isNoted(id: string): Promise<boolean> {
  const sql = 'select last_used_at is not null as noted from api_keys where id = $1';
  return (await store.db.query<{ noted: boolean }>(sql, [id]))[0]?.noted === true;
}

/** Creates an authenticator with an empty cache, and counts its statements of each kind. */
function authenticator() {
  const sent: string[] = [];
  const query: Database['query'] = (text, values) => {
    sent.push(text);
    return store.db.query(text, values);
  };
  const authenticate = createKeyAuthenticator({ ...store.db, query });
  const ask = (secret: string) =>
    authenticate({
      authorization: `Bearer ${secret}`,
      address: '203.0.113.9',
      now: new Date(),
      mustStand: false,
    });
  return { ask, count: (begin: string) => sent.filter((text) => text.startsWith(begin)).length };
}

test('concurrent keys share statements, and each gets its own result', async () => {
  const keys = await Promise.all(Array.from({ length: 20 }, addKey));
  const { ask, count } = authenticator();
  const secrets = [...keys.map(({ secret }) => secret), newSecret('apiKeyTest')];
  const seen = await Promise.all(secrets.map(ask));
  assert.deepEqual(
    seen.map((one) => (isRefusal(one) ? one.code : one.keyId)),
    [...keys.map(({ id }) => id), 'api_key_invalid'],
  );
  await eventually('all uses are recorded', async () => {
    const noted = await Promise.all(keys.map(({ id }) => isNoted(id)));
    return noted.every((one) => one);
  });
  assert.deepEqual([count('select'), count('update')], [1, 1]);
});

test('a locked key row does not keep the use of other keys from being recorded', async () => {
  const [held, free] = [await addKey(), await addKey()];
  const other = await underWay(store.db, (tx) =>
    tx.query('select from api_keys where id = $1 for update', [held.id]),
  );
  const { ask } = authenticator();
  await Promise.all([held, free].map(({ secret }) => ask(secret)));
  await eventually('the use of the other is recorded', () => isNoted(free.id));
  assert.equal(await isNoted(held.id), false);
  await other.commit();
});
