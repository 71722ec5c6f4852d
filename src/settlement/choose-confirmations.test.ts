import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StartError } from '#core/start-error.ts';
import { confirmationsFor, whenItCounts } from '#settlement/choose-confirmations.ts';
import type { NetworkConfig } from '#settlement/network-config.ts';

const ONE = ['https://one.example/key'];
const TWO = [...ONE, 'https://two.example/key'];
const SAME_HOST = [...ONE, 'https://one.example/other'];
const chain = { prefix: 'CHAIN_MAINNET_', finality: 'unknown' } as const;
const settingsFor = (blocks: number | null, rpcUrls: readonly string[]) =>
  confirmationsFor(blocks === null ? null : { blocks, ms: 0 }, { ...chain, rpcUrls });

const depth = (confirmations: number, receiptProviders: number) => {
  return { confirmations, confirmationsMs: 0, receiptProviders };
};

test('a payment counts at inclusion if two providers can confirm it, else one block later', () => {
  assert.deepEqual(settingsFor(null, TWO), depth(0, 2));
  assert.deepEqual(settingsFor(0, TWO), depth(0, 2));
  assert.deepEqual(settingsFor(null, ONE), depth(1, 1));
  assert.deepEqual(settingsFor(null, SAME_HOST), depth(1, 1));
  assert.deepEqual(settingsFor(3, ONE), depth(3, 1));
  assert.deepEqual(settingsFor(3, TWO), depth(3, 1));
});

test('if blocks cannot be undone, one provider is enough for success at inclusion', () => {
  const certain = { ...chain, rpcUrls: ONE, finality: 'deterministic' } as const;
  assert.deepEqual(confirmationsFor({ blocks: 0, ms: 0 }, certain), depth(0, 1));
  assert.deepEqual(confirmationsFor(null, certain), depth(0, 1));
  assert.deepEqual(confirmationsFor(null, { ...certain, rpcUrls: TWO }), depth(0, 2));
});

test('a time in addition to a block needs only one provider', () => {
  const chosen = confirmationsFor({ blocks: 0, ms: 400 }, { ...chain, rpcUrls: ONE });
  assert.deepEqual(chosen, { confirmations: 0, confirmationsMs: 400, receiptProviders: 1 });
});

test('startup fails if success at inclusion is set with a single provider', () => {
  for (const urls of [ONE, SAME_HOST]) {
    assert.throws(
      () => settingsFor(0, urls),
      (error) => {
        return error instanceof StartError && /CHAIN_MAINNET_CONFIRMATIONS=0/.test(error.message);
      },
    );
  }
});

test('the start logs in one line when a payment counts', () => {
  const line = (blocks: number | null, urls: readonly string[], rules = NO_RULES) =>
    whenItCounts({ network: 'mainnet', countsFrom: rules, ...settingsFor(blocks, urls) });
  assert.match(line(null, TWO), /at inclusion, once two addresses name the same block/);
  assert.match(line(null, ONE), /when 1 block follows its own/);
  assert.match(line(3, ONE), /when 3 blocks follow its own/);
  const larger = line(3, ONE, [
    { from: 0n, waitsFor: 'inclusion', ms: 0 },
    { from: 500_000_000n, waitsFor: 'time', ms: 1_000 },
    { from: 10_000_000_000n, waitsFor: 'safe', ms: 0 },
  ]);
  assert.match(
    larger,
    /; from 500000000 atoms 1000 ms later; from 10000000000 atoms when its block/,
  );
});

const NO_RULES: NetworkConfig['countsFrom'] = [];
