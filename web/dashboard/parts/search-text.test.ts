import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSearch } from './search-text.ts';

test('what a person has at hand is told apart', () => {
  const hash = `0x${'aB'.repeat(32)}`;
  const wallet = `0x${'1c'.repeat(20)}`;
  assert.deepEqual(readSearch(` ${hash} `), { tx_hash: hash });
  assert.deepEqual(readSearch(wallet), { payer: wallet });
  assert.deepEqual(readSearch('2.50'), { amount: 2_500_000 });
  assert.deepEqual(readSearch('1,000.25'), { amount: 1_000_250_000 });
  assert.deepEqual(readSearch('table-7'), { order_id: 'table-7' });
  assert.deepEqual(readSearch('1234'), { order_id: '1234' });
});
