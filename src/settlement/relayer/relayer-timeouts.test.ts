import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import type { PrivateKeyAccount } from 'viem/accounts';
import { CUSTOM, profileNamed } from '#settlement/chain-profiles.ts';
import { NOT_IN_TIME } from '#settlement/chain-requests.ts';
import type { CountsRule, NetworkConfig } from '#settlement/network-config.ts';
import { reconcileOnce } from '#settlement/reconciliation/reconcile-once.ts';
import { readRelayerStatus } from '#settlement/status/relayer-status.ts';
import { databaseForTests } from '#testkit/fixtures/db/database-for-tests.ts';
import { addAccount, startOddWorld } from '#testkit/fixtures/settlement/relayer-scene.ts';
import { headFollowed } from '#testkit/fixtures/settlement/relayer-turns.ts';
import {
  assertSucceeded,
  type RelayerWorld,
  startRelayerWorld,
} from '#testkit/fixtures/settlement/relayer-world.ts';
import { type ProviderProxy, startProviderProxy } from '#testkit/network/provider-proxy.ts';

const SMALL = 1_000_000n;
const LARGE = 5_000_000n;
const waits = (waitsFor: CountsRule['waitsFor'], ms = 0): readonly CountsRule[] => [
  { from: 0n, waitsFor: 'inclusion', ms: 0 },
  { from: LARGE, waitsFor, ms },
];

