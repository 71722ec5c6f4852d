import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Hex } from '#settlement/chain-requests.ts';
import { steps } from '#settlement/relayer/state-machine/relayer-state.ts';
import { databaseForTests } from '#testkit/fixtures/db/database-for-tests.ts';
import { type OddWorld, startOddWorld } from '#testkit/fixtures/settlement/relayer-scene.ts';
import { assertSucceeded } from '#testkit/fixtures/settlement/relayer-world.ts';
import type { TakenStep } from '#testkit/fixtures/settlement/step-history.ts';
import { BEHAVIORS, type BehaviorName } from '#testkit/network/provider-behaviors.ts';
import { type ProviderProxy, startProviderProxy } from '#testkit/network/provider-proxy.ts';

const BLOCK_MS = 250;
const PAYMENTS = 12;
const WAIT_MS = 30_000;

/** One URL in front of several nodes, which disagree about the newest blocks. */
describe('an address whose nodes disagree', () => {
  const database = databaseForTests(12);
  let world: OddWorld<ProviderProxy>;
  let proxy: ProviderProxy;
  /** Each broadcast transaction, with the relayer's head at that time. */
  let sent: { readonly hash: Hex; readonly head: bigint }[];

  beforeEach(async () => {
    world = await startOddWorld(startProviderProxy, { config: { headPollMs: 25 }, database });
    [proxy] = world.nodes as [ProviderProxy];
    sent = [];
    steps.subscribe(noteSent);
    // Lets all nodes see the blocks of the setup before their heads begin to differ.
    await world.network.mine(4);
    world.network.mineEvery(BLOCK_MS);
  });

  afterEach(async () => {
    steps.unsubscribe(noteSent);
    await world.stop();
  });

  function noteSent(message: unknown): void {
    const { before, observation, now } = message as TakenStep;
    const hash = before.attempts.at(-1)?.hash;
    if (observation.kind !== 'sent' || hash === undefined) return;
    sent.push({ hash, head: now.head?.number ?? 0n });
  }

  function behaveAs(name: BehaviorName): void {
    proxy.behavior = BEHAVIORS[name]();
  }

  /**
   * Returns the transactions that were sent although the followed chain already contained them. On
   * a slow machine a block may arrive between the decision and the broadcast; resending is then
   * correct.
   */
  async function sentInVain(): Promise<Hex[]> {
    const mined = await Promise.all(
      sent.map(({ hash }) => world.network.rpc.call('eth_getTransactionReceipt', [hash])),
    );
    return sent.flatMap(({ hash, head }, index) => {
      const receipt = mined[index] as { readonly blockNumber: Hex } | null;
      return receipt !== null && BigInt(receipt.blockNumber) <= head ? [hash] : [];
    });
  }

  async function payOneByOne(payments: number): Promise<void> {
    const payer = await world.network.addPayer();
    for (let i = 0; i < payments; i++) {
      assertSucceeded(await world.outcomes([await world.pay({ payer })], WAIT_MS));
      await sleep(Math.random() * BLOCK_MS);
    }
  }

  const alarms = () => world.countRows('chain_alarms');

  it('by up to three blocks raises no alarm, and nothing is sent again', async () => {
    behaveAs('has nodes that are up to three blocks apart');
    world.startRelayer();
    // Makes payments one by one, so that the relayer learns how far apart the nodes are.
    await payOneByOne(6);
    sent.length = 0;
    await payOneByOne(PAYMENTS);
    assert.deepEqual(world.complaints, []);
    assert.equal(await alarms(), 0);
    assert.deepEqual(await sentInVain(), []);
    assert.equal(new Set(sent.map(({ hash }) => hash)).size, PAYMENTS);
  });

  it('by a fork of one node raises no alarm, and each payment is made once', async () => {
    behaveAs('has one node on a fork');
    world.startRelayer();
    await payOneByOne(PAYMENTS);
    assert.deepEqual(world.complaints, []);
    assert.equal(await alarms(), 0);
    const balance = await world.balance();
    assert.equal(balance, BigInt(PAYMENTS) * 1_000_000n);
  });
});
