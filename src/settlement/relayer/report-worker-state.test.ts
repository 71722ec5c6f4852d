import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { encodeFunctionData, toFunctionSelector } from 'viem';
import { present } from '#core/assert.ts';
import { type ProviderProxy, startProviderProxy } from '#testing/provider-proxy.ts';
import { startOddWorld } from '#testing/relayer-scene.ts';
import { turnsLater } from '#testing/relayer-turns.ts';
import { settlementAbi } from '../../../contracts/artifacts/Settlement.ts';

const WAIT_MS = 20_000;
/** Selector of the call that reads the hourly ceiling and its use. */
const CEILING = toFunctionSelector('ceiling()');

it('operators get an alarm when half, and four fifths, of the hourly ceiling is used', async () => {
  const world = await startOddWorld(startProviderProxy, { config: { idleHeadMs: 50 } });
  const [proxy] = world.nodes as [ProviderProxy];
  const { network, database } = world;
  const stopMining = network.mineEvery(60);
  const levels = async (wanted: number) => {
    const deadline = performance.now() + WAIT_MS;
    for (;;) {
      const rows = await database.db.query<{ subject: string }>(
        `select subject from chain_alarms where kind = 'ceiling_near' order by id`,
      );
      if (rows.length >= wanted || performance.now() > deadline) {
        return rows.map(({ subject }) => subject.split(' ').slice(1).join(' '));
      }
      await sleep(20);
    }
  };
  try {
    const [payer] = await network.addPayers(1);
    const lower = { abi: settlementAbi, functionName: 'lowerCeiling', args: [10] } as const;
    await network.send(network.guardian, network.config.settlement, encodeFunctionData(lower));
    world.startRelayer();
    const pay = async (amount: bigint) => {
      const id = await world.pay({ payer: present(payer, 'payer'), amount });
      return (await world.outcomes([id]))[0];
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
    await stopMining();
    await world.stop();
  }
});
