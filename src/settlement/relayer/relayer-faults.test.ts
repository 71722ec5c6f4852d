import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { encodeFunctionData } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { readEvents } from '#settlement/contract/contract-events.ts';
import { type TestDatabase, testDatabase } from '#testing/database.ts';
import { type FaultyNode, startFaultyNode } from '#testing/faulty-node.ts';
import { type RelayerWorld, startRelayerWorld } from '#testing/relayer-world.ts';
import { settlementAbi } from '../../../contracts/artifacts/Settlement.ts';

type Pausing = 'pauseSettling' | 'unpauseSettling';

describe('the relayer, when chain and nodes misbehave', () => {
  let database: TestDatabase;
  let world: RelayerWorld;
  let first: FaultyNode;
  let second: FaultyNode;
  let payers: PrivateKeyAccount[];

  before(async () => {
    database = await testDatabase(12);
  });

  after(() => database.close());

  beforeEach(async () => {
    world = await startRelayerWorld(async (rpcUrl) => {
      first = await startFaultyNode(rpcUrl);
      second = await startFaultyNode(rpcUrl);
      return { rpcUrls: [first.url, second.url] };
    }, database);
    payers = await world.network.addPayers(3);
  });

  afterEach(async () => {
    await world.stop();
    await first.stop();
    await second.stop();
  });

  async function settledNumbers(): Promise<bigint[]> {
    const { chain, config } = world.network;
    const head = await chain.block('latest');
    const logs = await chain.logs({ fromBlock: 0n, toBlock: head?.number ?? 0n });
    return readEvents(config.settlement, logs).flatMap((event) =>
      event.event === 'PaymentSettled' ? [event.number] : [],
    );
  }

  async function submitted(): Promise<void> {
    const sql = `select count(*) from chain_requests where status = 'submitted'`;
    while ((await world.count(sql)) === 0) await sleep(10);
    if (first.mood === 'well') await world.network.pending();
  }

  /** Mines a block whenever asked for an outcome that is not there yet. */
  async function mineUntil(ids: readonly string[], blocks = 40): Promise<void> {
    for (let i = 0; i < blocks; i++) {
      const found = await Promise.all(ids.map((id) => world.outcome(id)));
      if (found.every((outcome) => outcome !== null)) return;
      await world.network.mine();
      await sleep(40);
    }
    throw new Error('no outcome');
  }

  async function settledOnce(ids: readonly string[]): Promise<void> {
    const outcomes = await world.outcomes(ids);
    assert(outcomes.every((outcome) => outcome.succeeded));
    const numbers = await settledNumbers();
    assert.equal(numbers.length, ids.length);
    const { merchantNumber } = world.merchant;
    const balance = await world.network.merchantBalance(merchantNumber);
    assert.equal(balance, BigInt(ids.length) * 1_000_000n);
  }

  it('settles once although the answers to its broadcasts are lost', async () => {
    first.mood = 'losing answers to broadcasts';
    second.mood = 'losing answers to broadcasts';
    world.startRelayer();
    const ids = await world.payMany(payers.map((payer) => ({ payer })));
    await submitted();
    await mineUntil(ids);
    await settledOnce(ids);
  });

  it('sends again what a node has promised to broadcast and forgot', async () => {
    first.mood = 'dropping broadcasts';
    world.startRelayer();
    const ids = await world.payMany(payers.map((payer) => ({ payer })));
    await submitted();
    await world.network.mine(2);
    first.mood = 'well';
    await mineUntil(ids);
    await settledOnce(ids);
  });

  for (const mood of ['down', 'limiting the rate', 'hanging'] as const) {
    it(`goes to the next node when the first is ${mood}`, async () => {
      first.mood = mood;
      world.startRelayer();
      const ids = await world.payMany(payers.map((payer) => ({ payer })));
      await submitted();
      await mineUntil(ids);
      await settledOnce(ids);
    });
  }

  it('waits while no node answers, and goes on when one does', async () => {
    world.startRelayer();
    const before = await world.pay({ payer: payers[0] as PrivateKeyAccount });
    await submitted();
    first.mood = 'down';
    second.mood = 'down';
    await world.network.mine();
    const during = await world.pay({ payer: payers[1] as PrivateKeyAccount });
    await sleep(1_500);
    assert.equal(await world.outcome(before), null);
    assert.equal(await world.outcome(during), null);
    second.mood = 'well';
    await mineUntil([before, during]);
    await settledOnce([before, during]);
  });

  it('sends the same bytes again when a reorganisation has dropped them', async () => {
    world.startRelayer();
    const ids = await world.payMany(payers.map((payer) => ({ payer })));
    await submitted();
    await mineUntil(ids);
    const before = await world.outcomes(ids);
    // However many blocks were mined until the outcome was there.
    const { rpc } = world.network;
    const settledIn = await world.count(
      'select max(block_number) as count from chain_transactions',
    );
    const head = Number(await rpc.call('eth_blockNumber', []));
    await rpc.call('anvil_reorg', [head - settledIn + 1, []]);
    assert.equal((await settledNumbers()).length, 0, 'the reorganisation dropped the batch');
    for (let i = 0; i < 40 && (await settledNumbers()).length === 0; i++) {
      await world.network.mine();
      await sleep(40);
    }
    await settledOnce(ids);
    const after = await world.outcomes(ids);
    assert.deepEqual(
      after.map((outcome) => outcome.facts?.txHash),
      before.map((outcome) => outcome.facts?.txHash),
    );
  });

  it('sends everything again, in order, when the node has lost its newest blocks', async () => {
    const snapshot = await world.network.rpc.call('evm_snapshot', []);
    world.startRelayer();
    const ids: string[] = [];
    for (const payer of payers) {
      ids.push(await world.pay({ payer }));
      await submitted();
      await mineUntil(ids);
    }
    assert.equal((await settledNumbers()).length, 3);
    assert.equal(await world.network.rpc.call('evm_revert', [snapshot]), true);
    assert.equal((await settledNumbers()).length, 0);
    for (let i = 0; i < 60 && (await settledNumbers()).length < 3; i++) {
      await world.network.mine();
      await sleep(40);
    }
    await settledOnce(ids);
  });

  it('fails nobody when a batch reverts as a whole: each is settled alone', async () => {
    const { config, rpc, guardian, admin, chain } = world.network;
    const post = async (by: PrivateKeyAccount, functionName: Pausing, fee: bigint) => {
      const nonce = Number((await chain.nonces([by.address]))[0] ?? 0n);
      const raw = await by.signTransaction({
        type: 'eip1559',
        chainId: config.chainId,
        nonce,
        to: config.settlement,
        data: encodeFunctionData({ abi: settlementAbi, functionName }),
        gas: 200_000n,
        maxFeePerGas: fee,
        maxPriorityFeePerGas: 0n,
      });
      await rpc.call('eth_sendRawTransaction', [raw]);
    };
    world.startRelayer();
    const ids = await world.payMany(payers.map((payer) => ({ payer })));
    await submitted();
    // In the order of what they offer: the pause, the batch, the end of the pause, in one block.
    const baseFee = (await chain.block('latest'))?.baseFeePerGas ?? 0n;
    await post(guardian, 'pauseSettling', baseFee * 9n);
    await post(admin, 'unpauseSettling', baseFee);
    await world.network.mine();
    await mineUntil(ids);
    await settledOnce(ids);
    const mined = `select count(*) from chain_transactions where status <> 'signed'`;
    assert.equal(await world.count(mined), 1 + payers.length);
  });

  it('offers more when fees have risen above what it offered', async () => {
    world.startRelayer();
    const { rpc } = world.network;
    await world.network.mine();
    await sleep(200);
    const ids = await world.payMany(payers.map((payer) => ({ payer })));
    await submitted();
    const raised = '0x174876e800';
    for (let i = 0; i < 40 && (await world.outcome(ids[0] ?? '')) === null; i++) {
      await rpc.call('anvil_setNextBlockBaseFeePerGas', [raised]);
      await world.network.mine();
      await sleep(60);
    }
    await settledOnce(ids);
    const attempts = await world.count('select count(*) from chain_attempts');
    assert(attempts > 1, 'a replacement was signed');
  });
});
