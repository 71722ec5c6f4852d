import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import type { Hex } from '#settlement/chain-requests.ts';
import { databaseForTests } from '#testkit/fixtures/db/database-for-tests.ts';
import {
  assertSettledOnce,
  type OddWorld,
  settledNumbers,
  startOddWorld,
} from '#testkit/fixtures/settlement/relayer-scene.ts';
import { headFollowed } from '#testkit/fixtures/settlement/relayer-turns.ts';
import { assertSucceeded, TEST_LEASE_MS } from '#testkit/fixtures/settlement/relayer-world.ts';
import { type ProviderProxy, startProviderProxy } from '#testkit/network/provider-proxy.ts';

describe('relayer senders', () => {
  const database = databaseForTests(12);
  let world: OddWorld<ProviderProxy>;
  let payers: PrivateKeyAccount[];

  beforeEach(async () => {
    world = await startOddWorld(startProviderProxy, { database });
    payers = await world.network.addPayers(6);
  });

  afterEach(() => world.stop());

  async function until(sql: string, expected: (count: number) => boolean): Promise<void> {
    for (let i = 0; i < 500; i++) {
      if (expected(await world.count(sql))) return;
      await sleep(20);
    }
    throw new Error(`never came true: ${sql}`);
  }

  const owners = 'select count(distinct lease_owner) from relayer_senders';
  const submitted = `select count(*) from chain_requests where status = 'submitted'`;

  it('are shared by workers, and no payment is settled twice', async () => {
    world.network.mineEvery(50);
    for (let i = 0; i < 3; i++) world.startRelayer();
    await until(owners, (count) => count === 3);
    const payments = Array.from({ length: 300 }, (_, i) => ({
      payer: payers[i % 6] as PrivateKeyAccount,
    }));
    const ids: string[] = [];
    for (let i = 0; i < 300; i += 10) ids.push(...(await world.payMany(payments.slice(i, i + 10))));
    await assertSettledOnce(world, ids);
    assert.equal(await world.countRows('chain_alarms'), 0);
  });

  it('go to the others when a worker dies', async () => {
    world.network.mineEvery(50);
    const child = world.spawnRelayer();
    await until(
      'select count(*) from relayer_senders where lease_owner is not null',
      (n) => n === 5,
    );
    child.kill();
    const died = performance.now();
    world.startRelayer();
    const ids = await world.payMany(payers.map((payer) => ({ payer })));
    assertSucceeded(await world.outcomes(ids));
    assert(performance.now() - died < TEST_LEASE_MS + 6_000);
  });

  it('change nothing for a worker that has lost them', async () => {
    world.startRelayer();
    const [id = ''] = await world.payMany(payers.slice(0, 1).map((payer) => ({ payer })));
    await world.network.pending();
    await database.db.query(
      `update relayer_senders set lease_owner = 'thief', lease_until = now() + interval '1 hour',
         fencing_token = fencing_token + 1`,
    );
    await world.network.mine(2);
    await headFollowed(world.nodes[0] as ProviderProxy);
    assert.equal(await world.outcome(id), null);
    assert.equal((await settledNumbers(world.network)).length, 1);
    await database.db.query('update relayer_senders set lease_until = now()');
    world.network.mineEvery(50);
    assertSucceeded(await world.outcomes([id]));
  });

  const cancellations = () => world.countRows('chain_attempts where cancels');

  /**
   * Makes the node refuse transactions above this gas limit, until the relayer has signed a
   * cancellation.
   */
  async function refuseAbove(gasLimit: Hex, ask: () => Promise<string[]>): Promise<string[]> {
    await world.network.rpc.call('evm_setBlockGasLimit', [gasLimit]);
    const ids = await ask();
    await until(submitted, (count) => count === ids.length);
    for (let i = 0; i < 300 && (await cancellations()) === 0; i++) {
      await world.network.mine();
      await sleep(30);
    }
    assert((await cancellations()) > 0);
    await world.network.rpc.call('evm_setBlockGasLimit', ['0x1c9c380']);
    world.network.mineEvery(50);
    return ids;
  }

  it('fill a nonce with a cancellation if no node accepts its transaction', async () => {
    world.startRelayer();
    await until(
      'select count(*) from relayer_senders where lease_owner is not null',
      (n) => n === 5,
    );
    // A limit below the gas limit of our batches.
    const ids = await refuseAbove('0x50000', () =>
      world.payMany(payers.map((payer) => ({ payer }))),
    );
    assertSucceeded(await world.outcomes(ids));
    assert.equal((await settledNumbers(world.network)).length, 6);
  });

  it('send the jobs again that a cancellation has replaced', async () => {
    world.startRelayer();
    const to = privateKeyToAccount(generatePrivateKey()).address;
    const payload = { to, amount: '7000000' };
    // A limit above the gas that the batch uses, but below the batch's gas limit.
    const ids = await refuseAbove('0x14000', async () => [
      await world.ask({ kind: 'faucet', payload }),
    ]);
    assertSucceeded(await world.outcomes(ids));
    assert.equal(await world.network.usdcOf(to), 7_000_000n);
    const mined = `select count(*) from chain_transactions where status = 'mined'`;
    assert((await world.count(mined)) > 1);
  });
});
