import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeFunctionData, erc20Abi, toFunctionSelector } from 'viem';
import {
  endPermission,
  formatCoin,
  formatGwei,
  OtherChain,
  type Provider,
  parseGwei,
  readChain,
  SELECTORS,
} from './wallet-chain-node.ts';

const CHAIN = {
  chainId: 31_337,
  usdc: '0x00000000000000000000000000000000000000aa',
  usdcDomain: { name: 'USD Coin', version: '2' },
  settlement: '0x00000000000000000000000000000000000000Bb',
  rpcUrl: null,
} as const;

const OWNER = '0x00000000000000000000000000000000000000cc';

test('calls are named and packed as the token reads them', () => {
  assert.equal(SELECTORS.approve, toFunctionSelector('function approve(address,uint256)'));
  assert.equal(SELECTORS.allowance, toFunctionSelector('function allowance(address,address)'));
  assert.equal(SELECTORS.balanceOf, toFunctionSelector('function balanceOf(address)'));
  const { functionName, args } = decodeFunctionData({ abi: erc20Abi, data: endPermission(CHAIN) });
  assert.equal(functionName, 'approve');
  assert.equal(String(args[0]).toLowerCase(), CHAIN.settlement.toLowerCase());
  assert.equal(args[1], 0n);
});

/** Creates a node with fixed responses. */
function nodeOf(answers: Readonly<Record<string, unknown>>): Provider {
  return { request: async ({ method }) => answers[method] };
}

test('a wallet on another chain and a node with wrong responses are not trusted', async () => {
  await assert.rejects(readChain(nodeOf({ eth_chainId: '0x1' }), CHAIN, OWNER), OtherChain);
  const odd = nodeOf({ eth_chainId: '0x7a69', eth_call: '0x' });
  await assert.rejects(readChain(odd, CHAIN, OWNER), /no number/);
});

test('fees are typed and shown as people write them', () => {
  assert.equal(parseGwei('1.5'), 1_500_000_000n);
  assert.equal(parseGwei('0,000000001'), 1n);
  for (const wrong of ['', '-1', 'two', '1.', '1.0000000001']) assert.equal(parseGwei(wrong), null);
  assert.equal(formatCoin(160_000_000_000_000n), '0.00016');
  assert.equal(formatCoin(2n * 10n ** 18n), '2');
  assert.equal(formatGwei(1_500_000_000n), '1.5');
});
