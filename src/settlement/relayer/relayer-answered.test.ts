import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PrivateKeyAccount } from 'viem/accounts';
import { requeueAnswered, selectAnswered } from '#settlement/relayer/jobs/transaction-queries.ts';
import type { Relayer } from '#settlement/relayer/relayer.ts';
import { databaseForTests } from '#testkit/fixtures/db/database-for-tests.ts';
import { askRefund, settleSale, signApproval } from '#testkit/fixtures/settlement/relayer-scene.ts';
import {
  type RelayerWorld,
  startRelayerWorld,
} from '#testkit/fixtures/settlement/relayer-world.ts';

const PAID = 1_000_000n;
const REFUNDED = 400_000n;
/** Longer than a deferred job waits until its next check. */
const LONGER_THAN_DEFERRED_MS = 3_000;

/**
 * Payments booked by recovery. This database has lost the bytes that paid them, but nodes may still
 * have them.
 */
describe('a payment booked from the chain alone', () => {
  const database = databaseForTests(12);
  let world: RelayerWorld;
  let payer: PrivateKeyAccount;
  let paymentId: string;
  let relayer: Relayer;

  beforeEach(async () => {
    world = await startRelayerWorld(undefined, database);
    payer = await world.network.addPayer();
    relayer = world.startRelayer();
    const stopMining = world.network.mineEvery(100);
    paymentId = await settleSale(world, { payer, amount: PAID });
    await stopMining();
    await applyAll();
  });

  afterEach(() => world.stop());

  const until = (done: () => Promise<boolean>) => world.mineUntil(done);

  /** Applies the results in the way that the domains do. */
  async function applyAll(): Promise<void> {
    await database.db.query(
      `update chain_requests set applied_at = now() where status <> 'queued'`,
    );
  }

  const refund = (amount: bigint) => askRefund(world, paymentId, amount);

  const hasSucceeded = async (id: string) =>
    (await world.countRows(
      `chain_requests where subject_id = '${id}' and status = 'succeeded'`,
    )) === 1;

  interface Lost {
    readonly id: string;
    readonly raw: string;
    readonly block: number;
  }

  /** Adds a refund that the chain has paid, in the way that recovery books it. */
  async function refundFromChain(): Promise<Lost> {
    const id = await refund(REFUNDED);
    await until(() => hasSucceeded(id));
    await applyAll();
    const { db } = database;
    const [row] = await db.query<{ id: bigint; raw: Buffer; block: bigint }>(
      `select t.id, a.raw, t.block_number as block from chain_requests r
       join chain_transactions t on t.id = r.transaction_id
       join chain_attempts a on a.transaction_id = t.id where r.subject_id = $1`,
      [id],
    );
    assert(row !== undefined);
    await db.query('update chain_requests set transaction_id = null where subject_id = $1', [id]);
    await db.query('delete from chain_attempts where transaction_id = $1', [row.id]);
    await db.query('delete from chain_transactions where id = $1', [row.id]);
    return { id, raw: `0x${row.raw.toString('hex')}`, block: Number(row.block) };
  }

  async function undoRefund(): Promise<Lost> {
    const lost = await refundFromChain();
    await world.network.mine(1);
    await world.network.reorganize(lost.block);
    assert.equal(await world.balance(), PAID);
    return lost;
  }

  async function isPaidOnce(lost: Lost): Promise<void> {
    await until(
      async () => (await world.balance()) === PAID - REFUNDED && (await hasSucceeded(lost.id)),
    );
    const later = await refund(PAID - REFUNDED);
    await until(() => hasSucceeded(later));
    assert.equal(await world.balance(), 0n);
    assert.equal(await world.countRows(`chain_requests where status <> 'succeeded'`), 0);
    assert.equal(await world.countRows('chain_alarms'), 0);
  }

  it('is found if the lost bytes pay it after all, and later refunds work', async () => {
    const lost = await undoRefund();
    await world.mineUntilRows(1, 'chain_requests where tries > 0');
    // A node that still has the payment's bytes includes them in its next block.
    await world.network.reorganize(await world.network.head(), [[lost.raw, 0]]);
    await isPaidOnce(lost);
  });

  it('is paid only once more by two workers that check the same blocks', async () => {
    world.startRelayer();
    await isPaidOnce(await undoRefund());
  });

  it('is paid only once more if the worker dies between checking and sending', async () => {
    const lost = await refundFromChain();
    await relayer.stop();
    const child = world.spawnRelayer('reorganizations.queued_again');
    // Wait until the relayer runs: on a busy machine it starts slowly, and the blocks would become
    // final before it sees them.
    while ((await world.countRows('relayer_senders where lease_until > now()')) === 0)
      await sleep(50);
    await world.network.mine(1);
    await world.network.reorganize(lost.block);
    const stopMining = world.network.mineEvery(60);
    await child.ended;
    await stopMining();
    const queued = `chain_requests where status = 'queued' and tries = 1`;
    assert.equal(await world.countRows(queued), 1);
    world.startRelayer();
    await isPaidOnce(lost);
  });

  it("is not queued again because of a check that another worker's has overtaken", async () => {
    const lost = await refundFromChain();
    const { db } = database;
    const rows = await selectAnswered(db, { livemode: false, after: 0n });
    const [seen] = rows;
    assert(seen !== undefined && rows.length === 1);
    await requeueAnswered(db, { ...seen, block_number: seen.block_number - 1n });
    assert(await hasSucceeded(lost.id), 'it is in another block by now');
    await requeueAnswered(db, seen);
    assert.equal(await hasSucceeded(lost.id), false);
  });

  it('keeps its refund waiting, however long it takes to be paid again', async () => {
    const { db } = database;
    const block = await world.count('select max(block_number) as count from chain_transactions');
    const approval = (nonce: number, amount: bigint) =>
      signApproval(world.network, payer, { nonce, amount });
    await world.network.mine(1);
    await world.network.reorganize(block, [[await approval(3, 0n), 0]]);
    await world.mineUntilRows(1, `chain_requests where status = 'queued'`);
    const id = await refund(REFUNDED);
    await db.query(
      `update chain_requests set created = now() - interval '11 minutes'
      where subject_id = $1`,
      [id],
    );
    await world.network.mine(1);
    await sleep(LONGER_THAN_DEFERRED_MS);
    assert.equal(
      await world.countRows(`chain_requests where subject_id = '${id}' and status = 'queued'`),
      1,
    );
    await world.network.rpc.call('eth_sendRawTransaction', [await approval(4, 10n ** 12n)]);
    await until(() => hasSucceeded(id));
    assert.equal(await world.balance(), PAID - REFUNDED);
  });
});
