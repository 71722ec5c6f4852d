import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressMessage, contentOf, recordsOf, textMessage } from './ndef.ts';

function readBack(bytes: Uint8Array): (string | null)[] | null {
  return recordsOf(bytes)?.map(contentOf) ?? null;
}

test('the encoded bytes match the standard, and decode to the same URL', () => {
  const url = 'https://pay.example.com/t/3nF8qTz0LwKc5YbRm1XaVe';
  const bytes = addressMessage(url);
  const head = Buffer.from(bytes.subarray(0, 5)).toString('hex');
  // Header of one short record of the well-known type `U`; 4 stands for `https://`.
  assert.equal(head, `d101${(bytes.length - 4).toString(16)}5504`);
  assert.equal(Buffer.from(bytes.subarray(5)).toString(), url.slice('https://'.length));
  assert.deepEqual(readBack(bytes), [url]);
  const others = [
    'http://127.0.0.1:4242/t/x',
    'https://www.example.com/t/x',
    'tel:1',
    `https://example.com/${'a'.repeat(300)}`,
    'https://example.com/é',
  ];
  for (const other of others) assert.deepEqual(readBack(addressMessage(other)), [other]);
  assert.deepEqual(readBack(textMessage('nfc_2Yv9AbcExample')), ['nfc_2Yv9AbcExample']);
});

test('a truncated message is not a message', () => {
  const bytes = addressMessage('https://pay.example.com/t/3nF8qTz0LwKc5YbRm1XaVe');
  for (let length = 0; length < bytes.length; length++) {
    assert.equal(recordsOf(bytes.subarray(0, length)), null, String(length));
  }
  assert.equal(recordsOf(Uint8Array.from([0xf1, 1, 0, 0x55])), null, 'in chunks');
  const twoRecords = Uint8Array.from([0x91, 1, 1, 0x55, 0, ...bytes]);
  assert.equal(recordsOf(twoRecords)?.length, 2);
});
