import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mnemonicToAccount, privateKeyToAccount } from 'viem/accounts';
import { newSecrets, readPhrase, wordsOf } from './recovery-phrase.ts';

/** A phrase that is known to everyone. */
const PHRASE = 'legal winner thank year wave sausage worth useful legal winner thank yellow';

test('a phrase gives the same address as viem, with numbers, capitals and line breaks', () => {
  const numbered = PHRASE.split(' ').map((word, at) => `${at + 1}. ${word.toUpperCase()}`);
  for (const text of [PHRASE, ` ${PHRASE.replaceAll(' ', '\n ')}\n`, numbered.join('\n')]) {
    const read = readPhrase(text);
    assert.ok(read.is === 'phrase');
    const { address } = privateKeyToAccount(read.secrets.privateKey);
    assert.equal(address, mnemonicToAccount(PHRASE).address);
  }
});

test('a wrong word, count or checksum is told apart', () => {
  const cases = [
    [PHRASE.replace('sausage', 'sausages'), { is: 'unknown_word', word: 'sausages', at: 6 }],
    [PHRASE.replace(' yellow', ''), { is: 'wrong_count', count: 11 }],
    ['', { is: 'wrong_count', count: 0 }],
    [PHRASE.replace('yellow', 'year'), { is: 'wrong_checksum' }],
  ] as const;
  for (const [text, expected] of cases) assert.deepEqual(readPhrase(text), expected);
});

test('each new phrase has twelve words that read back as the same key', () => {
  const [one, other] = [newSecrets(), newSecrets()];
  const words = wordsOf(one.entropy ?? new Uint8Array());
  assert.equal(words.length, 12);
  assert.deepEqual(readPhrase(words.join(' ')), { is: 'phrase', secrets: one });
  assert.notEqual(one.privateKey, other.privateKey);
});
