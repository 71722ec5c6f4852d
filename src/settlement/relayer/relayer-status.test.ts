import assert from 'node:assert/strict';
import { test } from 'node:test';
import { paymentsOf } from '#settlement/relayer/relayer-status.ts';

const GWEI = 10n ** 9n;
const COIN = 10n ** 18n;
const at = (baseFeePerGas: bigint, dataFee = 0n) => ({ head: { baseFeePerGas }, dataFee });

test('a balance is told as the payments that it pays for', () => {
  const head = at(GWEI);
  // 110,000 gas for one payment in a transaction of its own.
  assert.equal(paymentsOf(COIN / 10n, head), 909n);
  assert.equal(paymentsOf(COIN / 10n, at(2n * GWEI)), 454n);
  assert.equal(paymentsOf(0n, head), 0n);
  // Publishing each costs as much again.
  assert.equal(paymentsOf(COIN / 10n, at(GWEI, 110_000n * GWEI)), 454n);
});

test('what nobody has measured is not told', () => {
  assert.equal(paymentsOf(null, at(GWEI)), null);
  assert.equal(paymentsOf(COIN, null), null);
  assert.equal(paymentsOf(COIN, at(0n)), null);
});
