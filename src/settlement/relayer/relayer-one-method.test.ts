import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  askRefund,
  type BusyWorld,
  settledNumbers,
  settleSale,
  startBusyWorld,
} from '#testkit/fixtures/settlement/relayer-scene.ts';
import { assertSucceeded } from '#testkit/fixtures/settlement/relayer-world.ts';
import { type FaultyNode, startFaultyNode } from '#testkit/network/faulty-node.ts';

/** Every RPC method that the service uses. */
const METHODS = [
  'eth_blockNumber',
  'eth_call',
  'eth_chainId',
  'eth_estimateGas',
  'eth_feeHistory',
  'eth_getBalance',
  'eth_getBlockByNumber',
  'eth_getBlockReceipts',
  'eth_getCode',
  'eth_getLogs',
  'eth_getTransactionByHash',
  'eth_getTransactionCount',
  'eth_getTransactionReceipt',
  'eth_sendRawTransaction',
] as const;
const AMOUNT = 3_000_000n;
const REFUND = 1_000_000n;
/** Enough for several polls of the chain, but shorter than the time until operators are alerted. */
const OUT_MS = 700;
const BLOCK_MS = 60;
const WAIT_MS = 60_000;

describe('the only node fails one method for a while, and everything is paid once:', () => {
  let world: BusyWorld<FaultyNode>;
  let node: FaultyNode;
  let payments = 0;

  before(async () => {
    world = await startBusyWorld(startFaultyNode, { blockMs: BLOCK_MS });
    [node] = world.nodes as [FaultyNode];
  });

  after(() => world.stop());

  const newSale = () => {
    payments++;
    return { payer: world.payer, amount: AMOUNT };
  };

  for (const [index, method] of METHODS.entries()) {
    it(method, async () => {
      const paymentId = await settleSale(world, newSale(), WAIT_MS);
      node.refuse = (call) => (call.method === method ? 'out of order' : null);
      const requests = [await world.pay(newSale()), await askRefund(world, paymentId, REFUND)];
      await sleep(OUT_MS);
      node.refuse = () => null;
      requests.push(await world.pay(newSale()));
      assertSucceeded(await world.outcomes(requests, WAIT_MS));
      const numbers = await settledNumbers(world.network);
      assert.equal(new Set(numbers).size, numbers.length, 'a payment was settled twice');
      assert.equal(numbers.length, payments);
      const balance = await world.balance();
      assert.equal(balance, BigInt(payments) * AMOUNT - BigInt(index + 1) * REFUND);
      assert.equal(await world.countRows('chain_alarms'), 0);
    });
  }
});
