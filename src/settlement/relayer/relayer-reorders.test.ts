import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PrivateKeyAccount } from 'viem/accounts';
import { applyOnceMined, askRefund } from '#testkit/fixtures/settlement/relayer-scene.ts';
import {
  type RelayerWorld,
  startRelayerWorld,
} from '#testkit/fixtures/settlement/relayer-world.ts';

describe('a refund that a reorganization undoes', () => {
  let world: RelayerWorld;
  let payers: PrivateKeyAccount[];

  beforeEach(async () => {
    world = await startRelayerWorld();
    payers = await world.network.addPayers(2);
    world.startRelayer();
  });

  afterEach(() => world.stop());

  /**
   * Settles two payments in two senders' batches, whose order may change when they are mined again.
   */
  async function settleBoth(): Promise<string[]> {
    const ids: string[] = [];
    for (const payer of payers) {
      ids.push(await world.pay({ payer }));
      const sql = `select count(*) from chain_requests where status = 'submitted'`;
      while ((await world.count(sql)) < ids.length) await sleep(10);
    }
    await world.mineOutcomes(ids);
    return Promise.all(ids.map((id) => world.recordPayment(id)));
  }

  /** Applies results in the way that the domain does, so that the ledger contains them. */
  const applyAll = () =>
    world.database.db.query('update chain_requests set applied_at = now() where status = $1', [
      'succeeded',
    ]);

  async function isPaidAgain(applyIt: () => Promise<unknown>): Promise<void> {
    await world.network.mine();
    await sleep(200);
    // This payment is batch 1. Batches 2 and 3 have no node in common, so their order matters.
    const earlier = await world.pay({ payer: payers[0] as PrivateKeyAccount });
    await world.mineOutcomes([earlier]);
    const sent = `select coalesce(max(id), 0)::int as count from chain_transactions`;
    const lastBefore = await world.count(sent);
    const start = await world.network.head();
    const [, paymentId = ''] = await settleBoth();
    const refund = await askRefund(world, paymentId, 400_000n);
    await world.mineOutcomes([refund]);
    await applyIt();
    const payer = payers[1] as PrivateKeyAccount;
    const before = await world.network.usdcOf(payer.address);
    // The second payment's batch now comes first, so the refund's proof leads to another node.
    const raws = await world.database.db.query<{ raw: Buffer; sender: number }>(
      `select a.raw, t.sender from chain_attempts a join chain_transactions t
         on t.id = a.transaction_id
       where t.id > $1 order by t.kind = 'refund', t.sender desc`,
      [lastBefore],
    );
    assert.deepEqual(
      raws.map(({ sender }) => sender),
      [1, 0, 0],
    );
    const moved = raws.map(({ raw }, index) => [`0x${raw.toString('hex')}`, index] as const);
    await world.network.reorganize(start + 1, moved);
    assert.notEqual(await world.network.usdcOf(payer.address), before, 'the refund was undone');
    await world.mineUntil(async () => (await world.network.usdcOf(payer.address)) === before);
    await world.mineUntilRows(0, `chain_requests where status <> 'succeeded'`);
    assert.equal(await world.balance(), 2_600_000n);
    assert.equal(await world.countRows('chain_requests'), 4);
    const alarms = `select count(*) from chain_alarms where kind = 'outcome_changed'`;
    assert.equal(await world.count(alarms), 0);
  }

  it('is paid again with another proof when its payment has moved to another batch', () =>
    isPaidAgain(applyAll));

  it('is paid again if its success was not applied yet', () =>
    isPaidAgain(() => Promise.resolve()));

  it('is paid again even if its success is applied meanwhile', () =>
    isPaidAgain(() => applyOnceMined(world, 'refund')));
});
