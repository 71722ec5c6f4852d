import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  listed,
  readSources,
  recordSources,
  type Sources,
  staleTexts,
} from '#i18n/translation-status.ts';

/** As if every translation had just been written. */
const current = recordSources({}, () => false);
const KEY = 'pay.button';
const OLD = '00000000';

test('a translation is stale from a change of its English line until it is written again', () => {
  assert.deepEqual(staleTexts(current), []);
  const changed: Sources = { ...current, [KEY]: OLD };
  assert.deepEqual(
    listed(staleTexts(changed)),
    ['de', 'fr', 'es', 'pt', 'ja', 'ar'].map((language) => `${language} (1): ${KEY}`),
  );
  const german = recordSources(changed, ({ language, key }) => language === 'de' && key === KEY);
  const stale = staleTexts(german).map(({ language }) => language);
  assert.deepEqual(stale, ['fr', 'es', 'pt', 'ja', 'ar']);
  assert.deepEqual(
    recordSources(german, ({ key }) => key === KEY),
    current,
  );
});

test('a translation without a recorded source is stale, and is recorded as a new one', () => {
  const { [KEY]: _, ...others } = current;
  assert.equal(staleTexts(others).length, 6);
  assert.deepEqual(
    recordSources(others, () => false),
    current,
  );
});

test('the source of a text that is gone is dropped', () => {
  assert.deepEqual(
    recordSources({ ...current, 'pay.gone': OLD }, () => false),
    current,
  );
});

test('each recorded source is that of a line of English', () => {
  const recorded = Object.entries(readSources());
  assert.ok(recorded.length > 2_000, `only ${recorded.length} sources were seen`);
  for (const [key, source] of recorded) {
    const hashes = typeof source === 'string' ? [source] : Object.values(source);
    assert.ok(
      hashes.every((hash) => /^[0-9a-f]{8}$/.test(hash)),
      key,
    );
  }
});
