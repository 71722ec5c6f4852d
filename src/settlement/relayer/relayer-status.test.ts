import assert from 'node:assert/strict';
import { test } from 'node:test';
import { paymentsOf } from '#settlement/relayer/relayer-status.ts';

const GWEI = 10n ** 9n;
const COIN = 10n ** 18n;

test('a balance is told as the payments that it pays for', () => {
  const head = { baseFeePerGas: GWEI };
  // 110,000 gas for one payment in a transaction of its own.
  assert.equal(paymentsOf(COIN / 10n, head), 909n);
  assert.equal(paymentsOf(COIN / 10n, { baseFeePerGas: 2n * GWEI }), 454n);
  assert.equal(paymentsOf(0n, head), 0n);
});

test('what nobody has measured is not told', () => {
  assert.equal(paymentsOf(null, { baseFeePerGas: GWEI }), null);
  assert.equal(paymentsOf(COIN, null), null);
  assert.equal(paymentsOf(COIN, { baseFeePerGas: 0n }), null);
});
