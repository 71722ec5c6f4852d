import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { selectIntentPage } from '#payments/intent-page.ts';
import { selectPaymentPage } from '#payments/payment-queries.ts';
import { firstPage } from '#testkit/fixtures/db/first-page.ts';
import {
  openSale,
  openStore,
  payAndSettle,
  summaryOf,
  type TestStore,
} from '#testkit/fixtures/payments/store.ts';

let store: TestStore;
before(async () => {
  // The statistics of prepared statements are per connection, so the store has only one.
  store = await openStore({ maxConnections: 1 });
});
after(() => store.close());

/** More sales than the number of executions after which PostgreSQL may choose a generic plan. */
const SALES = 8;

test('no statement of a sale or its lists is planned a second time', async () => {
  const { tenant } = store.merchant;
  for (let sale = 0; sale < SALES; sale++) {
    const { intentId, pass } = await openSale(store);
    assert.equal(summaryOf(await payAndSettle(store, { intentId, pass })), 'succeeded');
    const now = store.clock.now();
    await selectIntentPage(store.db, { tenant, filters: {}, now }, firstPage(10));
    await selectPaymentPage(store.db, { tenant, filters: {} }, firstPage(10));
  }
  const planned = await store.db.query<{ statement: string; generic: bigint; custom: bigint }>(
    `select statement, generic_plans as generic, custom_plans as custom
     from pg_prepared_statements where generic_plans + custom_plans > 0`,
  );
  const requests = planned.filter(({ generic, custom }) => generic + custom >= BigInt(SALES));
  assert.ok(requests.length > 20, `only ${requests.length} statements were sent at each sale`);
  assert.deepEqual(
    planned.filter(({ custom }) => custom > 0n).map(({ statement }) => statement),
    [],
  );
});
