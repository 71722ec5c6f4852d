import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRefusal } from '#core/answer.ts';
import { readEmail, readName, scannedText } from '#core/name-rules.ts';

test('names of real people and shops are accepted, in one normal form', () => {
  const names = ['Café Müller', 'Кофейня Пушкин', '寿司 Bar', 'Ελλάδα Shop', "O'Brien & Sons 24/7"];
  for (const name of names) assert.equal(readName(name, 'name'), name.normalize('NFC'));
  assert.equal(readName('  Cafe\u0301   Bar ', 'name'), 'Café Bar');
});

test('a name cannot hide characters, mix look-alike letters or be over-long', () => {
  const bad = [
    'Pаypal', // Cyrillic а
    'Tapliոe', // Armenian ո
    'admin\u202egnp.exe',
    'zero\u200bwidth',
    'soft\u00adhyphen',
    `z${'\u0300'.repeat(9)}`,
    '\u3164',
    '   ',
    'x'.repeat(101),
  ];
  for (const name of bad) assert.ok(isRefusal(readName(name, 'name')), JSON.stringify(name));
});

test('email addresses are ASCII, lower case, and have a domain', () => {
  assert.equal(readEmail(' Ada@Example.COM '), 'ada@example.com');
  for (const email of ['ada', 'ada@localhost', 'аda@example.com', 'a b@example.com', 'a@-x.com']) {
    assert.ok(isRefusal(readEmail(email)), email);
  }
});

test('a scanned text is shown without hidden characters, and cut', () => {
  assert.equal(scannedText('https://x.test/r/\u202eAB-12\u0007\n\u200b'), 'https://x.test/r/AB-12');
  assert.equal(scannedText('TLREQ1ABC'), 'TLREQ1ABC');
  assert.equal(scannedText('x'.repeat(5_000)).length, 1_000);
});
