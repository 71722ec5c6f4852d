import assert from 'node:assert/strict';
import { test } from 'node:test';
import { credentialOf, readText } from './read-credential.ts';

test('what a reader reads is a pass, a card, a code, or nothing', () => {
  const card = 'https://pay.example.com/card/card_1?p=00&c=11';
  const read: readonly (readonly [string, string | null])[] = [
    ['nfc_2Yv9AbcExample', 'nfc_id'],
    ['  nfc_2Yv9AbcExample\n', 'nfc_id'],
    [card, 'nfc_sun'],
    ['https://pay.example.com/below/card/card_1?p=00&c=11', 'nfc_sun'],
    ['https://shop.example.com/menu', null],
    ['tlqr_0123456789abcdef', 'qr'],
    ['pass_01QzXo0KcV5sVQ2pWm8Tn3.94287082', 'rotating_code'],
    ['pass_01QzXo0KcV5sVQ2pWm8Tn3.9428708', 'qr'],
    ['4006381333931', null],
    ['', null],
    ['nfc_', null],
    ['two words that are long enough', null],
  ];
  for (const [text, type] of read) assert.equal(credentialOf(text)?.type ?? null, type, text);
});

test('a tag is known by its address, in each cell, and pays nothing', () => {
  const token = '3nF8qTz0LwKc5YbRm1XaVe';
  for (const address of [`https://pay.example.com/t/${token}`, `https://one.example/t/1${token}`]) {
    assert.deepEqual(readText(address), { is: 'tag', address });
  }
  assert.deepEqual(readText(`https://pay.example.com/t/12${token}`), { is: 'no_pass' });
});
