import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { getCreate2Address, numberToHex } from 'viem';
import { applyDeployments } from '#payments/apply-deployments.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { keyWalletCode } from '#testkit/apis/pay-links.ts';
import { newWallet } from '#testkit/apis/wallet-sign-in.ts';
import { minedBlock } from '#testkit/fixtures/settlement/relayer-scene.ts';
import {
  assertSucceeded,
  type RelayerWorld,
  startRelayerWorld,
} from '#testkit/fixtures/settlement/relayer-world.ts';

/** The address of a factory that deploys its call data as init code (CREATE2, salt 0). */
const FACTORY = numberToHex(0xfac70001n, { size: 20 });
const FACTORY_CODE = '0x365f5f375f365f5ff500';
/** Enough blocks for several transactions of one job, each of which waits for its result. */
const BLOCKS_AFTER = 40;
/** Never ends. */
const ENDLESS = numberToHex(0xfac70002n, { size: 20 });
const ENDLESS_CODE = '0x5b5f56';
/**
 * Code of a factory that deploys only while gas is free, as in simulations; in a transaction it
 * reverts.
 */
const HOSTILE_CODE = '0x3a156008575f5ffd5b365f5f375f365f5ff500';
/** The address of code that loops until it has used 800,000 gas. */
const COSTLY = numberToHex(0xfac70003n, { size: 20 });
const COSTLY_CODE = '0x6178315b600190038060035700';

describe('the deployment of a wallet', () => {
  let world: RelayerWorld;
  let relayer: ReturnType<RelayerWorld['startRelayer']>;

  before(async () => {
    world = await startRelayerWorld();
    const { rpc, mine } = world.network;
    await rpc.call('anvil_setCode', [FACTORY, FACTORY_CODE]);
    await rpc.call('anvil_setCode', [ENDLESS, ENDLESS_CODE]);
    await rpc.call('anvil_setCode', [COSTLY, COSTLY_CODE]);
    await mine(3);
    relayer = world.startRelayer();
  });

  after(() => world.stop());

  const walletOf = (from: Hex, data = keyWalletCode(newWallet().address)) => {
    const salt = numberToHex(0, { size: 32 });
    return { data, wallet: getCreate2Address({ from, salt, bytecode: data }) };
  };
  const ask = (factory: Hex, data: Hex) => {
    const { wallet } = walletOf(factory, data);
    return world.ask({ kind: 'wallet_deployment', payload: { wallet, factory, data } });
  };
  const sent = () => world.countRows(`chain_transactions where kind = 'wallet_deployment'`);

  it('whose gas no node can estimate is never sent, and fails after a minute', async () => {
    const subject = await ask(ENDLESS, '0x00');
    await world.database.db.query(
      `update chain_requests set created = now() - interval '61 seconds' where subject_id = $1`,
      [subject],
    );
    const [outcome] = await world.mineOutcomes([subject]);
    assert.equal(outcome?.succeeded, false);
    assert.equal(await sent(), 0);
  });

  for (const point of ['settlement.signed_committed', 'settlement.broadcast_sent'] as const) {
    it(`is sent once by a worker that takes over from one that died at ${point}`, async () => {
      await relayer.stop();
      const before = await sent();
      const child = world.spawnRelayer(point);
      const { data, wallet } = walletOf(FACTORY);
      const subject = await ask(FACTORY, data);
      await child.ended;
      relayer = world.startRelayer();
      assertSucceeded(await world.mineOutcomes([subject]));
      assert.notEqual(await world.network.rpc.call('eth_getCode', [wallet, 'latest']), '0x');
      assert.equal((await sent()) - before, 1);
    });
  }

  it('may use up to a million gas', async () => {
    const subject = await ask(COSTLY, '0x00');
    assertSucceeded(await world.mineOutcomes([subject]));
  });

  /** Deploys a wallet, then undoes the block of the deployment. */
  async function undone() {
    const { rpc, mine } = world.network;
    const { data, wallet } = walletOf(FACTORY);
    const hasCode = async () => (await rpc.call('eth_getCode', [wallet, 'latest'])) !== '0x';
    const subject = await ask(FACTORY, data);
    await world.mineOutcomes([subject]);
    assert.equal(await hasCode(), true);
    await applyDeployments({ ...world.deps, wakeups: world.wakeups });
    await mine(1);
    await world.network.reorganize(await minedBlock(world));
    assert.equal(await hasCode(), false);
    return { subject, hasCode };
  }

  it('is sent again if a reorganization undoes it', async () => {
    const { hasCode } = await undone();
    await world.mineUntil(hasCode);
  });

  it('is not repeated forever if its factory refuses after a reorganization', async () => {
    const { subject, hasCode } = await undone();
    const before = await sent();
    await world.network.rpc.call('anvil_setCode', [FACTORY, HOSTILE_CODE]);
    let blocks = 0;
    await world.mineUntil(async () => ++blocks > BLOCKS_AFTER);
    assert.equal(await hasCode(), false);
    const again = (await sent()) - before;
    assert.ok(again <= 1, `${again} transactions for one wallet`);
    const open = `select count(*) from chain_requests
      where subject_id = '${subject}' and status in ('queued', 'submitted')`;
    assert.equal(await world.count(open), 0);
  });
});
