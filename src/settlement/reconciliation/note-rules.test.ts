import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { encodeFunctionData, keccak256, numberToHex, parseEther, toHex } from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { present } from '#core/assert.ts';
import { systemClock } from '#core/clock.ts';
import { silentLog } from '#core/log.ts';
import type { Tx } from '#db/database.ts';
import { walletChangeCall } from '#settlement/contract/contract-calls.ts';
import { walletConsent } from '#settlement/contract/signed-messages.ts';
import type { ForeignProposal } from '#settlement/reconciliation/note-rules.ts';
import { type ReconcileOptions, reconcileOnce } from '#settlement/reconciliation/reconcile.ts';
import { readRoles } from '#settlement/reconciliation/role-holders.ts';
import { heldAccount } from '#testing/held-key.ts';
import { type RelayerWorld, startRelayerWorld } from '#testing/relayer-world.ts';
import type { TestMerchant } from '#testing/test-network.ts';
import { settlementAbi } from '../../../contracts/artifacts/Settlement.ts';

const DEADLINE = 4_000_000_000n;

type AdminStep = 'beginDefaultAdminTransfer' | 'changeDefaultAdminDelay';

describe('a step on the contract that this service did not make', () => {
  let world: RelayerWorld;
  let stopMining: () => Promise<void>;
  const merchants: TestMerchant[] = [];
  const nextMerchant = () => present(merchants.pop(), 'merchant');

  before(async () => {
    world = await startRelayerWorld();
    stopMining = world.network.mineEvery(60);
    // By the registrar's key, whose nonces are the relayer's as soon as it runs.
    for (let n = 0; n < 3; n++) merchants.push(await newMerchant());
    world.startRelayer();
    assert.deepEqual(await told(), [], 'the first run');
  });

  after(async () => {
    await stopMining();
    await world.stop();
  });

  const mailed: ForeignProposal[] = [];
  let isDying = false;
  const tellMerchant = async (_tx: Tx, proposal: ForeignProposal) => {
    if (isDying) throw new Error('the process dies');
    mailed.push(proposal);
  };

  /** The alarms that the next run adds. */
  async function told(options: ReconcileOptions = {}): Promise<string[]> {
    const { chain } = world.network;
    const { db } = world.database;
    const open = () =>
      db.query<{ id: bigint; subject: string }>(
        `select id, subject from chain_alarms
         where kind = 'contract_changed' and resolved_at is null order by id`,
      );
    const before = new Set((await open()).map(({ id }) => id));
    await reconcileOnce({ chain, db, clock: systemClock, log: silentLog, tellMerchant }, options);
    const added = (await open()).filter(({ id }) => !before.has(id));
    return added.map(({ subject }) => subject.split(' ')[0] ?? '').sort();
  }

  function govern(
    account: PrivateKeyAccount,
    functionName: 'pauseSettling' | 'announceGrant' | 'scheduleRates' | AdminStep,
    args: readonly unknown[] = [],
  ) {
    const data = encodeFunctionData({ abi: settlementAbi, functionName, args } as never);
    return world.network.send(account, world.network.config.settlement, data);
  }

  /** A merchant of an account that the service knows. */
  async function newMerchant() {
    const merchant = await world.network.addMerchant();
    const { db } = world.database;
    const account = `acct_${merchant.merchantNumber}`;
    await db.query(`insert into accounts (id, name, created) values ($1, 'Test', now())`, [
      account,
    ]);
    await db.query(
      `insert into account_modes (account_id, livemode, merchant_number, settlement_wallet, live_at)
       values ($1, false, $2, $3, now())`,
      [account, merchant.merchantNumber, merchant.wallet.address.toLowerCase()],
    );
    return merchant;
  }

  /** What makes a new wallet the merchant's, with that wallet's consent. */
  async function proposal({ merchantNumber }: { readonly merchantNumber: bigint }) {
    const wallet = privateKeyToAccount(generatePrivateKey());
    const consent = { merchantNumber, wallet: wallet.address, nonce: 0n, deadline: DEADLINE };
    const signature = await wallet.signTypedData(walletConsent(world.network.config, consent));
    return {
      step: 'propose',
      merchantNumber: String(merchantNumber),
      wallet: wallet.address,
      deadline: String(DEADLINE),
      signature,
    } as const;
  }

  it('is none if it was made before anybody watched, such as the deployment', async () => {
    const { db } = world.database;
    const known = await db.query(
      `select subject from chain_alarms
       where kind = 'contract_changed' and resolved_at is not null`,
    );
    assert.ok(known.length >= 9, `${known.length} events of the constructor`);
    assert.deepEqual(await told(), []);
  });

  it('is an alarm, once: a pause, a role, other rates', async () => {
    const { admin, guardian } = world.network;
    await govern(guardian, 'pauseSettling');
    const role = keccak256(toHex('OPERATOR_ROLE'));
    await govern(admin, 'announceGrant', [role, guardian.address]);
    await govern(admin, 'scheduleRates', [{ acquirer: 40, protocol: 20, cashback: 5 }]);
    assert.deepEqual(await told(), ['GrantAnnounced', 'RatesScheduled', 'SettlingPaused']);
    assert.deepEqual(await told(), [], 'the same blocks are read again');
    await world.database.db.query('update chain_alarms set resolved_at = now()');
    assert.deepEqual(await told(), [], 'a person has looked at it');
  });

  it('is read back: who holds a role since when, and which grants wait', async () => {
    const { chain, admin, guardian, watcher, config } = world.network;
    const place = { settlement: config.settlement, admin: admin.address };
    const { holders, announced } = await readRoles(world.database.db, chain, place);
    const named = (name: string) =>
      holders.filter(({ role }) => role === name).map(({ account }) => account);
    const operators = config.relayerKeys.map((key) => heldAccount(key).address);
    assert.deepEqual(named('operator').sort(), operators.sort());
    assert.deepEqual(named('admin'), [admin.address]);
    assert.ok(named('guardian').includes(guardian.address));
    assert.deepEqual(named('watch'), [watcher.address]);
    assert.equal(named('unknown').length, 0);
    assert.ok(holders.every(({ since }) => since !== null && since <= new Date()));
    const [waits, ...others] = announced;
    assert.deepEqual(others, []);
    assert.equal(waits?.says, `${guardian.address} becomes operator.`);
    // The delay of this network is a moment.
    assert.ok(Math.abs(Number(waits?.applicableAt) - Date.now()) < 60_000);
  });

  it('is an alarm: another admin, another delay before one comes', async () => {
    const { admin, guardian } = world.network;
    await govern(admin, 'beginDefaultAdminTransfer', [guardian.address]);
    await govern(admin, 'changeDefaultAdminDelay', [1]);
    const names = ['DefaultAdminDelayChangeScheduled', 'DefaultAdminTransferScheduled'];
    assert.deepEqual(await told(), names);
  });

  it('is an alarm when the registrar’s key was stolen, and none when we used it', async () => {
    const ours = await world.ask({
      kind: 'wallet_change',
      payload: await proposal(nextMerchant()),
    });
    const [done] = await world.outcomes([ours]);
    assert.equal(done?.succeeded, true);
    assert.deepEqual(await told(), []);
    const thief = heldAccount(world.network.config.registrarKey);
    const { settlement } = world.network.config;
    const stolen = await proposal(nextMerchant());
    await world.network.send(thief, settlement, walletChangeCall(stolen));
    assert.deepEqual(await told(), ['WalletProposed']);
    const { wallet } = stolen;
    assert.deepEqual(
      mailed.map(({ accountId, ...one }) => [accountId, one.livemode, one.wallet]),
      [[`acct_${stolen.merchantNumber}`, false, wallet]],
    );
    assert.ok((mailed[0]?.applicableAt.getTime() ?? 0) > Date.now());
    assert.deepEqual(await told(), []);
    assert.equal(mailed.length, 1, 'told once');
  });

  it('is none when a merchant’s own wallet does it', async () => {
    const merchant = nextMerchant();
    const { wallet } = merchant;
    const { rpc, config, send } = world.network;
    await rpc.call('anvil_setBalance', [wallet.address, numberToHex(parseEther('1'))]);
    await send(wallet, config.settlement, walletChangeCall(await proposal(merchant)));
    assert.deepEqual(await told(), []);
  });

  it('is told even when everything is read again, unless somebody was told before', async () => {
    assert.deepEqual(await told({ rebuild: true }), []);
    await world.database.db.query(
      `delete from chain_alarms where kind = 'contract_changed' and subject like 'CeilingChanged%'`,
    );
    assert.deepEqual(await told({ rebuild: true }), ['CeilingChanged']);
  });

  /** By the registrar's key, past the service. */
  async function stealWallet(): Promise<string> {
    const stolen = await proposal(await newMerchant());
    const thief = heldAccount(world.network.config.registrarKey);
    await world.network.send(thief, world.network.config.settlement, walletChangeCall(stolen));
    return stolen.wallet;
  }

  it('is told once more if the process dies while it is written down', async () => {
    const wallet = await stealWallet();
    isDying = true;
    await assert.rejects(told(), /dies/);
    isDying = false;
    assert.deepEqual(await told(), ['WalletProposed']);
    assert.equal(mailed.at(-1)?.wallet, wallet);
  });

  it('is an alarm and a mail in the first run after a recovery, as in any other', async () => {
    const wallet = await stealWallet();
    await govern(world.network.admin, 'scheduleRates', [
      { acquirer: 50, protocol: 20, cashback: 5 },
    ]);
    // As `finishRecovery` leaves it.
    await world.database.db.query(
      'update reconciliation_cursors set compared_block = null, compared_at = null',
    );
    assert.deepEqual(await told(), ['RatesScheduled', 'WalletProposed']);
    assert.equal(mailed.at(-1)?.wallet, wallet);
  });

  it('also where the copy that was put back is older than the first run', async () => {
    const { db } = world.database;
    await db.query(`delete from chain_alarms where kind = 'contract_changed'`);
    await db.query('delete from reconciliation_cursors');
    const { number } = await world.network.chain.newest();
    await db.query('update network_recoveries set lost_to = $1 where not livemode', [number]);
    const news = await told();
    assert.ok(news.includes('RatesScheduled') && news.includes('WalletProposed'), news.join());
  });
});
