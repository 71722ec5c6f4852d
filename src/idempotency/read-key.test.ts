import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addMs } from '#core/clock.ts';
import type { Sql } from '#db/database.ts';
import { readKey } from '#idempotency/await-answer.ts';
import { keyExpiry } from '#idempotency/expire-keys.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { holdKey } from '#testkit/fixtures/db/idempotency-keys.ts';
import { addMerchant, newRequest, openStore } from '#testkit/fixtures/payments/store.ts';

const clock = new FakeClock();
const store = openForTests(() => openStore({ clock }));

async function claimed() {
  const request = newRequest(store);
  await store.db.transaction((tx) => holdKey(tx, request, clock.now()));
  return request;
}

test('keys read at the same time share one statement, and get their own rows', async () => {
  let statements = 0;
  const counted: Sql = {
    query: (text, values) => {
      statements++;
      return store.db.query(text, values);
    },
  };
  const ctx = { db: counted };
  const requests = await Promise.all([claimed(), claimed(), claimed()]);
  const rows = await Promise.all(requests.map((request) => readKey(ctx, request, clock.now())));
  assert.deepEqual(
    rows.map((row) => row?.key),
    requests.map(({ key }) => key),
  );
  assert.equal(statements, 1);
});

test("an expired key and another account's key of the same name are not found", async () => {
  const request = await claimed();
  const { tenant } = await addMerchant(store.db, { now: clock.now() });
  assert.equal(await readKey(store, { ...request, tenant }, clock.now()), undefined);
  assert.notEqual(await readKey(store, request, addMs(keyExpiry(clock.now()), -1)), undefined);
  assert.equal(await readKey(store, request, keyExpiry(clock.now())), undefined);
});
