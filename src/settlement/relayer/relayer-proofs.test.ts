import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { numberToHex } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { outsideBatches } from '#testkit/fixtures/settlement/outside-batches.ts';
import { askRefund, settleSale } from '#testkit/fixtures/settlement/relayer-scene.ts';
import {
  assertSucceeded,
  type RelayerWorld,
  startRelayerWorld,
} from '#testkit/fixtures/settlement/relayer-world.ts';

/** Enough batches to overwrite every Merkle node that the contract keeps in its ring. */
const AROUND = 256;
/** The gas limit of a block that fits all of these batches. */
const BLOCK_GAS = 300_000_000;

describe('the proof of a refund', () => {
  let world: RelayerWorld;
  let payer: PrivateKeyAccount;

  before(async () => {
    world = await startRelayerWorld();
    payer = await world.network.addPayer();
    await world.network.rpc.call('evm_setBlockGasLimit', [numberToHex(BLOCK_GAS)]);
    await world.network.mine();
    // The test itself uses the other key, outside the service.
    world.startRelayer({ relayerKeys: world.network.config.relayerKeys.slice(0, 1) });
  });

  after(() => world.stop());

  async function settle(): Promise<string> {
    const stopMining = world.network.mineEvery(60);
    try {
      return await settleSale(world, { payer, amount: 1_000_000n });
    } finally {
      await stopMining();
    }
  }

  const transactions = (kind: string) =>
    world.countRows(`chain_transactions where kind = '${kind}'`);

  it('can become stale before its block: the refund gets another, and is paid once', async () => {
    const paymentId = await settle();
    const paid = await world.network.usdcOf(payer.address);
    const spent = await outsideBatches(world, payer)(AROUND);
    const id = await askRefund(world, paymentId, 400_000n);
    while ((await transactions('refund')) === 0) await sleep(20);
    const [outcome] = await world.mineOutcomes([id]);
    assert.equal(outcome?.succeeded, true);
    assert.equal(await transactions('refund'), 2, 'the first one reverted');
    assert.equal(await world.network.usdcOf(payer.address), paid + 400_000n - spent);
    const refunds = await askRefund(world, paymentId, 600_000n);
    assertSucceeded(await world.mineOutcomes([refunds]));
    assert.equal(await transactions('refund'), 3, 'a node that lasts needs one transaction');
  });

  it("is built from events alone if batches' rows are missing or from lost blocks", async () => {
    const paymentId = await settle();
    const { db } = world.database;
    for (const spoil of [
      'delete from chain_batches',
      `update chain_batches
       set block_hash = sha256(block_hash), node = sha256(node), root = sha256(root)
       where number > 100`,
      'delete from chain_batches where number > 200',
    ]) {
      await db.query(spoil);
      const id = await askRefund(world, paymentId, 1_000n);
      const [outcome] = await world.mineOutcomes([id]);
      assert.equal(outcome?.succeeded, true, spoil);
      const rows = 'select count(*) from chain_batches';
      assert.equal(await world.count(rows), AROUND + 2, 'all batches are known again');
    }
    assert.equal(await transactions('refund'), 6, 'none was sent twice');
  });
});
