import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StartError } from '#core/start-error.ts';
import { confirmationsFor, whenItCounts } from '#settlement/confirmations.ts';

const ONE = ['https://one.example/key'];
const TWO = [...ONE, 'https://two.example/key'];
const SAME_HOST = [...ONE, 'https://one.example/other'];
const prefix = 'CHAIN_MAINNET_';
const settingsFor = (asked: number | null, rpcUrls: readonly string[]) =>
  confirmationsFor(asked, { rpcUrls, prefix });

test('a payment counts at inclusion where two addresses can say so, else one block later', () => {
  assert.deepEqual(settingsFor(null, TWO), { confirmations: 0, receiptWitnesses: 2 });
  assert.deepEqual(settingsFor(0, TWO), { confirmations: 0, receiptWitnesses: 2 });
  assert.deepEqual(settingsFor(null, ONE), { confirmations: 1, receiptWitnesses: 1 });
  assert.deepEqual(settingsFor(null, SAME_HOST), { confirmations: 1, receiptWitnesses: 1 });
  assert.deepEqual(settingsFor(3, ONE), { confirmations: 3, receiptWitnesses: 1 });
  assert.deepEqual(settingsFor(3, TWO), { confirmations: 3, receiptWitnesses: 1 });
});

test('success at inclusion on the word of a single address ends the start', () => {
  for (const urls of [ONE, SAME_HOST]) {
    assert.throws(
      () => settingsFor(0, urls),
      (error) => {
        return error instanceof StartError && /CHAIN_MAINNET_CONFIRMATIONS=0/.test(error.message);
      },
    );
  }
});

test('the start says in one line when a payment counts', () => {
  const line = (asked: number | null, urls: readonly string[]) =>
    whenItCounts({ network: 'mainnet', ...settingsFor(asked, urls) });
  assert.match(line(null, TWO), /at inclusion, once two addresses name the same block/);
  assert.match(line(null, ONE), /when 1 block lies on top/);
  assert.match(line(3, ONE), /when 3 blocks lie on top/);
});
