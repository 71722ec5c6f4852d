import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PrivateKeyAccount } from 'viem/accounts';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import { databaseForTests } from '#testkit/fixtures/db/database-for-tests.ts';
import {
  assertSettledOnce,
  minedBlock,
  type OddWorld,
  postSwitch,
  settledNumbers,
  startOddWorld,
} from '#testkit/fixtures/settlement/relayer-scene.ts';
import { type FaultyNode, startFaultyNode } from '#testkit/network/faulty-node.ts';

const WAIT_MS = 15_000;

describe('the relayer, while chain and nodes misbehave', () => {
  const database = databaseForTests(12);
  let world: OddWorld<FaultyNode>;
  let first: FaultyNode;
  let second: FaultyNode;
  let payers: PrivateKeyAccount[];

  beforeEach(async () => {
    world = await startOddWorld(startFaultyNode, { nodes: 2, database });
    [first, second] = world.nodes as [FaultyNode, FaultyNode];
    payers = await world.network.addPayers(3);
  });

  afterEach(() => world.stop());

  const settled = () => settledNumbers(world.network);

  async function submitted(): Promise<void> {
    const sql = `select count(*) from chain_requests where status = 'submitted'`;
    while ((await world.count(sql)) === 0) await sleep(10);
    if (first.mood === 'well') await world.network.pending();
  }

  const settledOnce = (ids: readonly string[]) => assertSettledOnce(world, ids);

  it('settles a payment once although the answers to its broadcasts are lost', async () => {
    first.mood = 'losing answers to broadcasts';
    second.mood = 'losing answers to broadcasts';
    world.startRelayer();
    const ids = await world.payMany(payers.map((payer) => ({ payer })));
    await submitted();
    await world.mineOutcomes(ids);
    await settledOnce(ids);
  });

  it('sends a transaction again that a node accepted and forgot', async () => {
    first.mood = 'dropping broadcasts';
    world.startRelayer();
    const ids = await world.payMany(payers.map((payer) => ({ payer })));
    await submitted();
    await world.network.mine(2);
    first.mood = 'well';
    await world.mineOutcomes(ids);
    await settledOnce(ids);
  });

  for (const mood of ['down', 'limiting the rate', 'hanging'] as const) {
    it(`asks the next node when the first is ${mood}`, async () => {
      first.mood = mood;
      world.startRelayer();
      const ids = await world.payMany(payers.map((payer) => ({ payer })));
      await submitted();
      await world.mineOutcomes(ids);
      await settledOnce(ids);
    });
  }

  /**
   * Resolves after a failed poll. A poll asks one node after another, and the next poll starts when
   * all have failed.
   */
  async function lookedInVain(): Promise<void> {
    const looks = () => first.calls.get('eth_getBlockByNumber') ?? 0;
    const before = looks();
    const done = () => looks() >= before + 3;
    assert(await waitUntil(done, WAIT_MS), 'the relayer did not read the chain');
  }

  it('waits while no node answers, and continues when one does', async () => {
    world.startRelayer();
    const before = await world.pay({ payer: payers[0] as PrivateKeyAccount });
    await submitted();
    first.mood = 'down';
    second.mood = 'down';
    await world.network.mine();
    const during = await world.pay({ payer: payers[1] as PrivateKeyAccount });
    await lookedInVain();
    assert.equal(await world.outcome(before), null);
    assert.equal(await world.outcome(during), null);
    second.mood = 'well';
    await world.mineOutcomes([before, during]);
    await settledOnce([before, during]);
  });

  it('sends the same bytes again when a reorganization has dropped them', async () => {
    world.startRelayer();
    const ids = await world.payMany(payers.map((payer) => ({ payer })));
    await submitted();
    await world.mineOutcomes(ids);
    const before = await world.outcomes(ids);
    // Undo all blocks that were mined until the result arrived.
    await world.network.reorganize(await minedBlock(world));
    assert.equal((await settled()).length, 0, 'the reorganization dropped the batch');
    await world.mineUntil(async () => (await settled()).length > 0);
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
      await world.mineOutcomes(ids);
    }
    assert.equal((await settled()).length, 3);
    assert.equal(await world.network.rpc.call('evm_revert', [snapshot]), true);
    assert.equal((await settled()).length, 0);
    await world.mineUntil(async () => (await settled()).length >= 3);
    await settledOnce(ids);
  });

  it('declines no payment when a batch reverts as a whole: each is settled alone', async () => {
    world.startRelayer();
    const ids = await world.payMany(payers.map((payer) => ({ payer })));
    await submitted();
    const { network } = world;
    // The block orders the transactions by fee: the pause, the batch, the end of the pause.
    const baseFee = (await network.chain.block('latest'))?.baseFeePerGas ?? 0n;
    await postSwitch(network, 'pauseSettling', baseFee * 9n);
    await postSwitch(network, 'unpauseSettling', baseFee);
    await network.mine();
    await world.mineOutcomes(ids);
    await settledOnce(ids);
    const mined = `select count(*) from chain_transactions where status <> 'signed'`;
    assert.equal(await world.count(mined), 1 + payers.length);
  });

  it('offers higher fees when fees have risen above its offer', async () => {
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
    const attempts = await world.countRows('chain_attempts');
    assert(attempts > 1, 'a replacement was signed');
  });
});
