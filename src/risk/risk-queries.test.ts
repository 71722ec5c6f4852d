import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { DAY_MS } from '#core/durations.ts';
import type { Tenant } from '#core/mode.ts';
import type { Tx } from '#db/database.ts';
import {
  deleteBlockedPayer,
  insertBlockedPayer,
  insertRefusal,
  saveRiskSettings,
  selectBlockedPayers,
  selectPayerActivities,
  selectRiskSettings,
} from '#risk/risk-queries.ts';
import { underWay } from '#testkit/fixtures/core/open-transactions.ts';
import { type TestDatabase, testDatabase } from '#testkit/fixtures/db/database.ts';
import { addTestMerchant } from '#testkit/fixtures/payments/merchants.ts';

const NOW = new Date('2026-11-22T12:00:00Z');
const ADDRESS = '0x1111111111111111111111111111111111111111';
const OTHER_ADDRESS = '0x2222222222222222222222222222222222222222';

let database: TestDatabase;
let test_: Tenant;
let live: Tenant;

before(async () => {
  database = await testDatabase(4);
  const merchant = await addTestMerchant(database.db, { now: NOW });
  test_ = merchant.test.tenant;
  live = merchant.live.tenant;
});
after(() => database?.close());

function isBlocked(tenant: Tenant): Promise<boolean> {
  const payer = { payerId: 'payer_none', address: ADDRESS, tenant, exceptIntentId: '' };
  return database.db.transaction(async (tx) => {
    const [result] = await selectPayerActivities(tx, [{ ...payer, day: NOW, hour: NOW }]);
    return result?.blocked_here === true;
  });
}

describe('the payers whom a merchant blocks', () => {
  test('are blocked in that mode only, and leave the list one by one', async () => {
    const { db } = database;
    const note = 'Chargebacks';
    const listed = async (tenant: Tenant) =>
      (await selectBlockedPayers(db, tenant, 10)).map(({ address }) => address);
    await db.transaction(async (tx) => {
      await insertBlockedPayer(tx, test_, { address: ADDRESS, note, now: NOW });
      await insertBlockedPayer(tx, test_, { address: OTHER_ADDRESS, note, now: NOW });
    });
    assert.deepEqual([await isBlocked(test_), await isBlocked(live)], [true, false]);
    assert.deepEqual(await listed(live), []);
    await db.transaction((tx) =>
      insertBlockedPayer(tx, live, { address: ADDRESS, note, now: NOW }),
    );
    assert.ok(await db.transaction((tx) => deleteBlockedPayer(tx, test_, ADDRESS)));
    assert.deepEqual(await listed(test_), [OTHER_ADDRESS]);
    assert.deepEqual(await listed(live), [ADDRESS]);
  });
});

test('payers who reject at once do not wait for each other to delete old rows', async () => {
  const { db } = database;
  const refuse = (payerId: string, daysAgo: number) => (tx: Tx) =>
    insertRefusal(
      tx,
      { tenant: test_, payerId },
      { at: new Date(NOW.getTime() - daysAgo * DAY_MS), until: new Date(NOW.getTime() - DAY_MS) },
    );
  await db.transaction(refuse('payer_old', 3));
  const first = await underWay(db, refuse('payer_one', 0));
  // Not awaited: the second rejection waits until the first one commits, after this line.
  await db.transaction(refuse('payer_two', 0));
  await first.commit();
  const rows = await db.query<{ payer_id: string }>(
    'select payer_id from payer_refusals order by payer_id',
  );
  assert.deepEqual(
    rows.map(({ payer_id }) => payer_id),
    ['payer_one', 'payer_two'],
  );
});

test('rejections count in their own mode, and for an hour', async () => {
  const { db } = database;
  const hour = new Date(NOW.getTime() - 3_600_000);
  const until = new Date(hour.getTime() - DAY_MS);
  for (const at of [NOW, hour]) {
    await db.transaction((tx) =>
      insertRefusal(tx, { tenant: live, payerId: 'payer_both' }, { at, until }),
    );
  }
  const countOf = async (tenant: Tenant) => {
    const buyer = { payerId: 'payer_both', address: ADDRESS, tenant, exceptIntentId: '' };
    const [result] = await db.transaction((tx) =>
      selectPayerActivities(tx, [{ ...buyer, day: hour, hour }]),
    );
    return [result?.refused_within_hour, result?.refused_here_within_hour];
  };
  assert.deepEqual(await countOf(live), [1, 1]);
  // The count includes the rows of the previous test.
  assert.deepEqual(await countOf(test_), [0, 2]);
});

describe('the policy of a merchant', () => {
  test('is that of its mode', async () => {
    const settings = { highAmountConfirmFrom: null, velocityPerHour: null };
    for (const [tenant, from] of [
      [test_, 5n],
      [live, 7n],
    ] as const) {
      const change = { settings: { ...settings, firstPaymentConfirmFrom: from as never } };
      await database.db.transaction((tx) =>
        saveRiskSettings(tx, tenant, { ...change, version: 0, now: NOW }),
      );
    }
    const read = async (tenant: Tenant) =>
      (await selectRiskSettings(database.db, tenant))?.first_payment_confirm_from;
    assert.deepEqual([await read(test_), await read(live)], [5n, 7n]);
  });
});
