import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import type { PrivateKeyAccount } from 'viem/accounts';
import { type TestDatabase, testDatabase } from '#testing/database.ts';
import { type ProviderProxy, startProviderProxy } from '#testing/provider-proxy.ts';
import {
  applyOutcomes,
  haveOutcomes,
  mineUntil,
  signApproval,
  startOddWorld,
} from '#testing/relayer-scene.ts';
import { headFollowed } from '#testing/relayer-turns.ts';
import { type RelayerWorld, startRelayerWorld } from '#testing/relayer-world.ts';
import type { Overrides } from '#testing/test-network.ts';

describe('a payment that the relayer has reported as settled', () => {
  let database: TestDatabase;
  let world: RelayerWorld;
  let payer: PrivateKeyAccount;

  before(async () => {
    database = await testDatabase(12);
  });

  after(() => database.close());

  afterEach(() => world.stop());

  async function open(overrides?: Overrides): Promise<void> {
    world = await startRelayerWorld(overrides, database);
    await addPayer();
  }

  async function addPayer(): Promise<void> {
    [payer] = (await world.network.addPayers(1)) as [PrivateKeyAccount];
  }

  async function settle(): Promise<string> {
    const id = await world.pay({ payer });
    await until(() => haveOutcomes(world, [id]));
    return id;
  }

  const until = (done: () => Promise<boolean>) =>
    mineUntil(world.network, done, { blocks: 100, everyMs: 60 });

  const count = (where: string) => world.count(`select count(*) from ${where}`);

  /**
   * Replaces the blocks from the settlement on, however many were mined before its result arrived.
   * The new blocks contain the given transactions.
   */
  async function undo(
    transactions: readonly (readonly [string, number])[],
    from?: number,
  ): Promise<void> {
    const { rpc } = world.network;
    const head = Number(await rpc.call('eth_blockNumber', []));
    await rpc.call('anvil_reorg', [head - (from ?? (await minedBlock())) + 1, transactions]);
  }

  const minedBlock = () =>
    world.count(`select max(block_number) as count from chain_transactions where status = 'mined'`);

  const approval = (nonce: number, amount: bigint) =>
    signApproval(world.network, payer, { nonce, amount });

  it('is final once the chain reports its block as final', async () => {
    await open();
    world.startRelayer();
    await settle();
    assert.equal(await count(`chain_transactions where status = 'mined'`), 1);
    await world.network.mine(80);
    await until(async () => (await count(`chain_transactions where status = 'finalized'`)) === 1);
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
    await undo([[await approval(3, 10n ** 12n), 0]]);
    await until(async () => (await place())?.block_number !== before?.block_number);
    const facts = (await world.outcome(id))?.facts;
    const moved = {
      block_number: BigInt(String(facts?.blockNumber)),
      log_index: Number(facts?.logIndex),
    };
    assert.deepEqual(await place(), { ...before, ...moved });
    assert.equal(await count('chain_alarms'), 0);
    assert.equal(await world.network.merchantBalance(world.merchant.merchantNumber), 1_000_000n);
  });

  it('raises an alarm if it fails after a reorganization, and is paid once it can be', async () => {
    await open();
    world.startRelayer();
    const id = await settle();
    await applyOutcomes(world);
    const { merchantNumber } = world.merchant;
    await world.network.mine(1);
    // Mine the settlement again after the payer has revoked the allowance: the revocation comes
    // first in the new blocks.
    const raw = await approval(3, 0n);
    await undo([[raw, 0]]);
    await until(async () => (await count(`chain_alarms where kind = 'outcome_changed'`)) === 1);
    assert(world.complaints.includes('settlement alarm: outcome_changed'));
    assert.equal(await world.network.merchantBalance(merchantNumber), 0n);
    assert.equal(await count(`chain_requests where status = 'failed'`), 0);
    await world.network.rpc.call('eth_sendRawTransaction', [await approval(4, 10n ** 12n)]);
    await until(async () => (await world.network.merchantBalance(merchantNumber)) === 1_000_000n);
    await until(() => haveOutcomes(world, [id]));
    assert.equal((await world.outcome(id))?.succeeded, true);
  });

  it('is sent again if the ledger books it while its second transaction fails', async () => {
    await open();
    world.startRelayer();
    const id = await settle();
    const { db } = database;
    // Change the row after the relayer has read the transaction, and before it writes the new
    // result.
    await db.query(
      `create function apply_late() returns trigger language plpgsql as $$ begin
         update chain_requests set applied_at = now()
         where transaction_id = new.id and status = 'succeeded' and applied_at is null;
         return new;
       end $$`,
    );
    await db.query(
      `create trigger apply_late after update on chain_transactions for each row
         when (new.status = 'mined') execute function apply_late()`,
    );
    await world.network.mine(1);
    await undo([[await approval(3, 0n), 0]]);
    await until(async () => (await count(`chain_alarms where kind = 'outcome_changed'`)) === 1);
    await db.query('drop function apply_late cascade');
    const { merchantNumber } = world.merchant;
    assert.equal(await world.network.merchantBalance(merchantNumber), 0n);
    await world.network.rpc.call('eth_sendRawTransaction', [await approval(4, 10n ** 12n)]);
    await until(async () => (await world.network.merchantBalance(merchantNumber)) === 1_000_000n);
    await until(() => haveOutcomes(world, [id]));
    assert.equal((await world.outcome(id))?.succeeded, true);
  });

  it('is paid again even if no transaction of ours carries it, as after a restore', async () => {
    await open();
    world.startRelayer();
    const id = await settle();
    await applyOutcomes(world);
    const { merchantNumber } = world.merchant;
    // Write the rows that recovery leaves for a payment whose bytes were lost.
    const { db } = world.database;
    const block = await minedBlock();
    await db.query('update chain_requests set transaction_id = null where subject_id = $1', [id]);
    await db.query('delete from chain_attempts');
    await db.query('delete from chain_transactions');
    await world.network.mine(1);
    await undo([], block);
    assert.equal(await world.network.merchantBalance(merchantNumber), 0n);
    await until(async () => (await world.network.merchantBalance(merchantNumber)) === 1_000_000n);
    await until(() => haveOutcomes(world, [id]));
    assert.equal(await count('chain_alarms'), 0);
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
    await undo([[await approval(4, 10n ** 12n), 0]]);
    await until(async () => (await count('chain_attempts where cancels')) === 1);
    await until(async () => (await count(`chain_transactions where status = 'mined'`)) === 1);
    assert.deepEqual(await world.outcome(id), before);
    assert.equal(await world.network.merchantBalance(world.merchant.merchantNumber), 0n);
    assert.equal(await count('chain_alarms'), 0);
  });
});
