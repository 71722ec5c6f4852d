import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Tenant } from '#core/mode.ts';
import type { Sql } from '#db/database.ts';
import { readIntent } from '#payments/read-intents-together.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { addIntent, addMerchant, openStore } from '#testkit/fixtures/payments/store.ts';

const clock = new FakeClock();
const store = openForTests(() => openStore({ clock }));

/** Returns a reader that counts how many statements it runs. */
function countingReader() {
  const count = { statements: 0 };
  const db: Sql = {
    query: (text, values) => {
      count.statements++;
      return store.db.query(text, values);
    },
  };
  const ctx = { db, clock };
  const read = (tenant: Tenant, id: string) => readIntent(ctx, tenant, id);
  return { count, read };
}

test('an own intent is found; a missing one is null', async () => {
  const id = await addIntent(store);
  const { read } = countingReader();
  assert.equal((await read(store.merchant.tenant, id))?.id, id);
  assert.equal(await read(store.merchant.tenant, 'pi_none'), null);
});

test("another account's or mode's intent looks like a missing one", async () => {
  const id = await addIntent(store);
  const { tenant: other } = await addMerchant(store.db, { now: clock.now() });
  const { tenant } = store.merchant;
  const { read } = countingReader();
  const seen = await Promise.all([
    read(other, id),
    read({ ...tenant, livemode: true }, id),
    read(tenant, id),
  ]);
  assert.deepEqual(
    seen.map((intent) => intent?.id ?? null),
    [null, null, id],
  );
});

test('simultaneous reads share a statement, and each gets its own intent', async () => {
  const ids = await Promise.all([1, 2, 3].map(() => addIntent(store)));
  const expected = [...ids, ...ids.toReversed(), 'pi_none'];
  const { count, read } = countingReader();
  const seen = await Promise.all(expected.map((id) => read(store.merchant.tenant, id)));
  assert.deepEqual(
    seen.map((intent) => intent?.id ?? 'pi_none'),
    expected,
  );
  assert.equal(count.statements, 1);
});

test('an expired intent is never read as open', async () => {
  const id = await addIntent(store, { expiresIn: 30 });
  const { read } = countingReader();
  clock.advance(29_999);
  assert.equal((await read(store.merchant.tenant, id))?.status, 'requires_payment_method');
  clock.advance(1);
  assert.equal((await read(store.merchant.tenant, id))?.status, 'canceled');
});
