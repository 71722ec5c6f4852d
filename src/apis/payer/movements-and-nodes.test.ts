import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { present } from '#core/assert.ts';
import { silentLog } from '#observability/log.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { openChain } from '#settlement/chain/rpc/open-chain.ts';
import { type SignedIn, type StoreServer, serveStore } from '#testkit/apis/store-server.ts';
import {
  assertAddsUp,
  movementsOf,
  transferData,
  transferUsdc,
  typesOf,
} from '#testkit/apis/wallet-movements.ts';
import { openStore, type TestStore } from '#testkit/fixtures/payments/store.ts';
import { BEHAVIORS } from '#testkit/network/provider-behaviors.ts';
import { type ProviderProxy, startProviderProxy } from '#testkit/network/provider-proxy.ts';
import { startTestNetwork, type TestNetwork } from '#testkit/network/test-network.ts';

/** Movements while nodes fail, blocks leave the chain, and the database is put back. */

/** The smallest value of the setting. */
const READS_PER_DAY = 216;
const CONFIRMATIONS = 3;

let network: TestNetwork;
let provider: ProviderProxy;
let chain: Chain;
let store: TestStore;
let server: StoreServer;
let friend: PrivateKeyAccount;

before(async () => {
  network = await startTestNetwork();
  provider = await startProviderProxy(network.node.rpcUrl);
  const { config } = network;
  const confirming = { ...config, confirmations: CONFIRMATIONS, rpcUrls: [provider.url] };
  chain = await openChain(confirming, silentLog);
  store = await openStore();
  const env = { WALLET_READS_PER_DAY: String(READS_PER_DAY) };
  server = await serveStore(store, { chains: [chain], env });
  friend = await network.addPayer();
  await network.mine(100);
});

afterEach(() => {
  provider.behavior = null;
});

after(async () => {
  await server.close();
  await chain.close();
  await provider.stop();
  await store.close();
  await network.stop();
});

/** Signs in a wallet without USDC, but with coin for gas. */
async function newWallet(): Promise<SignedIn> {
  const key = generatePrivateKey();
  await network.addPayer({ keys: [key], usdc: 0n });
  return server.signIn({ account: privateKeyToAccount(key) });
}

const addsUp = (wallet: SignedIn) => assertAddsUp(network, wallet);
const receive = ({ account: to }: SignedIn, amount: bigint) =>
  transferUsdc(network, { from: friend, to, amount });
const send = ({ account: from }: SignedIn, amount: bigint) =>
  transferUsdc(network, { from, to: friend, amount });

test('a transfer is pending until its block has its confirmations', async () => {
  const wallet = await newWallet();
  await receive(wallet, 1_000_000n);
  const statuses: (string | undefined)[] = [];
  for (let mined = 0; mined <= CONFIRMATIONS; mined++) {
    statuses.push((await addsUp(wallet))[0]?.status);
    await network.mine();
  }
  assert.deepEqual(statuses, ['pending', 'pending', 'pending', 'succeeded']);
});

test('transfers in lost blocks disappear, and return once with the same id', async () => {
  const wallet = await newWallet();
  await receive(wallet, 5_000_000n);
  await receive(wallet, 2_000n);
  const data = transferData({ to: wallet.account, amount: 1_000_000n });
  const nonce = Number(
    await network.rpc.call('eth_getTransactionCount', [friend.address, 'latest']),
  );
  const raw = await friend.signTransaction({
    ...{ type: 'eip1559', chainId: network.config.chainId, nonce, to: network.config.usdc, data },
    ...{ gas: 200_000n, maxFeePerGas: 50n * 10n ** 9n, maxPriorityFeePerGas: 10n ** 9n },
  });
  await network.rpc.call('eth_sendRawTransaction', [raw]);
  await network.mine(2);
  const [before] = await addsUp(wallet);
  assert.equal(before?.amount, 1_000_000);
  const head = await network.head();
  await network.reorganize(head - 1);
  assert.deepEqual(typesOf(await addsUp(wallet)), ['received', 'received']);
  await network.reorganize(head - 1, [[raw, 1]]);
  const [again] = await addsUp(wallet);
  assert.equal(again?.id, before?.id);
  await network.rpc.call('anvil_rollback', [2]);
  assert.equal((await addsUp(wallet)).length, 2);
});

