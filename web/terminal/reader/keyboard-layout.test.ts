import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newSecret } from '#core/bearer-secrets.ts';
import { newId } from '#core/ids.ts';
import { americanKey } from './american-key.ts';
import { readTyped } from './keyboard-layout.ts';

/**
 * Keys on which other layouts differ from the American one: pairs of the American letter and the
 * other layout's letter.
 */
const LAYOUTS: Readonly<Record<string, readonly [string, string]>> = {
  german: ['yzYZ_-:/?=&', 'zyZY?ßÖ-_´/'],
  italian: ['_-:/?=&', "?'ç-_ì/"],
  french: ['aqwzAQWZm;,._:/?=&0123456789', 'qazwQAZW,mè;:°M!§=1à&é"\'(-è_ç'],
  capsLock: [
    'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ',
    'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
  ],
};

function typedUnder(text: string, [american, theirs]: readonly [string, string]): string {
  return [...text]
    .map((letter) => {
      const at = american.indexOf(letter);
      return at < 0 ? letter : theirs.charAt(at);
    })
    .join('');
}

const PASSES: readonly (readonly [string, string])[] = [
  ['nfc_id', newSecret('pass')],
  ['nfc_id', newSecret('pass', 3)],
  ['qr', newSecret('passCode')],
  ['rotating_code', `${newId('pass', new Date())}.94287082`],
  [
    'nfc_sun',
    `https://pay.example.com/card/${newId('card', new Date())}?p=${'0a'.repeat(16)}&c=${'9F'.repeat(8)}`,
  ],
];

test('a pass is read under every keyboard layout, by characters or by key positions', () => {
  for (const [type, pass] of PASSES) {
    for (const [name, layout] of Object.entries(LAYOUTS)) {
      const garbled = typedUnder(pass, layout);
      assert.notEqual(garbled, pass, name);
      for (const typed of [
        { letters: garbled, places: pass },
        { letters: pass, places: garbled },
        { letters: pass, places: '' },
      ]) {
        const { text, read } = readTyped(typed);
        assert.deepEqual(
          [text, read.is === 'pass' ? read.credential : null],
          [pass, { type, value: pass }],
          name,
        );
      }
    }
  }
});

test('if neither decoding is valid, the message names the layout, and nothing is sent', () => {
  for (const [, pass] of PASSES) {
    for (const [name, layout] of Object.entries(LAYOUTS)) {
      const garbled = typedUnder(pass, layout);
      for (const places of ['', garbled]) {
        const { read } = readTyped({ letters: garbled, places });
        assert.deepEqual(read, { is: 'no_pass', why: 'other_layout' }, `${name}: ${garbled}`);
      }
    }
  }
});

test('a code that is no pass under any layout is reported as such', () => {
  const texts = ['4006381333931', 'ABC-123-456-789-0123', 'https://shop.example.com/menu'];
  for (const text of texts) {
    for (const typed of [
      { letters: text, places: text },
      { letters: text, places: typedUnder(text, LAYOUTS.german ?? ['', '']) },
    ]) {
      assert.deepEqual(readTyped(typed).read, { is: 'no_pass' }, text);
    }
  }
});

test('a receipt and a tag are recognized in an address typed by a reader', () => {
  const receipt = 'https://pay.example.com/receipts/3nF8qTz0LwKc5YbRm1XaVe';
  const letters = typedUnder(receipt, LAYOUTS.german ?? ['', '']);
  assert.equal(readTyped({ letters, places: receipt }).text, receipt);
  const tag = 'https://pay.example.com/t/3nF8qTz0LwKc5YbRm1XaVe';
  const { read } = readTyped({
    letters: typedUnder(tag, LAYOUTS.italian ?? ['', '']),
    places: tag,
  });
  assert.deepEqual(read, { is: 'tag', address: tag });
});

test('keys are read by their positions and Shift, ignoring Caps Lock', () => {
  const keys: readonly (readonly [string, boolean, string])[] = [
    ['KeyY', false, 'y'],
    ['KeyY', true, 'Y'],
    ['Minus', true, '_'],
    ['Digit7', false, '7'],
    ['Digit7', true, '&'],
    ['Numpad7', false, '7'],
    ['Slash', false, '/'],
    ['ShiftLeft', true, ''],
    ['', false, ''],
  ];
  for (const [code, shiftKey, letter] of keys) {
    assert.equal(americanKey({ code, shiftKey }), letter, code);
  }
});
