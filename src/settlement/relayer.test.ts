import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '#core/clock.ts';
import { newId } from '#core/ids.ts';
import { silentLog } from '#core/log.ts';
import { localWakeups, type Wakeups } from '#db/wakeups.ts';
import { type Relayer, startRelayer } from '#settlement/relayer.ts';
import { type Hex, requestOnChain, takeOutcomes } from '#settlement/requests.ts';
import { type TestDatabase, testDatabase } from '#testing/database.ts';
import { startTestNetwork, type TestMerchant, type TestNetwork } from '#testing/test-network.ts';

describe('the relayer', () => {
  let network: TestNetwork;
  let database: TestDatabase;
  let merchant: TestMerchant;
  let wakeups: Wakeups;
  let relayer: Relayer;
  let stopMining: () => Promise<void>;

  before(async () => {
    [network, database] = await Promise.all([startTestNetwork(), testDatabase()]);
    merchant = await network.addMerchant();
    stopMining = network.mineEvery(100);
    wakeups = localWakeups();
    const log = { ...silentLog, error: console.error, warn: console.error };
    relayer = startRelayer({
      chain: network.chain,
      db: database.db,
      wakeups,
      clock: systemClock,
      log,
    });
  });

  after(async () => {
    await relayer.stop();
    await stopMining();
    await network.stop();
    await database.close();
  });

  it('settles a payment: the chain, the request and the balance agree', async () => {
    const [payer] = await network.addPayers(1);
    assert(payer !== undefined);
    const subjectId = newId('paymentIntent', new Date());
    const started = performance.now();
    await database.db.transaction((tx) =>
      requestOnChain(tx, {
        livemode: false,
        kind: 'payment',
        subjectId,
        payload: {
          merchantNumber: merchant.merchantNumber.toString(),
          payer: payer.address as Hex,
          amount: '2500000',
          orderId: 'A-1',
        },
        now: new Date(),
      }),
    );
    wakeups.send('chain-requests', 'testnet');
    let outcomes: unknown[] = [];
    while (outcomes.length === 0 && performance.now() - started < 10_000) {
      await sleep(5);
      outcomes = await database.db.transaction((tx) => takeOutcomes(tx, 'payment', 10));
    }
    console.log(outcomes, performance.now() - started);
    assert.equal(await network.merchantBalance(merchant.merchantNumber), 2_500_000n);
  });
});
