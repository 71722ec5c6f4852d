import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Abi, encodeFunctionData, keccak256, numberToHex, sliceHex, zeroAddress } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { present } from '#core/assert.ts';
import { scanEvents } from '#settlement/chain/read/chain-scan.ts';
import { pack } from '#settlement/contract/contract-calls.ts';
import type { PaymentSettled } from '#settlement/contract/contract-events.ts';
import { batchesOf, foldBatches, rootOf } from '#settlement/settled/fold-batches.ts';
import { selectBatches } from '#settlement/settled/settled-queries.ts';
import { testDatabase } from '#testkit/fixtures/db/database.ts';
import { outsideBatches } from '#testkit/fixtures/settlement/outside-batches.ts';
import { askRefund } from '#testkit/fixtures/settlement/relayer-scene.ts';
import { startRelayerWorld } from '#testkit/fixtures/settlement/relayer-world.ts';
import { nodeIndexOf, overwrittenBy } from '../../contracts/batch-range.ts';
import { compileContract } from '../../contracts/compile.ts';
import { startTestNode } from '../../contracts/test/test-node.ts';

const BATCHES = 100_000;
const REBUILT_WITHIN_MS = 60_000;
/** Events per response of the node, and roots that one transaction adds to the probe. */
const PORTION = 2_000;
const AT_ONCE = 1_000;
const CONTRACT = { livemode: false, contractVersion: 0 } as const;
/** Address of RangeProbe.sol's code on the test's node. */
const PROBE = numberToHex(0x7ee_0002, { size: 20 });

function settled(batch: number): PaymentSettled {
  const hash = keccak256(numberToHex(batch, { size: 32 }));
  return {
    event: 'PaymentSettled',
    ...{ txHash: hash, blockHash: hash, blockNumber: BigInt(batch), logIndex: 0 },
    ...{ number: BigInt(batch), batchNumber: BigInt(batch) },
    ...{ payer: `0x${hash.slice(-40)}`, merchantNumber: 1n, amount: 2_500_000n, orderId: 'A-1' },
    ...{ feeAcquirer: 7_500n, feeProtocol: 5_000n, cashback: 1_250n },
  };
}

test(`${BATCHES} batches are rebuilt from events within a minute`, async (t) => {
  const database = await testDatabase();
  await using node = await startTestNode();
  try {
    const events = Array.from({ length: BATCHES }, (_, i) => settled(i + 1));
    const start = performance.now();
    for (let first = 0; first < BATCHES; first += PORTION) {
      const some = events.slice(first, first + PORTION);
      await database.db.transaction((tx) => foldBatches(tx, CONTRACT.livemode, some));
    }
    const tookMs = performance.now() - start;
    t.diagnostic(`${BATCHES} batches in ${(tookMs / 1000).toFixed(1)} s`);
    assert.ok(tookMs < REBUILT_WITHIN_MS, `${tookMs} ms`);
    const contract = compileContract('test/RangeProbe');
    const abi = contract.abi as Abi;
    await node.client.setCode({ address: PROBE, bytecode: contract.deployedBytecode });
    const from = numberToHex(0xad_0000, { size: 20 });
    await node.client.setBalance({ address: from, value: 10n ** 20n });
    const roots = batchesOf(events).map(rootOf);
    for (let first = 0; first < BATCHES; first += AT_ONCE) {
      const args = [roots.slice(first, first + AT_ONCE)] as const;
      const data = encodeFunctionData({ abi, functionName: 'append', args });
      await node.send({ from, to: PROBE, data });
    }
    const all = events.map(({ batchNumber }) => batchNumber);
    const kept = all.filter((batch) => overwrittenBy(batch) > BigInt(BATCHES));
    const known = await selectBatches(database.db, CONTRACT, kept);
    for (const batch of kept) {
      const args = [nodeIndexOf(batch)];
      const request = { address: PROBE, abi, functionName: 'rangeNode', args };
      assert.equal(known.get(batch)?.node, await node.client.readContract(request), `${batch}`);
    }
  } finally {
    await database.close();
  }
});

/** Batches that one transaction adds to the probe. */
const BATCHES_A_TRANSACTION = 100;
const EMPTY_BLOCKS = 9;

