import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { toFunctionSelector } from 'viem';
import { startOddWorld } from '#testkit/fixtures/settlement/relayer-scene.ts';
import { turnsLater } from '#testkit/fixtures/settlement/relayer-turns.ts';
import { type ProviderProxy, startProviderProxy } from '#testkit/network/provider-proxy.ts';

const WAIT_MS = 20_000;
/** Selector of the call that reads the hourly ceiling and its use. */
const CEILING = toFunctionSelector('ceiling()');

it('operators get an alarm when half, and four fifths, of the hourly ceiling is used', async () => {
  const world = await startOddWorld(startProviderProxy, { config: { idleHeadMs: 50 } });
  const [proxy] = world.nodes as [ProviderProxy];
  const { network, database } = world;
  network.mineEvery(60);
  const levels = async (expected: number) => {
    const deadline = performance.now() + WAIT_MS;
    for (;;) {
      const rows = await database.db.query<{ subject: string }>(
        `select subject from chain_alarms where kind = 'ceiling_near' order by id`,
      );
      if (rows.length >= expected || performance.now() > deadline) {
        return rows.map(({ subject }) => subject.split(' ').slice(1).join(' '));
      }
      await sleep(20);
    }
  };
  try {
    const payer = await network.addPayer();
    await network.callSettlement(network.guardian, 'lowerCeiling', [10]);
    world.startRelayer();
    const pay = async (amount: bigint) => {
      const [outcome] = await world.outcomes([await world.pay({ payer, amount })]);
      return outcome;
    };
    assert.equal((await pay(4_900_000n))?.succeeded, true);
    await turnsLater(proxy, ({ params }) => JSON.stringify(params).includes(CEILING));
    assert.deepEqual(await levels(0), []);
    assert.equal((await pay(200_000n))?.succeeded, true);
    assert.deepEqual(await levels(1), ['50 %']);
    assert.equal((await pay(3_000_000n))?.succeeded, true);
    assert.deepEqual(await levels(2), ['50 %', '80 %']);
    assert.deepEqual((await pay(2_000_000n))?.reason, 'settlement_failed');
  } finally {
    await world.stop();
  }
});
