import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeWindows1252 } from '#core/windows-1252.ts';

test('letters that the code page lacks become a base letter or a question mark', () => {
  const bytes = encodeWindows1252('Café Müller €5 – Ščepán 寿司 👍 ＂１ﬁ');
  const text = new TextDecoder('windows-1252').decode(bytes);
  assert.equal(text, 'Café Müller €5 – Šcepán ?? ? ?1f');
});
