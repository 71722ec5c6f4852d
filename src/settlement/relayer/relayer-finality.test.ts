import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import type { PrivateKeyAccount } from 'viem/accounts';
import { databaseForTests } from '#testkit/fixtures/db/database-for-tests.ts';
import {
  applyOnceMined,
  applyOutcomes,
  minedBlock,
  signApproval,
  startOddWorld,
} from '#testkit/fixtures/settlement/relayer-scene.ts';
import { headFollowed } from '#testkit/fixtures/settlement/relayer-turns.ts';
import {
  assertSucceeded,
  type RelayerWorld,
  startRelayerWorld,
} from '#testkit/fixtures/settlement/relayer-world.ts';
import { type ProviderProxy, startProviderProxy } from '#testkit/network/provider-proxy.ts';
import type { Overrides } from '#testkit/network/test-network.ts';

describe('a payment that the relayer has reported as settled', () => {
  const database = databaseForTests(12);
  let world: RelayerWorld;
  let payer: PrivateKeyAccount;

  afterEach(() => world.stop());

  async function open(overrides?: Overrides): Promise<void> {
    world = await startRelayerWorld(overrides, database);
    await addPayer();
  }

  async function addPayer(): Promise<void> {
    payer = await world.network.addPayer();
  }

  async function settle(): Promise<string> {
    const id = await world.pay({ payer });
    await world.mineOutcomes([id]);
    return id;
  }

  const until = (done: () => Promise<boolean>) => world.mineUntil(done);

  /**
   * Replaces the blocks from the settlement on, however many were mined before its result arrived.
   * The new blocks begin with this transaction.
   */
  const undo = async (first: string) =>
    world.network.reorganize(await minedBlock(world), [[first, 0]]);

  const approval = (nonce: number, amount: bigint) =>
    signApproval(world.network, payer, { nonce, amount });

  it('is final once the chain reports its block as final', async () => {
    await open();
    world.startRelayer();
    await settle();
    assert.equal(await world.countRows(`chain_transactions where status = 'mined'`), 1);
    await world.network.mine(80);
    await world.mineUntilRows(1, `chain_transactions where status = 'finalized'`);
  });

  it('has waited for as many confirmations as the network requires', async () => {
    const odd = await startOddWorld(startProviderProxy, { database, config: { confirmations: 3 } });
    const [proxy] = odd.nodes as [ProviderProxy];
    world = odd;
    await addPayer();
    world.startRelayer();
    const id = await world.pay({ payer });
    await world.network.mine(1);
    await world.network.pending();
    await world.network.mine(1);
    const mined = await world.network.chain.block('latest');
    assert.equal(mined?.transactions.length, 1);
    await world.network.mine(2);
    await headFollowed(proxy);
    assert.equal(await world.outcome(id), null);
    await world.network.mine(1);
    const [outcome] = await world.outcomes([id]);
    assert.equal(outcome?.facts?.blockNumber, mined?.number.toString());
  });

  it("is found through a node's announcement of blocks if the node offers that", async () => {
    await open((rpcUrl) => ({ headsUrl: rpcUrl.replace('http', 'ws'), headPollMs: 60_000 }));
    world.startRelayer();
    await world.network.mine();
    const id = await settle();
    assert.equal((await world.outcome(id))?.succeeded, true);
  });

  it('gets its new position, without an alarm, if a reorganization moves it', async () => {
    await open();
    world.startRelayer();
    const id = await settle();
    await applyOutcomes(world);
    const paymentId = await world.recordPayment(id);
    const place = async () => {
      const rows = await database.db.query<{ block_number: bigint; log_index: number }>(
        `select p.tx_hash, i.tx_hash as named, p.block_number, p.log_index, p.settled_at
         from payments p join payment_intents i on i.id = p.payment_intent_id where p.id = $1`,
        [paymentId],
      );
      return rows[0];
    };
    const before = await place();
    await world.network.mine(1);
    // The payer's own transaction comes first in the new block.
    await undo(await approval(3, 10n ** 12n));
    await until(async () => (await place())?.block_number !== before?.block_number);
    const facts = (await world.outcome(id))?.facts;
    const moved = {
      block_number: BigInt(String(facts?.blockNumber)),
      log_index: Number(facts?.logIndex),
    };
    assert.deepEqual(await place(), { ...before, ...moved });
    assert.equal(await world.countRows('chain_alarms'), 0);
    assert.equal(await world.balance(), 1_000_000n);
  });

  it('raises an alarm if it fails after a reorganization, and is paid once it can be', async () => {
    await open();
    world.startRelayer();
    const id = await settle();
    await applyOutcomes(world);
    await world.network.mine(1);
    // Mine the settlement again after the payer has revoked the allowance: the revocation comes
    // first in the new blocks.
    await undo(await approval(3, 0n));
    await world.mineUntilRows(1, `chain_alarms where kind = 'outcome_changed'`);
    assert(world.complaints.includes('settlement alarm: outcome_changed'));
    assert.equal(await world.balance(), 0n);
    assert.equal(await world.countRows(`chain_requests where status = 'failed'`), 0);
    await world.network.rpc.call('eth_sendRawTransaction', [await approval(4, 10n ** 12n)]);
    await until(async () => (await world.balance()) === 1_000_000n);
    assertSucceeded(await world.mineOutcomes([id]));
  });

  it('is sent again if the ledger books it while its second transaction fails', async () => {
    await open();
    world.startRelayer();
    const id = await settle();
    const end = await applyOnceMined(world, 'payment');
    await world.network.mine(1);
    await undo(await approval(3, 0n));
    await world.mineUntilRows(1, `chain_alarms where kind = 'outcome_changed'`);
    await end();
    assert.equal(await world.balance(), 0n);
    await world.network.rpc.call('eth_sendRawTransaction', [await approval(4, 10n ** 12n)]);
    await until(async () => (await world.balance()) === 1_000_000n);
    assertSucceeded(await world.mineOutcomes([id]));
  });

  it('is paid again even if no transaction of ours carries it, as after a restore', async () => {
    await open();
    world.startRelayer();
    const id = await settle();
    await applyOutcomes(world);
    // Write the rows that recovery leaves for a payment whose bytes were lost.
    const { db } = world.database;
    const block = await minedBlock(world);
    await db.query('update chain_requests set transaction_id = null where subject_id = $1', [id]);
    await db.query('delete from chain_attempts');
    await db.query('delete from chain_transactions');
    await world.network.mine(1);
    await world.network.reorganize(block);
    assert.equal(await world.balance(), 0n);
    await until(async () => (await world.balance()) === 1_000_000n);
    await world.mineOutcomes([id]);
    assert.equal(await world.countRows('chain_alarms'), 0);
  });

  it('is not charged after all if it had failed before a reorganization', async () => {
    await open();
    world.startRelayer();
    const { rpc } = world.network;
    await rpc.call('eth_sendRawTransaction', [await approval(3, 0n)]);
    await world.network.mine(1);
    const id = await settle();
    const before = await world.outcome(id);
    assert.equal(before?.succeeded, false);
    await applyOutcomes(world);
    await world.network.mine(1);
    // The new blocks begin with an allowance, so the same bytes would succeed in them.
    await undo(await approval(4, 10n ** 12n));
    await world.mineUntilRows(1, 'chain_attempts where cancels');
    await world.mineUntilRows(1, `chain_transactions where status = 'mined'`);
    assert.deepEqual(await world.outcome(id), before);
    assert.equal(await world.balance(), 0n);
    assert.equal(await world.countRows('chain_alarms'), 0);
  });
});
