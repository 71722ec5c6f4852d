import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRefusal } from '#core/answer.ts';
import { checkDirections, readName } from '#core/name-rules.ts';

/** The flaw: a name with bidirectional control characters changes how the text around it reads. */

const TURNS = [...'\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069'];

test('names of accounts, people and terminals allow no direction controls', () => {
  for (const turn of TURNS) {
    for (const name of [`Shop${turn}`, `${turn}Shop`, `a${turn}b`, `قهوة${turn}`]) {
      assert.ok(isRefusal(readName(name, 'name')), JSON.stringify(name));
    }
  }
});

test('labels of passes allow any text without direction controls', () => {
  for (const turn of TURNS) assert.ok(isRefusal(checkDirections(`Phone${turn}`, 'label')));
  for (const label of ['', 'Phone', 'Häändy', 'هاتف', '👨‍👩‍👧', '-_-']) {
    assert.equal(checkDirections(label, 'label'), null);
  }
});

test('right-to-left scripts, emoji and joined scripts are kept unchanged', () => {
  const names = [
    'קפה אילנית',
    'قهوة الصباح',
    'می\u200cخواهم',
    'क्\u200dष कैफ़े',
    'Family 👨‍👩‍👧 Shop',
    '👩🏽‍🍳 Kitchen',
    '❤️‍🔥 Grill',
  ];
  for (const name of names) assert.equal(readName(name, 'name'), name.normalize('NFC'));
});

test('a joiner that joins nothing is refused', () => {
  for (const name of ['Pay\u200dpal', 'Shop\u200c', '\u200dShop', 'Кафе\u200dбар', 'a \u200d b']) {
    assert.ok(isRefusal(readName(name, 'name')), JSON.stringify(name));
  }
});
