import '../testing/texts.ts';
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { generatePrivateKey } from 'viem/accounts';
import { startTestNetwork, type TestNetwork } from '#testkit/network/test-network.ts';
import { approve } from './approve-on-chain.ts';
import { accountOf } from './private-key-account.ts';
import type { ChainFacts } from './sign-permit-and-transfer.ts';

/** The injected wallet of the page. */
const page = globalThis as { window?: { ethereum?: object } };

let network: TestNetwork;
let chain: ChainFacts;
let stopMining: () => Promise<void>;

before(async () => {
  network = await startTestNetwork();
  stopMining = network.mineEvery(200);
  const { chainId, usdc, usdcDomain, settlement } = network.config;
  chain = { chainId, usdc, usdcDomain, settlement, rpcUrl: null };
  const request = ({ method, params = [] }: { method: string; params?: unknown[] }) =>
    network.rpc.call(method, params);
  page.window = { ethereum: { request } };
});

after(async () => {
  delete page.window;
  await stopMining();
  await network.stop();
});

test('a wallet with money for gas approves a total for the contract, once', async () => {
  const account = accountOf(generatePrivateKey());
  const nonce = async () => (await network.chain.nonces([account.address]))[0];
  await assert.rejects(
    approve(account, { chain, value: 5n }),
    /needs \u20680\.\d+\u2069 of the network’s own coin and has \u20680\u2069/,
  );
  await network.rpc.call('anvil_setBalance', [account.address, '0xde0b6b3a7640000']);
  await approve(account, { chain, value: 5n });
  assert.equal(await nonce(), 1n);
  await approve(account, { chain, value: 5n });
  assert.equal(await nonce(), 1n, 'what is so already needs no transaction');
  await approve(account, { chain, value: 0n });
  assert.equal(await nonce(), 2n);
});

test('without a node that could send it, nothing is signed', async () => {
  const injected = page.window;
  page.window = {};
  try {
    const account = accountOf(generatePrivateKey());
    await assert.rejects(approve(account, { chain, value: 5n }), /there is no node to send it/);
  } finally {
    page.window = injected ?? {};
  }
});
