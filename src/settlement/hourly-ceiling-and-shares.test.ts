import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { HOUR_MS } from '#core/durations.ts';
import { silentLog } from '#observability/log.ts';
import { atomsOf, commonShare, isFull } from '#settlement/hourly-ceiling-and-shares.ts';
import { countSales, selectUses, updateCeiling } from '#settlement/hourly-ceiling-queries.ts';
import {
  judgeNetwork,
  type WatchedReadiness,
  watchReadiness,
} from '#settlement/network-readiness.ts';
import { upsertReport } from '#settlement/readiness-queries.ts';
import { type TestDatabase, testDatabase } from '#testkit/fixtures/db/database.ts';

const WELL = {
  reasons: [],
  senders: 1,
  fundedSenders: 1,
  paymentsLeft: null,
  contracts: 1,
  deploysWallets: true,
};
const USDC = 1_000_000n;

describe("the contract's hourly ceiling", () => {
  test('is full if less than 1 USDC of it is left', () => {
    const ceiling = { perHour: 100n * USDC, sellers: 1 };
    assert.equal(isFull({ ...ceiling, settled: 99n * USDC }), false);
    assert.equal(isFull({ ...ceiling, settled: 99n * USDC + 1n }), true);
    const full = { ...ceiling, settled: 100n * USDC };
    const state = judgeNetwork({
      recovering: false,
      all_stopped: false,
      workers: [WELL],
      ceiling: full,
    });
    assert.deepEqual(state, { settles: false, reasons: ['ceiling'] });
  });

  test('gives an account the set share; by default all of it, or a quarter once five sell', () => {
    const shareOf = (sellers: number, set: number | null) =>
      commonShare({ perHour: 1n, settled: 0n, sellers }, set);
    assert.deepEqual([shareOf(0, null), shareOf(4, null), shareOf(5, null)], [100, 100, 25]);
    assert.deepEqual([shareOf(1, 40), shareOf(9, 40)], [40, 40]);
    const ceiling = { perHour: 10n * USDC, settled: 0n, sellers: 9 };
    assert.deepEqual([atomsOf(ceiling, 25), atomsOf(ceiling, 100)], [2_500_000n, null]);
  });
});

describe('the hourly ceiling as stored for all processes', () => {
  let database: TestDatabase;
  let readiness: WatchedReadiness | undefined;

  before(async () => {
    database = await testDatabase(8);
  });
  beforeEach(async () => {
    await readiness?.stop();
    const { db } = database;
    await db.query('delete from ceiling_uses');
    await upsertReport(db, { livemode: false, owner: 'test' }, WELL);
  });
  after(async () => {
    await readiness?.stop();
    await database.close();
  });

  const sell = (account: string, amount: bigint, minedAt = new Date()) =>
    database.db.transaction((tx) =>
      countSales(tx, [{ tenant: { accountId: account, livemode: false }, minedAt, amount }]),
    );
  const look = async (ceilingShare: number | null = null) => {
    await readiness?.stop();
    readiness = await watchReadiness({ db: database.db, log: silentLog, ceilingShare });
    return readiness;
  };
  const told = (settled: bigint, headTime = new Date()) =>
    updateCeiling(database.db, false, { perHour: 100n * USDC, settled, headTime });
  const shop = { accountId: 'acct_1', livemode: false };

  test('counts the contract’s sum or the sum booked since, within this hour only', async () => {
    await told(100n * USDC, new Date(Date.now() - HOUR_MS));
    assert.equal((await look()).of(false).settles, true, 'of the hour before');
    await sell('acct_1', 99n * USDC, new Date(Date.now() - HOUR_MS));
    assert.equal((await look()).of(false).settles, true, 'sold in the hour before');
    await sell('acct_1', 60n * USDC);
    await sell('acct_2', 39n * USDC + 1n);
    assert.deepEqual((await look()).of(false).reasons, ['ceiling']);
    await database.db.query('delete from ceiling_uses');
    await told(99n * USDC + 1n);
    assert.deepEqual((await look()).of(false).reasons, ['ceiling']);
  });

  test('gives each account its share', async () => {
    await told(0n);
    for (const account of ['1', '2', '3', '4']) await sell(`acct_${account}`, USDC);
    assert.equal((await look()).shareOf(shop), null);
    await sell('acct_5', USDC, new Date(Date.now() - 20 * HOUR_MS));
    assert.equal((await look()).shareOf(shop), 25n * USDC);
    assert.equal((await look(50)).shareOf(shop), 50n * USDC);
  });

  test('counts the sum that an account has sold this hour', async () => {
    await sell('acct_1', 3n * USDC, new Date(Date.now() - HOUR_MS));
    assert.deepEqual(await selectUses(database.db, [{ tenant: shop }]), [0n]);
    await sell('acct_1', 3n * USDC);
    await sell('acct_1', 4n * USDC);
    await sell('acct_1', 5n * USDC, new Date(Date.now() - HOUR_MS));
    const both = [{ tenant: shop }, { tenant: { ...shop, livemode: true } }];
    assert.deepEqual(await selectUses(database.db, both), [7n * USDC, 0n]);
  });
});
