import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { encodeFunctionData, numberToHex, parseEther } from 'viem';
import { present } from '#core/assert.ts';
import type { Tx } from '#db/database.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { walletChangeCall } from '#settlement/contract/contract-calls.ts';
import { roleId } from '#settlement/contract/contract-roles.ts';
import { scheduleCall, timelockOf } from '#settlement/contract/timelock-calls.ts';
import type { ForeignProposal } from '#settlement/reconciliation/note-contract-changes.ts';
import { type ReconcileOptions, reconcileOnce } from '#settlement/reconciliation/reconcile-once.ts';
import { readRoles } from '#settlement/reconciliation/role-holders.ts';
import { signProposal } from '#testkit/fixtures/payers/wallet-consents.ts';
import { addAccount } from '#testkit/fixtures/settlement/relayer-scene.ts';
import {
  assertSucceeded,
  type RelayerWorld,
  startRelayerWorld,
} from '#testkit/fixtures/settlement/relayer-world.ts';
import { heldAccount } from '#testkit/network/held-key.ts';
import { settlementCall, type TestMerchant } from '#testkit/network/test-network.ts';
import { timelockAbi } from '../../../contracts/artifacts/Timelock.ts';

/** A delay that is longer than the test, so that no scheduled operation becomes executable. */
const DELAY = 86_400n;

