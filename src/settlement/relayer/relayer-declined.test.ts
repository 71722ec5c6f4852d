import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PrivateKeyAccount } from 'viem/accounts';
import type { Network } from '#core/mode.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { databaseForTests } from '#testkit/fixtures/db/database-for-tests.ts';
import {
  applyOutcomes,
  signApproval,
  switchContract,
} from '#testkit/fixtures/settlement/relayer-scene.ts';
import {
  type RelayerWorld,
  startRelayerWorld,
} from '#testkit/fixtures/settlement/relayer-world.ts';

const SALE = 1_000_000n;
const MANY = 10n ** 12n;
/**
 * Fee ceiling. The sender's offer, twice the base fee, reaches it when the base fee is above half
 * of it.
 */
const CEILING = 1_000_000_000n;
/**
 * A base fee so high that twice the base fee stays above the ceiling for five more blocks, even if
 * they are empty and lower it.
 */
const BASE_FEE = 950_000_000n;

for (const network of ['testnet', 'mainnet'] satisfies Network[]) {
  describe(`a payer told "declined" on ${network} is not charged after a reorganization`, () => {
    const database = databaseForTests(12);
    let world: RelayerWorld;

    afterEach(() => world.stop());

    const spent = async (payer: PrivateKeyAccount) =>
      MANY - (await world.network.usdcOf(payer.address));

    async function open(maxFeePerGasCeiling?: bigint): Promise<void> {
      const ceiling = maxFeePerGasCeiling === undefined ? {} : { maxFeePerGasCeiling };
      const livemode = network === 'mainnet';
      world = await startRelayerWorld(() => ({ network, livemode, ...ceiling }), database);
    }

    /**
     * Applies the results, so that merchants' systems receive events about settled and declined
     * payments.
     */
    async function tell(ids: readonly string[]): Promise<(string | undefined)[]> {
      const told = await world.mineOutcomes(ids);
      await applyOutcomes(world);
      return told.map((outcome) => outcome.reason ?? 'succeeded');
    }

    /**
     * Returns the payer's approval transaction, which comes before the relayer's transaction in the
     * block.
     */
    const approval = (payer: PrivateKeyAccount, nonce: number): Promise<Hex> =>
      signApproval(world.network, payer, { nonce, amount: MANY });

    /** Replaces all blocks after `block`. The first new block begins with these transactions. */
    async function reorganize(block: number, raws: readonly Hex[] = []): Promise<void> {
      await world.network.mine(1);
      const first = raws.map((raw) => [raw, 0] as const);
      await world.network.reorganize(block + 1, first);
    }

    /** True if every sender's nonces are used, so that no transaction is left to be sent. */
    const isQuiet = async () =>
      (await world.countRows(`chain_transactions where status = 'signed'`)) === 0 &&
      (await world.countRows(`chain_requests where status in ('queued', 'submitted')`)) === 0;

    async function settleDown(): Promise<void> {
      const noticed = /were reorganized|lacks transactions of a sender/;
      await world.mineUntil(async () =>
        world.complaints.some((complaint) => noticed.test(complaint)),
      );
      await world.mineUntil(isQuiet);
      await world.network.mine(3);
      await sleep(200);
    }

    it('though its batch settled other payments: they are settled again, without it', async () => {
      await open();
      const good = await world.network.addPayer();
      const poor = await world.network.addPayer({ allowance: 0n });
      await world.network.mine();
      const start = await world.network.head();
      const ids = await world.payMany([{ payer: good }, { payer: poor }]);
      world.startRelayer();
      assert.deepEqual(await tell(ids), ['succeeded', 'approval_insufficient']);
      assert.equal(await world.countRows('chain_transactions'), 1, 'one batch held both');
      const price = await spent(good);
      await reorganize(start, [await approval(poor, 3)]);
      assert.equal(await spent(good), 0n, 'the reorganization has undone the batch');
      await settleDown();
      assert.equal(await spent(poor), 0n);
      assert.equal(await spent(good), price);
      assert.equal(await world.balance(), SALE);
      assert.equal(await world.countRows('chain_alarms'), 0);
      const [before, declined] = await Promise.all(ids.map((id) => world.outcome(id)));
      assert.equal(before?.succeeded, true);
      assert.equal(declined?.succeeded, false);
    });

    it('although the batch had reverted as a whole', async () => {
      await open();
      const payers = await world.network.addPayers(2);
      const start = await world.network.head();
      await switchContract(world.network, 'pauseSettling');
      const ids = await world.payMany(payers.map((payer) => ({ payer })));
      world.startRelayer();
      const mined = `chain_transactions where status = 'mined'`;
      await world.mineUntilRows(1, mined);
      // Settling is paused, so wait until the deadline has passed while the contract still accepts
      // the bytes.
      await database.db.query(
        `update chain_requests set deadline = now(), signed_until = now() - interval '1 hour'`,
      );
      assert.deepEqual(await tell(ids), ['settlement_failed', 'settlement_failed']);
      assert.equal(await world.countRows(mined), 1);
      // The new blocks do not contain the pause, so the old bytes could succeed in them.
      await reorganize(start);
      await settleDown();
      for (const payer of payers) assert.equal(await spent(payer), 0n);
      assert.equal(await world.balance(), 0n);
      assert.equal(await world.countRows('chain_alarms'), 0);
    });

    it('although no cancellation can outbid the old bytes at the fee ceiling', async () => {
      await open(CEILING);
      const poor = await world.network.addPayer({ allowance: 0n });
      const fee = `0x${BASE_FEE.toString(16)}`;
      await world.network.rpc.call('anvil_setNextBlockBaseFeePerGas', [fee]);
      await world.network.mine();
      const start = await world.network.head();
      const ids = await world.payMany([{ payer: poor }]);
      world.startRelayer();
      assert.deepEqual(await tell(ids), ['approval_insufficient']);
      assert.equal(await world.count('select max_fee_per_gas as count from chain_attempts'), 1e9);
      await reorganize(start, [await approval(poor, 3)]);
      await settleDown();
      assert.equal(await spent(poor), 0n);
      assert.equal(await world.balance(), 0n);
      assert.equal(await world.countRows('chain_alarms'), 0);
    });

    it('or the ledger follows the chain, if the chain mines the old bytes anyway', async () => {
      await open();
      const poor = await world.network.addPayer({ allowance: 0n });
      const start = await world.network.head();
      const ids = await world.payMany([{ payer: poor }]);
      world.startRelayer();
      assert.deepEqual(await tell(ids), ['approval_insufficient']);
      const [row] = await database.db.query<{ raw: Buffer }>('select raw from chain_attempts');
      const old: Hex = `0x${row?.raw.toString('hex')}`;
      await reorganize(start, [await approval(poor, 3), old]);
      await settleDown();
      assert.equal(await world.balance(), SALE);
      const alarm = `chain_alarms where kind = 'settled_after_decline' and subject = '${ids[0]}'`;
      assert.equal(await world.countRows(alarm), 1);
      assert.equal((await world.outcome(ids[0] ?? ''))?.succeeded, true);
      assert.equal(
        await world.countRows('chain_requests where applied_at is null'),
        1,
        'to be applied',
      );
    });
  });
}
