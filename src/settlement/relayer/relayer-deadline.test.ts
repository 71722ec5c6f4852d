import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { PrivateKeyAccount } from 'viem/accounts';
import { NOT_IN_TIME } from '#settlement/chain-requests.ts';
import { type OddWorld, startOddWorld } from '#testkit/fixtures/settlement/relayer-scene.ts';
import { headFollowed } from '#testkit/fixtures/settlement/relayer-turns.ts';
import { assertSucceeded } from '#testkit/fixtures/settlement/relayer-world.ts';
import { type ProviderProxy, startProviderProxy } from '#testkit/network/provider-proxy.ts';

describe('the deadline of a payment', () => {
  let world: OddWorld<ProviderProxy>;
  let payer: PrivateKeyAccount;

  beforeEach(async () => {
    world = await startOddWorld(startProviderProxy);
    payer = await world.network.addPayer();
  });

  afterEach(() => world.stop());

  /** Sets the time that the payment has left before its deadline. */
  async function setLeft(id: string, left: string): Promise<void> {
    await world.database.db.query(
      'update chain_requests set deadline = now() + $2::interval where subject_id = $1',
      [id, left],
    );
  }

  const signed = () => world.countRows('chain_transactions');

  for (const left of ['9.5 seconds', '-30 hours']) {
    it(`is kept: nothing is signed for a payment with ${left} left`, async () => {
      const late = await world.pay({ payer });
      await setLeft(late, left);
      const inTime = await world.pay({ payer });
      world.startRelayer();
      const stopMining = world.network.mineEvery(50);
      await world.outcomes([inTime]);
      // The oldest jobs are claimed first, so if this one is signed, the late one was checked
      // again.
      await world.outcomes([await world.pay({ payer })]);
      await stopMining();
      assert.equal(await signed(), 2);
      assert.equal(await world.outcome(late), null);
      assert.equal(await world.balance(), 2_000_000n);
    });
  }

  it('is kept for a payment that is sent alone because its batch gave no result', async () => {
    const late = await world.pay({ payer });
    const inTime = await world.pay({ payer });
    await world.database.db.query('update chain_requests set tries = 1');
    await setLeft(late, '9.5 seconds');
    world.startRelayer();
    const stopMining = world.network.mineEvery(50);
    // The poll that finds this job also finds the older one, and signs both.
    await world.outcomes([inTime]);
    await stopMining();
    assert.equal(await signed(), 1);
    assert.equal(await world.outcome(late), null);
  });

  const pass = (seconds: number) => world.network.rpc.call('evm_increaseTime', [seconds]);
  const spent = async () => 10n ** 12n - (await world.network.usdcOf(payer.address));
  const isOpen = async () =>
    (await world.countRows(`chain_transactions where status = 'signed'`)) > 0;

  /** Makes the clock of this block and the following ones differ from ours by this many seconds. */
  async function setClock(seconds: number): Promise<void> {
    const time = Math.floor(Date.now() / 1_000) + seconds;
    await world.network.rpc.call('anvil_setTime', [time]);
    await world.network.mine();
  }

  /** Has the relayer sign and send the payment, without mining a block. */
  async function sign(): Promise<string> {
    world.startRelayer();
    const id = await world.pay({ payer });
    await world.network.pending();
    return id;
  }

  it('does not end a payment if only the chain’s clock is past it: it is sent again', async () => {
    const id = await sign();
    await pass(70);
    assertSucceeded(await world.mineOutcomes([id]));
    assert.equal(await spent(), 1_004_500n);
    assert.equal(
      await world.countRows(`chain_transactions where retired`),
      1,
      'the first bytes came too late',
    );
  });

  it('ends a payment two blocks after its bytes expire, and no sooner', async () => {
    const id = await sign();
    await setLeft(id, '0 seconds');
    await pass(70);
    for (let blocks = 1; blocks <= 2; blocks++) {
      await world.network.mine();
      await headFollowed(world.nodes[0] as ProviderProxy);
      assert.equal(await world.outcome(id), null, `processing at ${blocks} blocks`);
    }
    await world.network.mine();
    assert.deepEqual(await world.outcomes([id]), [NOT_IN_TIME]);
    assert.equal(await spent(), 0n);
  });

  it('ends a payment that a pool forgot, and sending its bytes later moves nothing', async () => {
    const id = await sign();
    await world.network.rpc.call('anvil_dropAllTransactions', []);
    await setLeft(id, '0 seconds');
    await pass(70);
    assert.deepEqual(await world.mineOutcomes([id]), [NOT_IN_TIME]);
    await world.mineUntil(async () => !(await isOpen()));
    const rows = await world.database.db.query<{ raw: Buffer; cancels: boolean }>(
      'select raw, cancels from chain_attempts order by cancels',
    );
    assert.deepEqual(
      rows.map(({ cancels }) => cancels),
      [false, true],
    );
    const raw = `0x${rows[0]?.raw.toString('hex')}`;
    await assert.rejects(world.network.rpc.call('eth_sendRawTransaction', [raw]), /nonce too low/);
    assert.equal(await spent(), 0n);
  });

  it('applies to bytes that one worker stored and another finds 30 hours later', async () => {
    const worker = world.spawnRelayer('settlement.signed_committed');
    const id = await world.pay({ payer });
    await world.network.mine();
    await worker.ended;
    assert.equal(await signed(), 1, 'stored, and never sent');
    await setLeft(id, '-30 hours');
    await pass(30 * 3_600);
    await world.network.mine();
    world.startRelayer();
    assert.deepEqual(await world.mineOutcomes([id]), [NOT_IN_TIME]);
    await world.mineUntil(async () => !(await isOpen()));
    assert.equal(await spent(), 0n);
  });

  /** Settles payments in time and loses the worker that sent them. No other worker has its keys. */
  async function settleUnseen(count: number): Promise<string[]> {
    const worker = world.spawnRelayer('settlement.broadcast_sent');
    const ids = await world.payMany(Array.from({ length: count }, () => ({ payer })));
    await worker.ended;
    await world.network.mine();
    for (const id of ids) await setLeft(id, '-30 hours');
    await pass(30 * 3_600);
    await world.network.mine();
    return ids;
  }

  it('does not end a payment settled in time whose receipt was never read', async () => {
    const ids = await settleUnseen(1);
    world.startRelayer({ relayerKeys: [] });
    assertSucceeded(await world.mineOutcomes(ids));
    assert.equal(await spent(), 1_004_500n);
  });

  it('ends payments whose numbers others have used, with an alarm for each', async () => {
    const ids = await settleUnseen(2);
    await world.database.db.query(
      `update chain_requests set payload = jsonb_set(payload, '{amount}', '"1600000"')`,
    );
    world.startRelayer({ relayerKeys: [] });
    assert.deepEqual(await world.mineOutcomes(ids), [NOT_IN_TIME, NOT_IN_TIME]);
    const alarms = await world.database.db.query<{ subject: string }>(
      `select subject from chain_alarms where kind = 'number_taken' order by subject`,
    );
    assert.deepEqual(
      alarms.map(({ subject }) => subject),
      ids.toSorted(),
    );
  });

  for (const [name, seconds] of [
    ['ahead', 30],
    ['behind', -30],
  ] as const) {
    it(`is measured by the chain's own clock, which is half a minute ${name}`, async () => {
      await setClock(seconds);
      const id = await sign();
      const [row] = await world.database.db.query<{ valid: Date }>(
        'select valid_until as valid from chain_transactions',
      );
      const head = await world.network.chain.block('latest');
      const left = ((row?.valid.getTime() ?? 0) - (head?.time.getTime() ?? 0)) / 1_000;
      assert.ok(left > 50 && left <= 60, `${left} s by the chain's clock`);
      const off = ((head?.time.getTime() ?? 0) - Date.now()) / 1_000;
      assert.ok(Math.abs(off - seconds) < 5, `the chain is ${off} s off`);
      assertSucceeded(await world.mineOutcomes([id]));
    });
  }

  it('keeps payments out of a batch with one that has half of their time left', async () => {
    const late = await world.pay({ payer });
    await setLeft(late, '25 seconds');
    const inTime = await world.pay({ payer });
    world.startRelayer();
    await world.mineOutcomes([late, inTime]);
    assert.equal(await signed(), 2);
    const spread = `select extract(epoch from max(valid_until) - min(valid_until)) as count
      from chain_transactions`;
    assert.ok((await world.count(spread)) >= 30);
  });
});