test('if even final blocks leave the chain, everything is read again', async () => {
  const wallet = await newWallet();
  await receive(wallet, 5_000_000n);
  await receive(wallet, 3_000n);
  const first = await network.head();
  await network.mine(100);
  await receive(wallet, 2_000_000n);
  assert.equal((await addsUp(wallet)).length, 3);
  await network.reorganize(first);
  assert.deepEqual(
    (await addsUp(wallet)).map(({ amount }) => amount),
    [5_000_000],
  );
});

test('a database that is put back reads what it has lost, each transfer once', async () => {
  const wallet = await newWallet();
  await receive(wallet, 5_000_000n);
  await receive(wallet, 4_000n);
  await network.mine(100);
  await addsUp(wallet);
  await store.db.query('create table kept_reads as select * from wallet_reads');
  await store.db.query('create table kept_movements as select * from wallet_movements');
  await receive(wallet, 3_000n);
  await send(wallet, 1_000_000n);
  await network.mine(100);
  const whole = await addsUp(wallet);
  await store.db.query('delete from wallet_movements');
  await store.db.query('delete from wallet_reads');
  await store.db.query('insert into wallet_movements select * from kept_movements');
  await store.db.query('insert into wallet_reads select * from kept_reads');
  assert.deepEqual(await addsUp(wallet), whole);
  await store.db.query('delete from wallet_movements');
  await store.db.query('delete from wallet_reads');
  assert.deepEqual(await addsUp(wallet), whole);
  await store.db.query('drop table kept_reads, kept_movements');
});

test('while no node answers, the list is as of the last reading, and says so', async () => {
  const wallet = await newWallet();
  const fresh = await newWallet();
  await receive(wallet, 5_000_000n);
  const whole = await addsUp(wallet);
  const { as_of: asOf } = (await wallet.me.get('/movements')).body;
  provider.behavior = BEHAVIORS['cuts the connection']();
  const { status, body } = await wallet.me.get('/movements');
  assert.deepEqual([status, body.as_of, body.data], [200, asOf, whole]);
  const never = await fresh.me.get('/movements');
  assert.deepEqual([never.status, never.body.error?.code], [503, 'service_unavailable']);
});

test('a wallet takes eight requests without news, and never beyond its daily limit', async () => {
  const wallet = await newWallet();
  await movementsOf(wallet.me);
  await network.mine(5);
  let calls = provider.calls;
  await movementsOf(wallet.me);
  assert.equal(provider.calls - calls, 8);
  calls = provider.calls;
  for (let i = 0; i < 40; i++) await movementsOf(wallet.me);
  assert.ok(provider.calls - calls <= READS_PER_DAY, `${provider.calls - calls} requests`);
  await receive(wallet, 5_000_000n);
  assert.deepEqual(await movementsOf(wallet.me), [], 'shows what was read before');
  await store.db.query(`update wallet_reads set day = '2026-01-01'`);
  assert.equal((await addsUp(wallet)).length, 1, 'goes on the next day');
});

// The last test, because the chain remembers the width that the node allows.
test('a node that returns few blocks of logs is read over days, newest blocks first', async () => {
  const wallet = await newWallet();
  await receive(wallet, 5_000_000n);
  await network.mine(1_000);
  await receive(wallet, 1_000_000n);
  provider.behavior = BEHAVIORS['gives logs of ten blocks']();
  const calls = provider.calls;
  const { body } = await wallet.me.get('/movements');
  assert.ok(provider.calls - calls <= READS_PER_DAY, `${provider.calls - calls} requests`);
  const amounts = (body.data as unknown as { amount: number }[]).map(({ amount }) => amount);
  assert.deepEqual(amounts, [1_000_000]);
  const readTo = async () => {
    const [row] = await store.db.query<{ since_block: bigint }>(
      'select since_block from wallet_reads order by next_block desc limit 1',
    );
    return present(row, 'the reading').since_block;
  };
  let days = 1;
  for (let since = await readTo(); typesOf(await movementsOf(wallet.me)).length < 2; days++) {
    await store.db.query(`update wallet_reads set day = '2026-01-01'`);
    await movementsOf(wallet.me);
    const next = await readTo();
    assert.ok(next < since, 'goes on where it stopped');
    since = next;
  }
  await addsUp(wallet);
  assert.ok(days > 2, `${days} days`);
});
