import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PrivateKeyAccount } from 'viem/accounts';
import { readEvents } from '#settlement/contract/contract-events.ts';
import { type FaultyNode, startFaultyNode } from '#testing/faulty-node.ts';
import { type RelayerWorld, startRelayerWorld } from '#testing/relayer-world.ts';

/** Every method that the service asks a node for. */
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
/** Some looks at the chain; less than it takes until a person is told. */
const OUT_MS = 700;
const BLOCK_MS = 60;
const WAIT_MS = 60_000;

describe('the only node fails one method for a while, and all is paid once:', () => {
  let world: RelayerWorld;
  let node: FaultyNode;
  let payer: PrivateKeyAccount;
  let stopMining: () => Promise<void>;
  let payments = 0;

  before(async () => {
    world = await startRelayerWorld(async (rpcUrl) => {
      node = await startFaultyNode(rpcUrl);
      return { rpcUrls: [node.url] };
    });
    [payer] = (await world.network.addPayers(1)) as [PrivateKeyAccount];
    stopMining = world.network.mineEvery(BLOCK_MS);
    world.startRelayer();
  });

  after(async () => {
    await stopMining();
    await world.stop();
    await node.stop();
  });

  const payOne = async () => {
    payments++;
    return world.pay({ payer, amount: AMOUNT });
  };

  async function settledNumbers(): Promise<bigint[]> {
    const { chain, config } = world.network;
    const { number: toBlock } = await chain.newest();
    const logs = await chain.logs({ fromBlock: 0n, toBlock });
    return readEvents(config.settlement, logs).flatMap((event) =>
      event.event === 'PaymentSettled' ? [event.number] : [],
    );
  }

  for (const [index, method] of METHODS.entries()) {
    it(method, async () => {
      const sale = await payOne();
      await world.outcomes([sale], WAIT_MS);
      const payload = { paymentId: await world.recordPayment(sale), amount: REFUND.toString() };
      node.refuse = (call) => (call.method === method ? 'out of order' : null);
      const asked = [await payOne(), await world.ask({ kind: 'refund', payload })];
      await sleep(OUT_MS);
      node.refuse = () => null;
      asked.push(await payOne());
      const outcomes = await world.outcomes(asked, WAIT_MS);
      assert.deepEqual(
        outcomes.map(({ succeeded }) => succeeded),
        asked.map(() => true),
      );
      const numbers = await settledNumbers();
      assert.equal(new Set(numbers).size, numbers.length, 'a payment was settled twice');
      assert.equal(numbers.length, payments);
      const balance = await world.network.merchantBalance(world.merchant.merchantNumber);
      assert.equal(balance, BigInt(payments) * AMOUNT - BigInt(index + 1) * REFUND);
      assert.equal(await world.count('select count(*) from chain_alarms'), 0);
    });
  }
});
