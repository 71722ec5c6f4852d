import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sumDays } from './sum-days.ts';

const DAY = {
  day: '2026-11-26',
  volume: 10_000_000,
  tips: 0,
  payments: 3,
  succeeded: 3,
  canceled: 3,
  called_off: 2,
  declines: { insufficient_funds: 1 },
  terminal: null,
  intents: 6,
  success_rate: 0.75,
  refunds: 0,
  refunded: 0,
  settle_ms_median: 900,
  settle_ms_p95: 1_400,
};

test('a sale that the cashier canceled before any tap does not count in success rates', () => {
  assert.equal(sumDays([DAY]).successRate, 0.75);
  assert.equal(sumDays([{ ...DAY, succeeded: 0, canceled: 2 }]).successRate, null);
});
