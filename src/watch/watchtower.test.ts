import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  encodeAbiParameters,
  encodeEventTopics,
  keccak256,
  numberToHex,
  parseAbiParameters,
  parseEther,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { present } from '#core/assert.ts';
import type { Tx } from '#db/database.ts';
import { silentLog } from '#observability/log.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { openChain } from '#settlement/chain/rpc/open-chain.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { walletChangeCall } from '#settlement/contract/contract-calls.ts';
import { roleId } from '#settlement/contract/contract-roles.ts';
import {
  executeCall,
  NO_PREDECESSOR,
  scheduleCall,
  timelockOf,
} from '#settlement/contract/timelock-calls.ts';
import type { ForeignMovements } from '#settlement/foreign-settlement-queries.ts';
import type { ForeignProposal } from '#settlement/reconciliation/note-contract-changes.ts';
import { reconcileOnce } from '#settlement/reconciliation/reconcile-once.ts';
import { signProposal } from '#testkit/fixtures/payers/wallet-consents.ts';
import { outsideService } from '#testkit/fixtures/settlement/outside-service.ts';
import { addAccount } from '#testkit/fixtures/settlement/relayer-scene.ts';
import {
  type RelayerWorld,
  startRelayerWorld,
} from '#testkit/fixtures/settlement/relayer-world.ts';
import type { ProviderAnswer, ProviderCall } from '#testkit/network/back-ends.ts';
import { heldAccount } from '#testkit/network/held-key.ts';
import { type ProviderProxy, startProviderProxy } from '#testkit/network/provider-proxy.ts';
import { startRemoteSigner } from '#testkit/network/remote-signer.ts';
import { settlementCall, type TestMerchant } from '#testkit/network/test-network.ts';
import { carryOut, checkCoin } from '#watch/pause-contract.ts';
import { type FoundPast, lookOnce, openMemory, type WatchDeps } from '#watch/watchtower.ts';
import { timelockAbi } from '../../contracts/artifacts/Timelock.ts';

const PAUSE_FROM = 5_000_000n;
const SMALL = 1_000_000n;
const LARGE = 6_000_000n;
/** Number of blocks to watch: more than the watchtower needs to pause the contract. */
const ROUNDS = 8;

