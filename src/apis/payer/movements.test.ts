import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { encodeFunctionData, zeroAddress } from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { type Loop, startLoop } from '#core/background-loop.ts';
import { silentLog } from '#observability/log.ts';
import { applySettlements } from '#payments/apply-settlements.ts';
import { createPreflight } from '#payments/preflight-by-network.ts';
import { applyRefundOutcomes } from '#refunds/apply-refund-results.ts';
import { type SignedIn, type StoreServer, serveStore } from '#testkit/apis/store-server.ts';
import { tap } from '#testkit/apis/tap.ts';
import {
  assertAddsUp,
  movementsOf,
  transferUsdc,
  typesOf,
} from '#testkit/apis/wallet-movements.ts';
import { addIntent, openStore, type TestStore } from '#testkit/fixtures/payments/store.ts';
import {
  type RelayerWorld,
  startRelayerWorld,
} from '#testkit/fixtures/settlement/relayer-world.ts';
import { testUsdcAbi } from '../../../contracts/artifacts/TestUSDC.ts';

/** The wallet's movements on a real chain with the real token. */

let world: RelayerWorld;
let store: TestStore;
let server: StoreServer;
let friend: PrivateKeyAccount;
let stopMining: () => Promise<void>;
const loops: Loop[] = [];

function startApplying(name: string, run: () => Promise<boolean>): void {
  const onError = (_name: string, error: unknown) => {
    throw error;
  };
  loops.push(startLoop({ name, pollMs: 30, run, onError }));
}

before(async () => {
  world = await startRelayerWorld();
  stopMining = world.network.mineEvery(50);
  world.startRelayer();
  const { database, wakeups, merchant } = world;
  const chains = [world.network.chain];
  const preflight = createPreflight(chains);
  const { merchantNumber } = merchant;
  store = await openStore({ database, wakeups, merchantNumber, preflight });
  server = await serveStore(store, { chains });
  const deps = { ...store, log: silentLog };
  startApplying('settlements', () => applySettlements(deps));
  startApplying('refunds', () => applyRefundOutcomes(deps));
  friend = await world.network.addPayer();
});

after(async () => {
  await Promise.all(loops.map((loop) => loop.stop()));
  await stopMining();
  await server.close();
  await world.stop();
});

const addsUp = (wallet: SignedIn) => assertAddsUp(world.network, wallet);

const transfer = (from: PrivateKeyAccount, to: PrivateKeyAccount, amount: bigint) =>
  transferUsdc(world.network, { from, to, amount });

/** Signs in a wallet that has a million USDC, coin for gas, an allowance and a policy. */
async function fundedWallet(): Promise<SignedIn> {
  const key = generatePrivateKey();
  await world.network.addPayer({ keys: [key] });
  return server.signIn({ account: privateKeyToAccount(key) });
}

async function pay({ me }: SignedIn): Promise<string> {
  const pass = (await me.post('/passes', {})).body;
  const { body } = await tap(server.device(), await addIntent(store), String(pass.nfc_id));
  assert.equal(body.status, 'succeeded', JSON.stringify(body));
  return String(body.payment);
}

describe('the movements of a wallet', () => {
  test('are its payments, refunds and transfers, each once, and its balance', async () => {
    const wallet = await fundedWallet();
    const payment = await pay(wallet);
    await transfer(friend, wallet.account, 7_000_000n);
    await transfer(wallet.account, friend, 2_500_000n);
    const merchant = await server.merchant();
    const refunded = await merchant.post('/refunds', { payment, amount: 400_000 });
    assert.equal(refunded.status, 201, JSON.stringify(refunded.body));
    let movements = await addsUp(wallet);
    while (!typesOf(movements).includes('refund')) {
      await sleep(100);
      movements = await addsUp(wallet);
    }
    const shown = [...movements].sort((a, b) => a.type.localeCompare(b.type));
    assert.deepEqual(typesOf(shown), ['faucet', 'payment', 'received', 'refund', 'sent']);
    const [faucet, paid, received, refund, sent] = shown;
    const [listed] = (await wallet.me.get('/payments')).body.data as unknown as Record<
      'id' | 'merchant_name' | 'tx_hash' | 'total_charged' | 'amount',
      never
    >[];
    assert.ok(listed !== undefined && paid !== undefined);
    assert.deepEqual(
      [paid.payment, paid.with, paid.tx_hash],
      [listed.id, listed.merchant_name, listed.tx_hash],
    );
    assert.equal(paid.fee, paid.amount - listed.amount);
    assert.ok(paid.fee > 0, 'the payment has a fee');
    assert.deepEqual(
      [refund?.payment, refund?.with, refund?.amount, refund?.fee],
      [payment, listed.merchant_name, 400_000, 0],
    );
    assert.deepEqual(
      [received?.with, received?.amount, received?.payment],
      [friend.address, 7_000_000, null],
    );
    assert.deepEqual([sent?.with, sent?.amount, sent?.fee], [friend.address, 2_500_000, 0]);
    assert.equal(faucet?.with, zeroAddress);
    assert.deepEqual(new Set(movements.map(({ status }) => status)), new Set(['succeeded']));
  });

  test('leave out transfers of nothing, and fold those below 0.01 USDC by day', async () => {
    const wallet = await fundedWallet();
    const { address } = wallet.account;
    const { config } = world.network;
    const spoof = encodeFunctionData({
      abi: testUsdcAbi,
      functionName: 'transferFrom',
      args: [address, friend.address, 0n],
    });
    await world.network.send(friend, config.usdc, spoof);
    await transfer(friend, wallet.account, 0n);
    await transfer(wallet.account, wallet.account, 3_000_000n);
    for (const amount of [1n, 9_999n, 5_000n]) await transfer(friend, wallet.account, amount);
    await transfer(friend, wallet.account, 10_000n);
    for (const amount of [2n, 3n]) await transfer(wallet.account, friend, amount);
    const check = async () => {
      const movements = await addsUp(wallet);
      const folded = movements.filter(({ tx_hash: hash }) => hash === null);
      assert.deepEqual(
        folded.map(({ type, amount, with: other }) => [type, amount, other]),
        [
          ['sent', 5, null],
          ['received', 15_000, null],
        ],
      );
      assert.deepEqual(
        movements.filter((one) => one.tx_hash !== null).map(({ type, amount }) => [type, amount]),
        [
          ['received', 10_000],
          ['faucet', 1_000_000_000_000],
        ],
      );
    };
    await check();
    // Some of them become final, and the same again is folded with them.
    await world.network.mine(90);
    await check();
    await transfer(friend, wallet.account, 100n);
    const [line] = (await addsUp(wallet)).filter(
      (one) => one.tx_hash === null && one.type === 'received',
    );
    assert.equal(line?.amount, 15_100);
  });

  test('come in pages whose cursors belong to this wallet', async () => {
    const wallet = await fundedWallet();
    for (let i = 1n; i <= 6n; i++) await transfer(friend, wallet.account, i * 1_000_000n);
    const whole = await addsUp(wallet);
    assert.deepEqual(await movementsOf(wallet.me, 2), whole);
    const { body } = await wallet.me.get('/movements?limit=2');
    const other = await server.signIn();
    const stolen = await other.me.get(`/movements?cursor=${body.next_cursor}`);
    assert.deepEqual([stolen.status, stolen.body.error?.code], [400, 'cursor_invalid']);
    assert.deepEqual(await movementsOf(other.me), []);
  });
});