describe('a change on the contract that this service did not make', () => {
  let world: RelayerWorld;
  const merchants: TestMerchant[] = [];
  const nextMerchant = () => present(merchants.pop(), 'merchant');

  before(async () => {
    world = await startRelayerWorld();
    world.network.mineEvery(60);
    // Register the merchants in advance with the registrar's key: once the relayer runs, it manages
    // that key's nonces.
    for (let n = 0; n < 3; n++) merchants.push(await newMerchant());
    world.startRelayer();
    assert.deepEqual(await alarms(), [], 'the first run');
  });

  after(() => world.stop());

  /** A salt for each operation. */
  let operations = 0;
  const mailed: ForeignProposal[] = [];
  let isDying = false;
  const notifyMerchant = async (_tx: Tx, proposal: ForeignProposal) => {
    if (isDying) throw new Error('the process dies');
    mailed.push(proposal);
  };

  /** Runs reconciliation. @returns the alarms that the run adds. */
  async function alarms(options: ReconcileOptions = {}): Promise<string[]> {
    const { db } = world.database;
    const open = () =>
      db.query<{ id: bigint; subject: string }>(
        `select id, subject from chain_alarms
         where kind = 'contract_changed' and resolved_at is null order by id`,
      );
    const before = new Set((await open()).map(({ id }) => id));
    await reconcileOnce({ ...world.deps, notifyMerchant }, options);
    const added = (await open()).filter(({ id }) => !before.has(id));
    return added.map(({ subject }) => subject.split(' ')[0] ?? '').sort();
  }

  /** Schedules an operation with the proposer's key. The operation is never executed. */
  function schedule(data: Hex, target = world.network.config.settlement): Promise<void> {
    const salt: Hex = `0x${(++operations).toString(16).padStart(64, '0')}`;
    const timelock = timelockOf(world.network.config.settlement);
    return world.network.send(
      world.network.admin,
      timelock,
      scheduleCall({ target, data }, salt, DELAY),
    );
  }

  const ratesOf = (acquirer: number) => {
    return settlementCall('setRates', [{ acquirer, protocol: 20, cashback: 5 }]);
  };

  /** Adds a merchant that has an account in the service. */
  async function newMerchant() {
    const merchant = await world.network.addMerchant();
    const { database } = world;
    await addAccount({ database, merchant }, `acct_${merchant.merchantNumber}`);
    return merchant;
  }

  const proposal = ({ merchantNumber }: TestMerchant) =>
    signProposal(world.network.config, merchantNumber);

  it('raises no alarm if it is older than the service, as the deployment is', async () => {
    const { db } = world.database;
    const known = await db.query(
      `select subject from chain_alarms
       where kind = 'contract_changed' and resolved_at is not null`,
    );
    assert.ok(known.length >= 9, `${known.length} events of the constructor`);
    assert.deepEqual(await alarms(), []);
  });

  it('raises one alarm, whether it is a pause, a role or other rates', async () => {
    const { guardian } = world.network;
    await world.network.callSettlement(guardian, 'pauseSettling');
    await schedule(settlementCall('grantRole', [roleId('operator'), guardian.address]));
    await schedule(ratesOf(40));
    await schedule('0x12345678', guardian.address);
    const scheduled = ['CallScheduled', 'CallScheduled', 'CallScheduled'];
    assert.deepEqual(await alarms(), [...scheduled, 'SettlingPaused']);
    const words = await world.database.db.query<{ says: string }>(
      `select details ->> 'says' as says from chain_alarms
       where details ->> 'event' = 'CallScheduled' order by id`,
    );
    assert.deepEqual(
      words.map(({ says }) => says),
      [
        `${guardian.address} becomes operator.`,
        'Rates become 40, 20 and 5 basis points.',
        `Calls ${guardian.address} with 0x12345678, which is unknown.`,
      ],
    );
    assert.deepEqual(await alarms(), [], 'the same blocks are read again');
    await world.database.db.query('update chain_alarms set resolved_at = now()');
    assert.deepEqual(await alarms(), [], 'a person has looked at it');
  });

  it('can be listed: who holds which role since when, and pending operations', async () => {
    const { chain, admin, guardian, watcher, config } = world.network;
    const timelock = timelockOf(config.settlement);
    const result = await readRoles(world.database.db, chain, config.settlement);
    const { holders, announced, ratesUntil } = result;
    const named = (name: string) =>
      holders.filter(({ role }) => role === name).map(({ account }) => account);
    const operators = config.relayerKeys.map((key) => heldAccount(key).address);
    assert.deepEqual(named('operator').sort(), operators.sort());
    assert.deepEqual(named('admin'), [timelock, timelock], 'of the contract and of itself');
    assert.deepEqual(named('proposer'), [admin.address]);
    assert.deepEqual(named('canceller'), [config.settlement]);
    assert.ok(named('guardian').includes(guardian.address));
    assert.deepEqual(named('watch'), [watcher.address]);
    assert.equal(named('unknown').length, 0);
    assert.ok(holders.every(({ since }) => since !== null && since <= new Date()));
    assert.equal(announced.length, 3);
    const rates = announced.find(({ says }) => says.startsWith('Rates become 40'));
    assert.deepEqual(ratesUntil, rates?.applicableAt);
    const [waits] = announced;
    assert.equal(waits?.says, `${guardian.address} becomes operator.`);
    assert.ok(Math.abs(Number(waits?.applicableAt) - Date.now()) < 60_000 + Number(DELAY) * 1_000);
    const ids = announced.map(({ operation }) => present(operation, 'id'));
    await world.network.callSettlement(guardian, 'cancelOperations', [ids]);
    const after = await readRoles(world.database.db, chain, config.settlement);
    assert.deepEqual(after.announced, []);
    assert.equal(after.ratesUntil, null);
    assert.deepEqual(await alarms(), [], 'an end is no alarm');
  });

  it('raises an alarm if it is another proposer, or another delay of operations', async () => {
    const { guardian, config } = world.network;
    const timelock = timelockOf(config.settlement);
    const args = [roleId('proposer'), guardian.address] as const;
    const calls = [
      encodeFunctionData({ abi: timelockAbi, functionName: 'grantRole', args }),
      encodeFunctionData({ abi: timelockAbi, functionName: 'updateDelay', args: [5n] }),
    ];
    for (const data of calls) await schedule(data, timelock);
    assert.deepEqual(await alarms(), ['CallScheduled', 'CallScheduled']);
  });

  it('raises an alarm if a thief used the registrar’s key, and none if we used it', async () => {
    const ours = await world.ask({
      kind: 'wallet_change',
      payload: await proposal(nextMerchant()),
    });
    assertSucceeded(await world.outcomes([ours]));
    assert.deepEqual(await alarms(), []);
    const thief = heldAccount(world.network.config.registrarKey);
    const { settlement } = world.network.config;
    const stolen = await proposal(nextMerchant());
    await world.network.send(thief, settlement, walletChangeCall(stolen));
    assert.deepEqual(await alarms(), ['WalletProposed']);
    const { wallet } = stolen;
    assert.deepEqual(
      mailed.map(({ accountId, ...one }) => [accountId, one.livemode, one.wallet]),
      [[`acct_${stolen.merchantNumber}`, false, wallet]],
    );
    assert.ok((mailed[0]?.applicableAt.getTime() ?? 0) > Date.now());
    assert.deepEqual(await alarms(), []);
    assert.equal(mailed.length, 1, 'told once');
  });

  it('raises no alarm if a merchant’s own wallet made it', async () => {
    const merchant = nextMerchant();
    const { wallet } = merchant;
    const { rpc, config, send } = world.network;
    await rpc.call('anvil_setBalance', [wallet.address, numberToHex(parseEther('1'))]);
    await send(wallet, config.settlement, walletChangeCall(await proposal(merchant)));
    assert.deepEqual(await alarms(), []);
  });

  it('raises an alarm after all events are read again, unless it raised one before', async () => {
    assert.deepEqual(await alarms({ rebuild: true }), []);
    await world.database.db.query(
      `delete from chain_alarms where kind = 'contract_changed' and subject like 'CeilingChanged%'`,
    );
    assert.deepEqual(await alarms({ rebuild: true }), ['CeilingChanged']);
  });

  /** Proposes a wallet with the registrar's key, outside the service. */
  async function stealWallet(): Promise<string> {
    const stolen = await proposal(await newMerchant());
    const thief = heldAccount(world.network.config.registrarKey);
    await world.network.send(thief, world.network.config.settlement, walletChangeCall(stolen));
    return stolen.wallet;
  }

  it('raises its alarm even if the process dies while recording it', async () => {
    const wallet = await stealWallet();
    isDying = true;
    await assert.rejects(alarms(), /dies/);
    isDying = false;
    assert.deepEqual(await alarms(), ['WalletProposed']);
    assert.equal(mailed.at(-1)?.wallet, wallet);
  });

  it('raises an alarm and sends an email in the first run after a recovery', async () => {
    const wallet = await stealWallet();
    await schedule(ratesOf(50));
    // Writes the same as `finishRecovery`.
    await world.database.db.query(
      'update reconciliation_cursors set compared_block = null, compared_at = null',
    );
    assert.deepEqual(await alarms(), ['CallScheduled', 'WalletProposed']);
    assert.equal(mailed.at(-1)?.wallet, wallet);
  });

  it('raises both even if the restored copy is older than the first run', async () => {
    const { db } = world.database;
    await db.query(`delete from chain_alarms where kind = 'contract_changed'`);
    await db.query('delete from reconciliation_cursors');
    const { number } = await world.network.chain.newest();
    await db.query('update network_recoveries set lost_to = $1 where not livemode', [number]);
    const news = await alarms();
    assert.ok(news.includes('CallScheduled') && news.includes('WalletProposed'), news.join());
  });
});
