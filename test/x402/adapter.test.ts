import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { ExactEvmScheme, toFacilitatorEvmSigner } from '@x402/evm';
import { ExactEvmScheme as ExactEvmFacilitator } from '@x402/evm/exact/facilitator';
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from '@x402/fetch';
import { createWalletClient, defineChain, erc20Abi, http, publicActions } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { silentLog } from '#core/log.ts';
import { type Loop, startLoop } from '#core/loop.ts';
import { createPreflight } from '#payments/preflight.ts';
import { applySettlements } from '#payments/settle.ts';
import { type RelayerWorld, startRelayerWorld } from '#testing/relayer-world.ts';
import { openStore, type TestStore } from '#testing/store.ts';
import { type StoreServer, serveStore } from '#testing/store-server.ts';
import { signInWallet } from '#testing/wallet-sign-in.ts';
import { createAdapter, type Shop } from './adapter.ts';

/** An unmodified x402 client buys from a merchant whose money is settled by Tapline. */

const PRICE = 2_500_000;
/** 30 and 20 basis points of fees, 5 of them back as cashback. */
const TOTAL = PRICE + 7_500 + 5_000 - 1_250;
const FUNDS = 10_000_000n;

let world: RelayerWorld;
let store: TestStore;
let server: StoreServer;
let applying: Loop;
let stopMining: () => Promise<void>;
let bridge: PrivateKeyAccount;
let shop: Shop;
const adapters: Server[] = [];

function walletClient(account: PrivateKeyAccount) {
  const { chainId, rpcUrls } = world.network.config;
  const chain = defineChain({
    id: chainId,
    name: 'test',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [...rpcUrls] } },
  });
  const client = createWalletClient({ account, chain, transport: http(), pollingInterval: 50 });
  return client.extend(publicActions);
}

async function openShop(): Promise<Shop> {
  const { config } = world.network;
  const client = walletClient(bridge);
  const signer = toFacilitatorEvmSigner({ ...client, address: bridge.address } as never);
  const token = await signInWallet(server.url, bridge, { chainId: config.chainId });
  return {
    merchant: await server.merchant(),
    bridge: server.payer(token),
    account: store.standing.tenant.accountId,
    terminal: store.terminalId,
    price: PRICE,
    total: TOTAL,
    chainId: config.chainId,
    usdc: config.usdc,
    usdcDomain: config.usdcDomain,
    bridgeAddress: bridge.address,
    facilitator: new ExactEvmFacilitator(signer),
    giveBack: async (to, atoms) => {
      const hash = await client.writeContract({
        address: config.usdc,
        abi: erc20Abi,
        functionName: 'transfer',
        args: [to as `0x${string}`, BigInt(atoms)],
      });
      await client.waitForTransactionReceipt({ hash });
    },
  };
}

async function listen(of: Shop): Promise<string> {
  const adapter = createAdapter(of);
  adapters.push(adapter);
  adapter.listen(0, '127.0.0.1');
  await once(adapter, 'listening');
  return `http://127.0.0.1:${(adapter.address() as AddressInfo).port}/coffee`;
}

before(async () => {
  world = await startRelayerWorld();
  stopMining = world.network.mineEvery(100);
  world.startRelayer();
  const { database, wakeups, merchant } = world;
  const chains = [world.network.chain];
  const preflight = createPreflight(chains);
  const { merchantNumber } = merchant;
  store = await openStore({ database, wakeups, merchantNumber, preflight });
  server = await serveStore(store, { chains });
  const deps = { ...store, log: silentLog };
  applying = startLoop({
    name: 'settlements',
    pollMs: 30,
    run: () => applySettlements(deps),
    onError: (_name, error) => {
      throw error;
    },
  });
  const [wallet] = await world.network.addPayers(1, { usdc: 0n });
  assert(wallet !== undefined);
  bridge = wallet;
  shop = await openShop();
});

after(async () => {
  for (const adapter of adapters) adapter.close();
  await applying.stop();
  await stopMining();
  await server.close();
  await world.stop();
});

/** A wallet with USDC that never heard of Tapline: no allowance, no policy, no account. */
async function newBuyer(): Promise<PrivateKeyAccount> {
  const [account] = await world.network.addPayers(1, {
    usdc: FUNDS,
    allowance: 0n,
    perPayment: null,
  });
  assert(account !== undefined);
  return account;
}

function limitBridge(atoms: number | null) {
  return shop.bridge.send('PATCH', '/limits', {
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ per_payment: atoms }),
  });
}

/** As the packages' own guide shows it; the test token has to be allowed like any unusual one. */
function payingFetch(account: PrivateKeyAccount) {
  const network = `eip155:${shop.chainId}` as const;
  return wrapFetchWithPaymentFromConfig(fetch, {
    schemes: [{ network, client: new ExactEvmScheme(account) }],
    spendControls: { allowedAssets: [{ network, asset: shop.usdc }] },
  });
}

function merchantBalance(): Promise<bigint> {
  return world.network.merchantBalance(world.merchant.merchantNumber);
}

describe('an x402 client', () => {
  test('is asked with 402, pays with one signature, and gets the resource', async () => {
    const url = await listen(shop);
    const buyer = await newBuyer();
    const before = await merchantBalance();
    assert.equal((await fetch(url)).status, 402);

    const response = await payingFetch(buyer)(url);
    assert.equal(response.status, 200);
    assert.deepEqual(await response.json(), { coffee: 'Ethiopia, washed' });

    const receipt = decodePaymentResponseHeader(response.headers.get('PAYMENT-RESPONSE') ?? '');
    assert.equal(receipt.success, true);
    assert.equal(await world.network.usdcOf(buyer.address), FUNDS - BigInt(TOTAL));
    assert.equal(await merchantBalance(), before + BigInt(PRICE));
    assert.equal(await world.network.usdcOf(bridge.address), 0n);
    const payments = (await shop.merchant.get('/payments?limit=1')).body.data as {
      payment_method: { type: string };
      amount: number;
    }[];
    assert.equal(payments[0]?.payment_method.type, 'agent_token');
    assert.equal(payments[0]?.amount, PRICE);
  });

  test('gets its money back when the merchant cannot be paid', async () => {
    await limitBridge(PRICE - 1);
    const url = await listen(shop);
    const buyer = await newBuyer();
    const before = await merchantBalance();
    const response = await payingFetch(buyer)(url);
    await limitBridge(null);
    assert.equal(response.status, 402);
    assert.equal(await world.network.usdcOf(buyer.address), FUNDS);
    assert.equal(await merchantBalance(), before);
    const [intent] = (await shop.merchant.get('/payment_intents?limit=1')).body.data as {
      status: string;
      last_payment_error: { decline_code: string };
    }[];
    assert.equal(intent?.status, 'canceled');
    assert.equal(intent?.last_payment_error.decline_code, 'limit_exceeded');
  });

  test('without enough USDC is refused before anything moves', async () => {
    const url = await listen(shop);
    const [poor] = await world.network.addPayers(1, { usdc: 1n, allowance: 0n, perPayment: null });
    assert(poor !== undefined);
    const response = await payingFetch(poor)(url);
    assert.equal(response.status, 402);
    assert.equal(await world.network.usdcOf(poor.address), 1n);
  });
});
