import '../../testing/texts.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutIsolates } from '#i18n/bidi-isolates.ts';
import { readSearch, searchProblem } from './classify-search-text.ts';

test('search texts are recognized by their form', () => {
  const hash = `0x${'aB'.repeat(32)}`;
  const wallet = `0x${'1c'.repeat(20)}`;
  assert.deepEqual(readSearch(` ${hash} `), { tx_hash: hash });
  assert.deepEqual(readSearch(wallet), { payer: wallet });
  assert.deepEqual(readSearch('2.50'), { amount: 2_500_000 });
  assert.deepEqual(readSearch('1,000.25'), { amount: 1_000_250_000 });
  assert.deepEqual(readSearch('0,70'), { amount: 700_000 });
  assert.deepEqual(readSearch('1 500'), { amount: 1_500_000_000 });
  assert.deepEqual(readSearch('table-7'), { order_id: 'table-7' });
});

test('digits alone match an order ID and an amount', () => {
  assert.deepEqual(readSearch('700'), { order_id: '700', amount: 700_000_000 });
  assert.deepEqual(readSearch('0'), { order_id: '0' });
});

test('an ambiguous amount is not searched for; the page names both readings', () => {
  assert.equal(withoutIsolates(searchProblem(' 1,500 ') ?? ''), 'Write 1500 or 1.50');
  assert.equal(withoutIsolates(searchProblem('12 5') ?? ''), 'Enter an amount such as 2.50.');
  for (const fine of ['700', '0', '0,70', 'table-7', `0x${'1c'.repeat(20)}`, '']) {
    assert.equal(searchProblem(fine), null, fine);
  }
});