describe('the time that a payment waits depends on its sum', () => {
  const database = databaseForTests(12);
  let world: RelayerWorld;
  let payer: PrivateKeyAccount;

  afterEach(() => world.stop());

  async function open(config: Partial<NetworkConfig>): Promise<void> {
    world = await startRelayerWorld(() => config, database);
    payer = await world.network.addPayer();
    world.startRelayer();
  }

  interface Held {
    readonly waits_for: string;
    readonly included_at: Date;
  }

  const held = async (): Promise<Held | null> => {
    const rows = await database.db.query<Held>(
      `select waits_for, included_at from chain_transactions
       where included_at is not null and status = 'signed'`,
    );
    return rows[0] ?? null;
  };

  /** Replaces the blocks from the newest settlement on with empty ones. */
  async function undo(): Promise<void> {
    const [row] = await database.db.query<{ tx_hash: string }>(
      'select tx_hash from chain_attempts order by created desc limit 1',
    );
    const receipt = await world.network.rpc.call('eth_getTransactionReceipt', [row?.tx_hash]);
    const { blockNumber } = receipt as { blockNumber: string };
    await world.network.reorganize(Number(blockNumber));
  }

  it('a small payment counts at inclusion, a large one only once the block is safe', async () => {
    await open({ countsFrom: waits('safe') });
    const [small = '', large = ''] = await world.payMany([
      { payer, amount: SMALL },
      { payer, amount: LARGE },
    ]);
    await world.mineUntil(
      async () => (await world.outcome(small)) !== null && (await held()) !== null,
    );
    assert.equal((await held())?.waits_for, 'safe');
    assert.equal((await world.outcome(small))?.succeeded, true);
    assert.equal(await world.outcome(large), null);
    const { senders } = await readRelayerStatus(database.db, world.network.chain);
    assert.deepEqual(new Set(senders.map(({ unmined }) => unmined)), new Set([0]));
    // The deadline applies only until the payment's block is mined, so later blocks do not decline
    // the payment.
    await world.network.rpc.call('evm_increaseTime', [600]);
    await world.network.mine(4);
    assert.equal(await world.outcome(large), null);
    // On the test's node, the safe block is the 32nd below the head.
    await world.network.mine(40);
    assertSucceeded(await world.mineOutcomes([large]));
  });

  it('a large payment that still waits is not reported as missing in the ledger', async () => {
    // Longer than the blocks and the comparison below take on a busy machine.
    await open({ countsFrom: waits('time', 5_000) });
    await addAccount(world);
    // Compare blocks of any age, because the test's blocks are recent.
    const differences = async () => {
      const result = await reconcileOnce(world.deps, { graceMs: -86_400_000 });
      return result.differences
        .map(({ kind }) => kind)
        .filter((kind) => kind.startsWith('payment'));
    };
    const large = await world.pay({ payer, amount: LARGE });
    await world.mineUntil(async () => (await held()) !== null);
    // Move the cursor past the payment's block, which is already final.
    await world.network.mine(80);
    assert.deepEqual(await differences(), []);
    assert.equal(await world.outcome(large), null);
    await world.mineOutcomes([large]);
    assert.deepEqual(await differences(), ['payment_unknown_here'], 'now its row is due');
    await world.recordPayment(large);
    assert.deepEqual(await differences(), []);
  });

  it('a block that cannot be undone is safe immediately', async () => {
    await open({ countsFrom: waits('finalized'), profile: profileNamed('arc') });
    const large = await world.pay({ payer, amount: LARGE });
    await world.mineOutcomes([large]);
    assert.equal(await held(), null);
  });

  it('the wait begins when the block is seen, and again if the block is lost', async () => {
    await open({ countsFrom: waits('time', 900) });
    const large = await world.pay({ payer, amount: LARGE });
    await world.mineUntil(async () => (await held()) !== null);
    const first = await held();
    assert.equal(first?.waits_for, 'time');
    await undo();
    const isFoundAgain = async () => {
      const now = await held();
      return now !== null && now.included_at.getTime() !== first?.included_at.getTime();
    };
    await world.mineUntil(isFoundAgain);
    const since = performance.now();
    const [outcome] = await world.mineOutcomes([large]);
    assert.ok(performance.now() - since > 700, 'it waited for its time again');
    assert.equal(outcome?.succeeded, true);
  });

  it('a refusal counts immediately, however large the sum', async () => {
    await open({ countsFrom: waits('safe') });
    const poor = await world.network.addPayer({ usdc: 0n });
    const large = await world.pay({ payer: poor, amount: LARGE });
    const [outcome] = await world.mineOutcomes([large]);
    assert.equal(outcome?.succeeded, false);
  });

  it('a payment on a fast chain ends no sooner than one on a slow chain', async () => {
    const odd = await startOddWorld(startProviderProxy, {
      database,
      config: { minBlockMs: 1_000, profile: { ...CUSTOM, blockMs: 200 } },
    });
    const [proxy] = odd.nodes as [ProviderProxy];
    world = odd;
    payer = await world.network.addPayer();
    world.startRelayer();
    const id = await world.pay({ payer, amount: SMALL });
    await world.network.pending();
    await database.db.query('update chain_requests set deadline = now()');
    await world.network.rpc.call('evm_increaseTime', [70]);
    // Mine four blocks within a second. If each counted as one second, the payment would have ended
    // after three.
    for (let blocks = 1; blocks <= 4; blocks++) {
      await world.network.mine();
      await headFollowed(proxy);
      assert.equal(await world.outcome(id), null, `processing at ${blocks} blocks`);
    }
    assert.deepEqual(await world.mineOutcomes([id]), [NOT_IN_TIME]);
    assert.equal(await world.network.usdcOf(payer.address), 10n ** 12n);
  });

  it('payments wait for the time that the operator has set', async () => {
    await open({ settleEveryMs: 800 });
    const first = await world.pay({ payer, amount: SMALL });
    await world.mineOutcomes([first]);
    await world.pay({ payer, amount: SMALL });
    await world.mineOutcomes([await world.pay({ payer, amount: SMALL })]);
    const rows = await database.db.query<{ created: Date }>(
      'select created from chain_transactions order by id',
    );
    assert.equal(rows.length, 2, 'the later ones share a transaction');
    const apartMs = Number(rows[1]?.created) - Number(rows[0]?.created);
    assert.ok(apartMs >= 750, `${apartMs} ms`);
  });

  it('blocks that share a timestamp are distinguished by when they were seen', async () => {
    await open({ profile: { ...CUSTOM, blockMs: 200 } });
    const stopMining = world.network.mineEvery(200);
    await world.outcomes([await world.pay({ payer, amount: SMALL })]);
    const before = new Date();
    const id = await world.pay({ payer, amount: SMALL });
    const [outcome] = await world.outcomes([id]);
    await stopMining();
    const facts = outcome?.facts as unknown as { seenAt?: string; blockTime: string };
    assert.ok(facts.seenAt !== undefined && new Date(facts.seenAt) >= before, facts.seenAt);
    assert.ok(new Date(facts.seenAt) <= new Date());
  });
});