/** Simulates a thief who uses one of the keys outside the service. */
describe('a watchtower', () => {
  let world: RelayerWorld;
  let second: ProviderProxy;
  let chains: readonly [Chain, Chain];
  let memory: ReturnType<typeof openMemory>;
  let sale = 5_000_000n;
  const mailed: ForeignProposal[] = [];

  before(async () => {
    world = await startRelayerWorld();
    const { config } = world.network;
    second = await startProviderProxy(world.network.node.rpcUrl);
    const other = await openChain({ ...config, rpcUrls: [second.url] }, silentLog);
    chains = [world.network.chain, other];
  });

  after(async () => {
    await chains[1].close();
    await second.stop();
    await world.stop();
  });

  /** Resets the state, as if operators had reviewed all findings and unpaused the contract. */
  beforeEach(async () => {
    const { db } = world.database;
    second.behavior = null;
    // Mine the pending transactions, because they would disturb the next test.
    await world.network.mine();
    await db.query('delete from watch_findings');
    await db.query('delete from watch_steps');
    await db.query('delete from chain_alarms');
    for (const part of ['Settling', 'Refunding'] as const) {
      await world.network.callSettlement(world.network.admin, `unpause${part}`);
    }
    memory = openMemory(world.database.db.watch);
    await db.query('delete from watch_cursors');
    await world.network.mine(2);
    await look();
    await db.query('delete from chain_alarms');
  });

  function deps(own: Partial<WatchDeps> = {}): WatchDeps {
    return {
      chains,
      ...world.deps,
      watchKey: world.network.watchKey,
      pauseFrom: PAUSE_FROM,
      notifyMerchant: async (_tx, proposal) => void mailed.push(proposal),
      ...own,
    };
  }

  /** Polls once, then carries out the due steps. */
  async function look(own: Partial<WatchDeps> = {}): Promise<void> {
    const all = deps(own);
    await lookOnce(all, memory);
    await carryOut(all, all.chains, all.watchKey);
  }

  /**
   * Mines and polls. @returns the blocks until both parts were paused; `null` if they never were.
   */
  async function blocksToStop(own: Partial<WatchDeps> = {}): Promise<number | null> {
    for (let blocks = 1; blocks <= ROUNDS; blocks++) {
      await world.network.mine();
      await look(own);
      if (await isStopped()) return blocks;
    }
    return null;
  }

  async function isStopped(): Promise<boolean> {
    const { db } = world.database;
    await carryOut(deps(), deps().chains, null);
    const [row] = await db.query<{ open: bigint; done: bigint }>(
      `select count(*) filter (where done_at is null) as open,
         count(*) filter (where done_at is not null and step like 'pause%') as done
       from watch_steps`,
    );
    return Number(row?.open) === 0 && Number(row?.done) === 2;
  }

  async function alarms(): Promise<string[]> {
    const rows = await world.database.db.query<{ alarm: string }>(
      `select kind || ' ' || split_part(subject, ' ', 1) as alarm from chain_alarms
       where resolved_at is null order by 1`,
    );
    return rows.map(({ alarm }) => alarm);
  }

  async function steps(): Promise<string[]> {
    const rows = await world.database.db.query<{ step: string }>(
      'select step from watch_steps order by step',
    );
    return rows.map(({ step }) => step);
  }

  /** Uses a sender's key to charge a payer who has never dealt with this shop. */
  async function steal(amount: bigint) {
    const thief = outsideService(world.network.config);
    const payer = await world.network.addPayer();
    const { merchantNumber } = world.merchant;
    const number = sale++;
    const stolen = {
      ...{ payer: payer.address, merchantNumber },
      ...{ amount, orderId: `S${number}`, number },
    };
    const stopMining = world.network.mineEvery(40);
    await thief.settle([stolen]).finally(stopMining);
    return { stolen, thief };
  }

  const proposal = async ({ merchantNumber }: TestMerchant) =>
    walletChangeCall(await signProposal(world.network.config, merchantNumber));

  const registrar = () => heldAccount(world.network.config.registrarKey);

  it("pauses what a sender's stolen key does once the threshold is reached", async () => {
    await steal(LARGE);
    const blocks = await blocksToStop();
    assert.ok(blocks !== null, 'it did not stop');
    assert.ok(blocks <= 4, `after ${blocks} blocks`);
    const told = await alarms();
    assert.ok(told.includes('foreign_key_used payment'), told.join());
    await assert.rejects(steal(SMALL), 'nothing settles any more');
  });

  it('alerts below the threshold, adds sums up, and pauses at the threshold', async () => {
    await steal(SMALL);
    assert.equal(await blocksToStop(), null);
    assert.ok((await alarms()).includes('foreign_key_used payment'));
    const { stolen, thief } = await steal(SMALL);
    const stopMining = world.network.mineEvery(40);
    await thief.refund(stolen, SMALL).finally(stopMining);
    assert.equal(await blocksToStop(), null);
    await steal(LARGE - 3n * SMALL);
    assert.notEqual(await blocksToStop(), null);
  });

  it('does not pause for an event of one provider until the other reports it as well', async () => {
    const hides = {
      answer: (call: ProviderCall, real: ProviderAnswer) =>
        call.method === 'eth_getLogs' ? { result: [] } : real,
    };
    second.behavior = hides;
    await steal(LARGE);
    assert.equal(await blocksToStop(), null);
    assert.ok((await alarms()).includes('foreign_key_used payment'), 'an alarm is raised');
    second.behavior = null;
    assert.notEqual(await blocksToStop(), null);
  });

  it('does not pause for an executed operation that one provider has invented', async () => {
    const id = keccak256('0x01');
    const topics = encodeEventTopics({
      ...{ abi: timelockAbi, eventName: 'CallExecuted', args: { id, index: 0n } },
    });
    const { settlement } = world.network.config;
    const parts = parseAbiParameters('address, uint256, bytes');
    const invented = encodeAbiParameters(parts, [settlement, 0n, '0x']);
    second.behavior = {
      answer: (call: ProviderCall, real: ProviderAnswer) => {
        if (call.method !== 'eth_getLogs' || call.params === undefined) return real;
        const [{ fromBlock }] = call.params as [{ fromBlock: Hex }];
        const log = {
          ...{ address: timelockOf(settlement), topics, data: invented, removed: false },
          ...{ blockNumber: fromBlock, logIndex: '0x7', transactionIndex: '0x0' },
          ...{ transactionHash: `0x${'66'.repeat(32)}`, blockHash: `0x${'77'.repeat(32)}` },
        };
        return { result: [...(real.result as unknown[]), log] };
      },
    };
    assert.equal(await blocksToStop(), null);
    assert.deepEqual(await steps(), []);
    assert.deepEqual(await alarms(), ['contract_changed CallExecuted'], 'one alarm');
  });

  it('does not pause on the word of one provider', async () => {
    await steal(LARGE);
    assert.equal(await blocksToStop({ chains: [chains[0]] }), null);
    assert.ok((await alarms()).includes('foreign_key_used payment'));
  });

  it('alerts without a key, and pauses nothing', async () => {
    await steal(LARGE);
    assert.equal(await blocksToStop({ watchKey: null }), null);
    assert.deepEqual(await steps(), []);
    assert.ok((await alarms()).includes('foreign_key_used payment'));
  });

  it('pauses with a key behind a signer, once the signer answers', async () => {
    const { chainId, settlement } = world.network.config;
    const functions = ['pauseSettling', 'pauseRefunding', 'cancelWallet', 'dropWalletChangesOf'];
    const options = { keys: [world.network.watchKey], chainId, settlement, functions };
    const signer = await startRemoteSigner(options);
    try {
      await signer.down();
      await steal(LARGE);
      assert.equal(await blocksToStop({ watchKey: signer.key }), null, 'and nothing breaks');
      assert.equal((await steps()).length, 2, 'it is still to be done');
      await signer.up();
      assert.ok((await blocksToStop({ watchKey: signer.key })) !== null);
    } finally {
      await signer.stop();
    }
  });

  it('cancels what a stolen registrar key proposes, and mails the merchant', async () => {
    const merchant = await world.network.addMerchant();
    await knowMerchant(merchant);
    const { settlement } = world.network.config;
    await world.network.send(registrar(), settlement, await proposal(merchant));
    for (let n = 0; n < ROUNDS; n++) {
      await world.network.mine();
      await look();
    }
    assert.deepEqual(await steps(), ['cancel_wallet']);
    const call = settlementCall('walletChange', [Number(merchant.merchantNumber)]);
    const [answer] = await chains[0].calls([{ to: settlement, data: call, words: 3 }]);
    assert.ok(answer?.ok === true && BigInt(answer.data.slice(0, 66)) === 0n, 'still announced');
    assert.equal(mailed.at(-1)?.accountId, `acct_${merchant.merchantNumber}`);
  });

  it('sends nothing that the contract would refuse, and reports the failure', async () => {
    const { db } = world.database;
    // Insert a step for a merchant without a proposal, which the watchtower's key cannot carry out.
    const nobody = `insert into watch_steps
        (livemode, step, merchant_number, reason, created, tries)
      values (false, 'cancel_wallet', $1, 'WalletProposed 0x11/0', now(), 20)`;
    const merchant = await world.network.addMerchant();
    const { settlement } = world.network.config;
    const coin = numberToHex(parseEther('1'));
    await world.network.rpc.call('anvil_setBalance', [merchant.wallet.address, coin]);
    await world.network.send(merchant.wallet, settlement, await proposal(merchant));
    await db.query(nobody, [merchant.merchantNumber]);
    const { watcher } = world.network;
    const [before] = await chains[0].nonces([watcher.address]);
    for (let n = 0; n < 3; n++) {
      await look();
      await world.network.mine();
    }
    assert.deepEqual(await chains[0].nonces([watcher.address]), [before]);
    assert.ok((await alarms()).includes('watchtower_cannot_stop cancel_wallet'));
  });

  it("ignores a merchant's own proposal", async () => {
    const merchant = await world.network.addMerchant();
    await knowMerchant(merchant);
    const { settlement } = world.network.config;
    const coin = numberToHex(parseEther('1'));
    await world.network.rpc.call('anvil_setBalance', [merchant.wallet.address, coin]);
    await world.network.send(merchant.wallet, settlement, await proposal(merchant));
    assert.equal(await blocksToStop(), null);
    assert.deepEqual(await steps(), []);
    assert.deepEqual(await alarms(), []);
  });

  /** Returns an operation that grants the operator role to a stranger, as a thief would. */
  function grantOf(account: Hex, salt: Hex) {
    const { settlement } = world.network.config;
    const data = settlementCall('grantRole', [roleId('operator'), account]);
    const call = { target: settlement, data };
    const timelock = timelockOf(settlement);
    const { admin } = world.network;
    return {
      schedule: () => world.network.send(admin, timelock, scheduleCall(call, salt, 0n)),
      execute: () => {
        const options = { predecessor: NO_PREDECESSOR, salt };
        return world.network.send(world.network.watcher, timelock, executeCall(call, options));
      },
    };
  }

  it('pauses everything when an operation is executed that no operator has reviewed', async () => {
    const account = privateKeyToAccount(generatePrivateKey()).address;
    const grant = grantOf(account, keccak256(account));
    await grant.schedule();
    await world.network.mine(2);
    const told: FoundPast[] = [];
    await look({ alertOperators: async (_tx, current) => void told.push(current) });
    assert.deepEqual(await alarms(), ['contract_changed CallScheduled']);
    assert.ok(
      told[0]?.lines[0]?.startsWith(`CallScheduled: ${account} becomes operator., 0x`),
      told[0]?.lines.join(),
    );
    await grant.execute();
    assert.notEqual(await blocksToStop(), null);
  });

  it('continues if an operator has reviewed what was scheduled', async () => {
    const account = privateKeyToAccount(generatePrivateKey()).address;
    const grant = grantOf(account, keccak256(account));
    await grant.schedule();
    await world.network.mine(2);
    await look();
    await world.database.db.query('update chain_alarms set resolved_at = now()');
    await grant.execute();
    assert.equal(await blocksToStop(), null);
    assert.deepEqual(await alarms(), [
      'contract_changed CallExecuted',
      'contract_changed RoleGranted',
    ]);
  });

  /** Proposes many wallets with the registrar's key, for the thief's own shops or for all shops. */
  async function flood(count: number): Promise<bigint[]> {
    const merchants = [];
    for (let n = 0; n < count; n++) merchants.push(await world.network.addMerchant());
    const { settlement } = world.network.config;
    for (const merchant of merchants) {
      await world.network.send(registrar(), settlement, await proposal(merchant));
    }
    return merchants.map(({ merchantNumber }) => merchantNumber);
  }

  const setCoin = (wei: bigint) =>
    world.network.rpc.call('anvil_setBalance', [world.network.watcher.address, numberToHex(wei)]);

  it('drops a flood of proposals in one call, and pauses first', async () => {
    const { watcher } = world.network;
    await flood(12);
    await steal(LARGE);
    const [before] = await chains[0].nonces([watcher.address]);
    const blocks = await blocksToStop();
    assert.ok(blocks !== null && blocks <= 4, `after ${blocks} blocks`);
    const [after] = await chains[0].nonces([watcher.address]);
    const sent = Number(present(after, 'nonce') - present(before, 'nonce'));
    assert.ok(sent <= 6, `${sent} transactions`);
    const done = await world.database.db.query(
      `select 1 from watch_steps where step = 'cancel_wallet' and done_at is not null`,
    );
    assert.equal(done.length, 12, 'all of them are dropped');
  });

  it('reserves gas for pauses', async () => {
    const { baseFeePerGas } = await chains[0].newest();
    // The maximum price of one watchtower transaction, computed as in pause-contract.ts.
    const price = 200_000n * (baseFeePerGas * 2n + baseFeePerGas / 2n + 1_000_000n);
    await setCoin(20n * price);
    try {
      await flood(2);
      for (let n = 0; n < 3; n++) {
        await world.network.mine();
        await look();
      }
      const open = () =>
        world.countRows(`watch_steps
          where step = 'cancel_wallet' and done_at is null`);
      assert.equal(Number(await open()), 2, 'they wait');
      await steal(LARGE);
      await world.network.mine();
      for (let n = 0; n < ROUNDS; n++) {
        await look();
        await world.network.mine();
      }
      assert.deepEqual((await steps()).slice(-2), ['pause_refunding', 'pause_settling']);
      const paused = await world.count(
        `select count(*) from watch_steps where step like 'pause%' and done_at is not null`,
      );
      assert.equal(Number(paused), 2, 'it has paused all the same');
    } finally {
      await setCoin(parseEther('1000'));
    }
  });

  it('raises an alarm when its balance pays for few transactions', async () => {
    await checkCoin(deps(), deps().chains, world.network.watchKey);
    assert.deepEqual(await alarms(), []);
    await setCoin(1n);
    await checkCoin(deps(), deps().chains, world.network.watchKey);
    assert.deepEqual(await alarms(), [`watchtower_low_coin ${world.network.watcher.address}`]);
    await setCoin(parseEther('1000'));
  });

  it('does not report what the constructor of a later contract grants', async () => {
    const config = await world.network.addContract();
    const both = [await openChain(config, silentLog), await openChain(config, silentLog)] as const;
    await world.network.mine(2);
    await look({ chains: both });
    assert.deepEqual(await alarms(), []);
    const pause = settlementCall('pauseSettling');
    await world.network.send(world.network.guardian, config.settlement, pause);
    await world.network.mine(2);
    await look({ chains: both });
    assert.deepEqual(await alarms(), ['contract_changed SettlingPaused']);
    await Promise.all(both.map((chain) => chain.close()));
  });

  it('does not report what the service itself does', async () => {
    const relayer = world.startRelayer();
    const stopMining = world.network.mineEvery(60);
    const payer = await world.network.addPayer();
    const paid = await world.pay({ payer, amount: LARGE });
    await world.outcomes([paid]);
    await stopMining();
    assert.equal(await blocksToStop(), null);
    assert.deepEqual(await alarms(), []);
    await relayer.stop();
  });

  it('records each poll, even if it found nothing new', async () => {
    const { db } = world.database;
    const lookedAt = async () => {
      const [row] = await db.query<{ looked_at: Date }>('select looked_at from watch_cursors');
      return present(row, 'watch_cursors').looked_at.getTime();
    };
    const before = await lookedAt();
    await sleep(5);
    await look();
    const after = await lookedAt();
    assert.ok(after > before);
    second.behavior = { whole: () => 'cut' };
    await look({ chains: [chains[1]] });
    assert.equal(await lookedAt(), after, 'no node answered');
  });

  it('draws no conclusion while the ledger is being recovered', async () => {
    const { db } = world.database;
    await db.query(`update network_recoveries set status = 'recovering' where not livemode`);
    await steal(LARGE);
    assert.equal(await blocksToStop(), null);
    assert.deepEqual(await alarms(), []);
    await db.query(`update network_recoveries set status = 'done' where not livemode`);
    assert.notEqual(await blocksToStop(), null);
  });

  it('reads again what it had not finished when it was killed, and repeats no action', async () => {
    const { number } = await chains[0].newest();
    await steal(LARGE);
    assert.notEqual(await blocksToStop(), null);
    const before = await steps();
    memory = openMemory(world.database.db.watch);
    const { db } = world.database;
    await db.query('update watch_cursors set next_block = $1', [number.toString()]);
    for (const part of ['Settling', 'Refunding'] as const)
      await world.network.callSettlement(world.network.admin, `unpause${part}`);
    await world.network.mine(2);
    await look();
    await look();
    assert.deepEqual(await steps(), before, 'what people undid stays undone');
  });

  it('draws no conclusion after the database was reset, until a recovery has ended', async () => {
    const { db } = world.database;
    await steal(LARGE);
    await world.network.mine(2);
    db.watch.showLoss();
    assert.equal(await blocksToStop(), null);
    assert.deepEqual(await alarms(), []);
    await db.query('update network_recoveries set finished = now() where not livemode');
    assert.notEqual(await blocksToStop(), null);
    db.watch.lossRecorded(true);
  });

  it('alerts operators at once, and not every second', async () => {
    const told: FoundPast[] = [];
    const alertOperators = async (_tx: Tx, current: FoundPast) => void told.push(current);
    await steal(LARGE);
    for (let n = 0; n < 3; n++) {
      await world.network.mine();
      await look({ alertOperators, watchKey: null });
    }
    await steal(SMALL);
    await world.network.mine(2);
    await look({ alertOperators });
    const [first, ...others] = told;
    assert.match(first?.lines.join() ?? '', /^payment of 6\.00 USDC, 0x[0-9a-f]{64}$/);
    assert.deepEqual(others, []);
  });

  it('notifies a merchant’s owners once a day of what two providers report', async () => {
    const merchant = world.merchant;
    await knowMerchant(merchant);
    const told: string[] = [];
    const notifyOwners = async (_tx: Tx, { accountId, moved }: ForeignMovements) =>
      void told.push(`${accountId}: ${moved.map(({ kind, amount }) => `${kind} ${amount}`)}`);
    await steal(SMALL);
    await world.network.mine(2);
    await look({ notifyOwners, chains: [chains[0]] });
    assert.deepEqual(told, [], 'one address alone may have invented it');
    await world.database.db.query('delete from watch_cursors');
    memory = openMemory(world.database.db.watch);
    memory.nextBlock = (await chains[0].newest()).number - 6n;
    for (let n = 0; n < 3; n++) {
      await look({ notifyOwners });
      await steal(SMALL);
      await world.network.mine(2);
    }
    assert.deepEqual(told, [`acct_${merchant.merchantNumber}: payment ${SMALL}`]);
  });

  it('shares its alarms with reconciliation: each event is reported once', async () => {
    await knowMerchant(world.merchant);
    await steal(SMALL);
    await world.network.mine(2);
    await look();
    const told = await alarms();
    assert.deepEqual(told, ['foreign_key_used merchant']);
    await reconcileOnce(world.deps, { graceMs: 0 });
    const again = (await alarms()).filter((alarm) => alarm.startsWith('foreign'));
    assert.deepEqual(again, told);
  });

  const knowMerchant = (merchant: TestMerchant) =>
    addAccount({ database: world.database, merchant }, `acct_${merchant.merchantNumber}`);
});
