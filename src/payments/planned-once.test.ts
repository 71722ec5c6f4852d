import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { selectIntentPage } from '#payments/intent-page.ts';
import { selectPaymentPage } from '#payments/payment-queries.ts';
import {
  addIntent,
  addPayer,
  keepSettling,
  openStore,
  pay,
  summaryOf,
  type TestStore,
} from '#testing/store.ts';

let store: TestStore;
before(async () => {
  // The statistics of prepared statements are per connection, so the store has only one.
  store = await openStore({ maxConnections: 1 });
});
after(() => store.close());

/** More sales than the number of executions after which PostgreSQL may choose a generic plan. */
const SALES = 8;

test('no statement of a sale or its lists is planned a second time', async () => {
  const { pass } = await addPayer(store);
  const chain = keepSettling(store);
  const { tenant } = store.merchant;
  const page = { limit: 10, after: null, createdGte: null, createdLt: null };
  for (let sale = 0; sale < SALES; sale++) {
    const intentId = await addIntent(store);
    assert.equal(summaryOf(await pay(store, { intentId, pass })), 'succeeded');
    const now = store.clock.now();
    await selectIntentPage(store.db, { tenant, filters: {}, now }, page);
    await selectPaymentPage(store.db, { tenant, filters: {} }, page);
  }
  await chain.stop();
  const planned = await store.db.query<{ statement: string; generic: bigint; custom: bigint }>(
    `select statement, generic_plans as generic, custom_plans as custom
     from pg_prepared_statements where generic_plans + custom_plans > 0`,
  );
  const asked = planned.filter(({ generic, custom }) => generic + custom >= BigInt(SALES));
  assert.ok(asked.length > 20, `only ${asked.length} statements were sent at each sale`);
  assert.deepEqual(
    planned.filter(({ custom }) => custom > 0n).map(({ statement }) => statement),
    [],
  );
});