test(`${BATCHES} batches are read from a node and rebuilt within a minute`, async (t) => {
  const world = await startRelayerWorld();
  try {
    const { network, database } = world;
    const { settlement } = network.config;
    const { abi, deployedBytecode } = compileContract('test/SettledProbe');
    await network.rpc.call('anvil_setCode', [settlement, deployedBytecode]);
    const sale = { merchantNumber: 1n, amount: 2_500_000n, orderId: 'A-1' };
    const terms = sliceHex(pack({ ...sale, number: 0n, payer: zeroAddress }), -17);
    const fees = (7_500n << 128n) | (5_000n << 64n) | 1_250n;
    for (let first = 1; first <= BATCHES; first += BATCHES_A_TRANSACTION) {
      const args = [BigInt(first), BigInt(BATCHES_A_TRANSACTION), terms, fees];
      const data = encodeFunctionData({ abi: abi as Abi, functionName: 'settle', args });
      await network.send(network.admin, settlement, data);
      await network.rpc.call('anvil_mine', [numberToHex(EMPTY_BLOCKS)]);
    }
    const { number: newest } = await network.chain.newest();
    const start = performance.now();
    for await (const { events } of scanEvents(network.chain, 0n, newest)) {
      await database.db.transaction((tx) => foldBatches(tx, CONTRACT.livemode, events));
    }
    const tookMs = performance.now() - start;
    t.diagnostic(`${BATCHES} batches read and rebuilt in ${(tookMs / 1000).toFixed(1)} s`);
    assert.equal(await world.count('select count(*) from chain_batches'), BATCHES);
    assert.equal(await world.count('select max(number) as count from chain_batches'), BATCHES);
    assert.ok(tookMs < REBUILT_WITHIN_MS, `${tookMs} ms`);
  } finally {
    await world.stop();
  }
});

/** Ten batches per second with one-second blocks. */
const BATCHES_PER_BLOCK = 10;
const OLDEST_BLOCKS = 60;
const REFUNDS = 1_000;
const REFUNDS_PER_BLOCK = 8;
const MOST_TRANSACTIONS = 1.02;
const BLOCK_GAS = 300_000_000;

test(`${REFUNDS} refunds of sales that are 0 to 60 s old need a transaction each`, async (t) => {
  const world = await startRelayerWorld();
  try {
    const { network } = world;
    const payers = await network.addPayers(1 + REFUNDS_PER_BLOCK);
    await network.rpc.call('evm_setBlockGasLimit', [numberToHex(BLOCK_GAS)]);
    world.startRelayer({ relayerKeys: network.config.relayerKeys.slice(0, 1) });
    const [outsider, ...customers] = payers as [PrivateKeyAccount, ...PrivateKeyAccount[]];
    const settleOutside = outsideBatches(world, outsider);
    const sales: { readonly id: string; readonly block: number }[] = [];
    const refunds: string[] = [];
    for (let block = 0; refunds.length < REFUNDS; block++) {
      await settleOutside(BATCHES_PER_BLOCK);
      const paid = await world.payMany(customers.map((payer) => ({ payer, amount: 1_000_000n })));
      const stopMining = network.mineEvery(1_000);
      const outcomes = await world.outcomes(paid, 60_000);
      await stopMining();
      assert.ok(outcomes.every(({ succeeded }) => succeeded));
      for (const id of paid) sales.push({ id: await world.recordPayment(id), block });
      // Sales of the last minute.
      const young = sales.filter((sale) => block - sale.block <= OLDEST_BLOCKS);
      for (let i = 0; i < REFUNDS_PER_BLOCK; i++) {
        const sale = present(young[(block * 31 + i * 97) % young.length], 'sale');
        refunds.push(await askRefund(world, sale.id, 1_000n));
      }
    }
    const stopMining = network.mineEvery(1_000);
    const outcomes = await world.outcomes(refunds, 120_000);
    await stopMining();
    assert.ok(outcomes.every(({ succeeded }) => succeeded));
    const sent = `select count(*) from chain_transactions where kind = 'refund'`;
    const each = (await world.count(sent)) / refunds.length;
    t.diagnostic(`${each.toFixed(3)} transactions for each of ${refunds.length} refunds`);
    assert.ok(each <= MOST_TRANSACTIONS, `${each} transactions each`);
  } finally {
    await world.stop();
  }
});
