import assert from 'node:assert/strict';
import { test } from 'node:test';
import { selectPayLink } from '#payments/pay-link-queries.ts';
import { addTestPayment } from '#testkit/apis/api-objects.ts';
import { databaseForTests } from '#testkit/fixtures/db/database-for-tests.ts';
import { addTestMerchant } from '#testkit/fixtures/payments/merchants.ts';

const database = databaseForTests();

test('a link names its merchant by the number on its own network', async () => {
  const { db } = database;
  const { accountId, test: sandbox, live } = await addTestMerchant(db, { now: new Date() });
  const numbers = { test: 41n, live: 42n };
  await db.query(
    `update account_modes
     set merchant_number = case when livemode then $2::bigint else $3::bigint end
     where account_id = $1`,
    [accountId, numbers.live, numbers.test],
  );
  for (const [mode, number] of [
    [sandbox, numbers.test],
    [live, numbers.live],
  ] as const) {
    const { intentId } = await addTestPayment(db, mode);
    assert.equal((await selectPayLink(db, { intentId, address: null }))?.merchant_number, number);
  }
});
