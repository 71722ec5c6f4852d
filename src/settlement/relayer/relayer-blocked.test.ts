import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { encodeFunctionData } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { endBlockedRefund, selectBlocked } from '#settlement/blocked-request-queries.ts';
import type { Relayer } from '#settlement/relayer/relayer.ts';
import {
  askRefund,
  askWithdrawal,
  type OddWorld,
  postSwitch,
  settleSale,
  startOddWorld,
  switchContract,
} from '#testkit/fixtures/settlement/relayer-scene.ts';
import { headFollowed } from '#testkit/fixtures/settlement/relayer-turns.ts';
import { assertSucceeded } from '#testkit/fixtures/settlement/relayer-world.ts';
import { type ProviderProxy, startProviderProxy } from '#testkit/network/provider-proxy.ts';
import { testUsdcAbi } from '../../../contracts/artifacts/TestUSDC.ts';

describe('a refund that is temporarily refused', () => {
  let world: OddWorld<ProviderProxy>;
  let payer: PrivateKeyAccount;
  let relayer: Relayer;
  let stopMining: () => Promise<void>;
  let paymentId: string;

  before(async () => {
    world = await startOddWorld(startProviderProxy);
    payer = await world.network.addPayer();
    stopMining = world.network.mineEvery(60);
    relayer = world.startRelayer();
    paymentId = await settleSale(world, { payer, amount: 5_000_000n });
  });

  after(() => world.stop());

  async function block(blocked: boolean): Promise<void> {
    const { network } = world;
    const args = [payer.address, blocked] as const;
    const data = encodeFunctionData({ abi: testUsdcAbi, functionName: 'setBlocked', args });
    await network.send(network.admin, network.config.usdc, data);
    await isKnown();
  }

  /**
   * Resolves when the relayer has followed the newest block. Until then, it simulates calls on
   * older state.
   */
  const isKnown = () => headFollowed(world.nodes[0] as ProviderProxy);

  const refund = () => askRefund(world, paymentId, 1_000_000n);
  const blockedRow = (id: string, kind: 'refund' | 'withdrawal' = 'refund') =>
    selectBlocked(world.database.db, kind, id);

  async function untilBlocked(id: string, kind?: 'withdrawal'): Promise<string> {
    for (let i = 0; i < 500; i++) {
      const row = await blockedRow(id, kind);
      if (row !== undefined) return row.blocked_by;
      await sleep(20);
    }
    throw new Error('never blocked');
  }

  /**
   * Restarts the relayer, which makes the next try due immediately: only the process remembers the
   * pause of a minute.
   */
  async function tryAgain(meanwhile = async () => {}): Promise<void> {
    await relayer.stop();
    await meanwhile();
    relayer = world.startRelayer();
  }

  it('because USDC blocks the payer, waits, costs no gas, and is paid when allowed', async () => {
    await block(true);
    const before = await world.countRows('chain_transactions');
    const id = await refund();
    assert.notEqual(await untilBlocked(id), '');
    assert.equal(await world.outcome(id), null);
    assert.equal(await world.countRows('chain_transactions'), before);
    await block(false);
    await tryAgain();
    assertSucceeded(await world.outcomes([id]));
    assert.equal(await blockedRow(id), undefined);
  });

  it('because refunding is paused, waits as well', async () => {
    await switchContract(world.network, 'pauseRefunding');
    await isKnown();
    const id = await refund();
    assert.equal(await untilBlocked(id), 'RefundingIsPaused');
    await switchContract(world.network, 'unpauseRefunding');
    await isKnown();
    await tryAgain();
    assertSucceeded(await world.outcomes([id]));
  });

  it('waits for the next hour if the ceiling is reached; a withdrawal does not', async () => {
    const { network } = world;
    const govern = (functionName: 'lowerCeiling' | 'restoreCeiling', usdc: number) => {
      const by = functionName === 'lowerCeiling' ? network.guardian : network.admin;
      return network.callSettlement(by, functionName, [usdc]);
    };
    const other = await settleSale(world, { payer, amount: 10_000_000n });
    await govern('lowerCeiling', 2);
    await isKnown();
    const large = await askRefund(world, other, 4_200_001n);
    assert.match(await untilBlocked(large), /hourly limit/);
    const withdrawal = await askWithdrawal(world, 2_000_001n);
    assertSucceeded(await world.outcomes([withdrawal]));
    assert.equal(await world.outcome(large), null);
    await govern('restoreCeiling', 100);
    await isKnown();
    await tryAgain();
    assertSucceeded(await world.outcomes([large]));
    // Counts alerts about this hour's refunds, which exceed four fifths of the ceiling of five
    // USDC.
    const told = `select count(*) from chain_alarms where kind = 'outflow_near'
      and details ->> 'perHour' = '5000000'`;
    assert.equal(BigInt(await world.count(told)), 0n);
    // Delete earlier alerts, because there is at most one per hour. On a slow machine, one was
    // raised while the ceiling was two USDC.
    await world.database.db.query(`delete from chain_alarms where kind = 'outflow_near'`);
    await govern('lowerCeiling', 5);
    await tryAgain();
    for (let i = 0; i < 500 && BigInt(await world.count(told)) === 0n; i++) await sleep(20);
    assert.equal(BigInt(await world.count(told)), 1n, 'a person hears of it before it is full');
    await govern('restoreCeiling', 100);
    await isKnown();
    await tryAgain();
  });

  it('fails with transfer_blocked after 24 hours, and not before', async () => {
    await block(true);
    const id = await refund();
    await untilBlocked(id);
    const age = (hours: number) =>
      world.database.db.query(
        `update chain_requests set created = now() - $2 * interval '1 hour' where subject_id = $1`,
        [id, hours],
      );
    await age(23.9);
    let later = '';
    await tryAgain(async () => {
      later = await askWithdrawal(world, 1n);
    });
    // One poll finds both jobs, and stores its decisions about them together.
    await world.outcomes([later]);
    assert.equal(await world.outcome(id), null);
    await age(24);
    await tryAgain();
    const [outcome] = await world.outcomes([id]);
    assert.equal(outcome?.reason, 'transfer_blocked');
    await block(false);
  });

  it('can be canceled while it waits, and only then', async () => {
    await block(true);
    const id = await refund();
    await untilBlocked(id);
    const end = (subject: string) =>
      world.database.db.transaction((tx) => endBlockedRefund(tx, subject));
    const setApplied = (at: string) =>
      world.database.db.query(
        `update chain_requests set applied_at = ${at} where subject_id = $1`,
        [id],
      );
    await setApplied('now()');
    assert.equal(await end(id), false, 'it was paid before a reorganization: it is owed');
    await setApplied('null');
    assert.equal(await end(id), true);
    assert.equal((await world.outcome(id))?.reason, 'transfer_blocked');
    assert.equal(await end(id), false);
    await block(false);
    await tryAgain();
    const paid = await refund();
    await world.outcomes([paid]);
    assert.equal(await end(paid), false);
  });

  /** Unlike refunds, other jobs fail after three tries without a result. */
  it('because it is mined at the wrong moment three times, is paid the fourth time', async () => {
    const { network } = world;
    await stopMining();
    const before = await network.usdcOf(payer.address);
    const id = await refund();
    for (let times = 0; times < 3; times++) {
      await network.pending();
      // The block orders the transactions by fee: the pause, the refund, the end of the pause.
      const baseFee = (await network.chain.block('latest'))?.baseFeePerGas ?? 0n;
      const offered = await world.count('select max(max_fee_per_gas) as count from chain_attempts');
      await postSwitch(network, 'pauseRefunding', BigInt(offered) * 2n);
      await postSwitch(network, 'unpauseRefunding', baseFee);
      await network.mine();
    }
    stopMining = network.mineEvery(60);
    assertSucceeded(await world.outcomes([id]));
    assert.equal(await network.usdcOf(payer.address), before + 1_000_000n);
    const tries = `select tries as count from chain_requests where subject_id = '${id}'`;
    assert.equal(await world.count(tries), 3);
  });
});
