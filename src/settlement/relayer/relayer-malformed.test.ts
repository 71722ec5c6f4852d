import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  askRefund,
  askWithdrawal,
  type BusyWorld,
  settleSale,
  startBusyWorld,
} from '#testkit/fixtures/settlement/relayer-scene.ts';
import { assertSucceeded } from '#testkit/fixtures/settlement/relayer-world.ts';
import { type ProviderProxy, startProviderProxy } from '#testkit/network/provider-proxy.ts';

/** Values that no method used by the relayer can return. */
const NONSENSE = ['0x', null, 7, `0x${'00'.repeat(31)}`, {}, [null], '0xzz'] as const;
const METHODS = [
  'eth_call',
  'eth_estimateGas',
  'eth_getTransactionCount',
  'eth_getBalance',
  'eth_feeHistory',
  'eth_getBlockByNumber',
  'eth_sendRawTransaction',
] as const;
const AMOUNT = 10_000_000n;
const PART = 1_000_000n;
const BLOCK_MS = 60;
const WAIT_MS = 60_000;
/** If the method is not called within this time, the relayer does not need it. */
const OUT_MS = 1_500;
const LOOK_MS = 20;

describe('nonsense from the only node decides nothing, and everything is paid once:', () => {
  let world: BusyWorld<ProviderProxy>;
  let proxy: ProviderProxy;

  before(async () => {
    world = await startBusyWorld(startProviderProxy, { blockMs: BLOCK_MS });
    [proxy] = world.nodes as [ProviderProxy];
  });

  after(() => world.stop());

  /**
   * Lets the node return each kind of nonsense in turn, until all were returned or the method is no
   * longer called.
   */
  async function answerNonsense(method: string): Promise<void> {
    let given = 0;
    proxy.behavior = {
      answer: (call, real) =>
        call.method === method ? { result: NONSENSE[given++ % NONSENSE.length] } : real,
    };
    for (const end = Date.now() + OUT_MS; given < NONSENSE.length && Date.now() < end; ) {
      await sleep(LOOK_MS);
    }
  }

  for (const method of METHODS) {
    it(method, async () => {
      const { payer } = world;
      const paymentId = await settleSale(world, { payer, amount: AMOUNT }, WAIT_MS);
      const before = await world.balance();
      const nonsense = answerNonsense(method);
      const requests = [await world.pay({ payer, amount: AMOUNT })];
      for (let i = 0; i < NONSENSE.length; i++) {
        const ask = i % 2 === 0 ? askRefund(world, paymentId, PART) : askWithdrawal(world, PART);
        requests.push(await ask);
      }
      await nonsense;
      proxy.behavior = null;
      assertSucceeded(await world.outcomes(requests, WAIT_MS));
      assert.equal(await world.balance(), before + AMOUNT - BigInt(NONSENSE.length) * PART);
      assert.equal(await world.countRows('chain_alarms'), 0);
    });
  }
});
