import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AccountClocks } from '#payments/account-clocks.ts';

const TIME = { aheadSeconds: 60, stampedAt: new Date('2026-11-21T12:00:00Z') };

test('of very many accounts, those that were used last are remembered', () => {
  const clocks = new AccountClocks();
  for (let n = 0; n <= 10_000; n++) clocks.learn(`account ${n}`, TIME);
  assert.deepEqual(clocks.timeOf('account 1'), TIME);
  assert.deepEqual(clocks.timeOf('account 10000'), TIME);
  assert.deepEqual(clocks.timeOf('account 0'), { aheadSeconds: 0, stampedAt: new Date(0) });
});
