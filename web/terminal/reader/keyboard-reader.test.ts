import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isByReader } from './keyboard-reader.ts';

interface Run {
  readonly text: string;
  readonly tookMs: number;
}

test('a reader is distinguished from a person by its speed, or by the prefix of a pass', () => {
  const runs: readonly (readonly [Run, boolean])[] = [
    [{ text: '4006381333931', tookMs: 130 }, true],
    [{ text: 'tlqr_0123456789abcdef', tookMs: 1_000 }, true],
    [{ text: 'nfc_2Yv9AbcExample', tookMs: 4_000 }, true],
    [{ text: 'https://pay.example.com/card/card_1?p=0&c=1', tookMs: 9_000 }, true],
    // A fast typist's name, an amount, and a text too short to decide.
    [{ text: 'Christopher Moss', tookMs: 1_900 }, false],
    [{ text: '1000000.00', tookMs: 20 }, false],
    [{ text: 'nfc_cut', tookMs: 20 }, false],
  ];
  for (const [{ text, tookMs }, expected] of runs) {
    for (const typed of [
      { letters: text, places: '' },
      { letters: '', places: text },
    ]) {
      assert.equal(isByReader({ ...typed, tookMs }), expected, text);
    }
  }
});
