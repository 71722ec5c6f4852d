import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRefusal } from '#core/answer.ts';
import { readEmail, readName } from '#core/name-rules.ts';

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
