import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PrivateKeyAccount } from 'viem/accounts';
import { readEvents } from '#settlement/contract/contract-events.ts';
import { reconcileOnce } from '#settlement/reconciliation/reconcile-once.ts';
import { createRandom } from '#testkit/fixtures/core/random.ts';
import { addAccount, startOddWorld } from '#testkit/fixtures/settlement/relayer-scene.ts';
import { assertSucceeded, type RelayerWorld } from '#testkit/fixtures/settlement/relayer-world.ts';
import { type FaultyNode, startFaultyNode } from '#testkit/network/faulty-node.ts';

const ROUNDS = 16;
const ROUND_MS = 250;
const PAYMENTS_PER_ROUND = 5;
const MOODS = [
  'well',
  'well',
  'down',
  'losing answers to broadcasts',
  'dropping broadcasts',
] as const;
/** Seeds the faults, so that a failure can be reproduced. */
const SEED = 20_260_928;

describe('relayers under all faults together', () => {
  it('settle each payment once, and the ledger matches the chain', async () => {
    const world = await startOddWorld(startFaultyNode);
    const [node] = world.nodes as [FaultyNode];
    world.network.mineEvery(70);
    try {
      const ids = await trouble(world, node);
      await world.outcomes(ids, 40_000);
      await quiet(world);
      await check(world, ids);
    } finally {
      await world.stop();
    }
  });
});

/** Makes payments while workers are killed, nodes misbehave, and reorganizations undo blocks. */
async function trouble(world: RelayerWorld, node: FaultyNode): Promise<string[]> {
  const { below: roll } = createRandom(SEED, 'faults');
  const payers = await world.network.addPayers(PAYMENTS_PER_ROUND);
  // Mine more blocks than a later reorganization undoes: it must not undo these transactions,
  // because they would not be resent.
  await world.network.mine(5);
  const workers = [world.spawnRelayer(), world.spawnRelayer()];
  const ids: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    ids.push(...(await world.payMany(payers.map((payer: PrivateKeyAccount) => ({ payer })))));
    node.mood = MOODS[roll(MOODS.length)] ?? 'well';
    if (roll(4) === 0) {
      const victim = roll(workers.length);
      workers[victim]?.kill();
      workers[victim] = world.spawnRelayer();
    }
    if (roll(4) === 0) await world.network.rpc.call('anvil_reorg', [1 + roll(3), []]);
    await sleep(ROUND_MS);
  }
  node.mood = 'well';
  return ids;
}

/** Waits until nothing is in progress, including jobs that a late reorganization has undone. */
async function quiet(world: RelayerWorld): Promise<void> {
  const unmined = `select count(*) from chain_transactions where status = 'signed'`;
  let calm = 0;
  for (let i = 0; i < 400 && calm < 10; i++) {
    calm = (await world.count(unmined)) === 0 ? calm + 1 : 0;
    await sleep(100);
  }
  assert(calm >= 10, 'transactions are stuck');
}

async function check(world: RelayerWorld, ids: readonly string[]): Promise<void> {
  const { chain, config } = world.network;
  const outcomes = await world.outcomes(ids);
  assertSucceeded(outcomes);
  const head = await chain.block('latest');
  const logs = await chain.logs({ fromBlock: 0n, toBlock: head?.number ?? 0n });
  const settled = readEvents(config, logs).filter((event) => event.event === 'PaymentSettled');
  assert.equal(settled.length, ids.length);
  assert.equal(new Set(settled.map((event) => event.number)).size, ids.length);
  const balance = await world.balance();
  assert.equal(balance, BigInt(ids.length) * 1_000_000n);
  const places = new Set(settled.map((event) => `${event.txHash} ${event.logIndex}`));
  for (const { facts } of outcomes) assert(places.has(`${facts?.txHash} ${facts?.logIndex}`));
  await reconciled(world, ids);
}

async function reconciled(world: RelayerWorld, ids: readonly string[]): Promise<void> {
  await addAccount(world);
  for (const id of ids) await world.recordPayment(id);
  const { differences } = await reconcileOnce(world.deps, { graceMs: -86_400_000 });
  assert.deepEqual(differences, []);
  assert.equal(await world.countRows(`chain_alarms where resolved_at is null`), 0);
}
