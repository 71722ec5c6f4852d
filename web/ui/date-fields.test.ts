import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';

/**
 * WebKit writes today's date into an empty date field. `TextField` marks empty fields, and `ui.css`
 * hides the text of marked ones. `test/long/engines.test.ts` checks this in WebKit itself.
 */
const WEB = path.join(import.meta.dirname, '..');
/** Minimum number of date fields, so that the search cannot silently miss them. */
const FEWEST_FIELDS = 6;

const read = (name: string) => readFileSync(path.join(WEB, name), 'utf8');

test('every date field is marked while it is empty', async () => {
  let fields = 0;
  for await (const name of glob('**/*.tsx', { cwd: WEB })) {
    for (const [, element = ''] of read(name).matchAll(/<(\w+)\s[^<>]*?type="date"/g)) {
      fields++;
      assert.match(element, /^(TextField|FilterText)$/, name);
    }
  }
  assert.ok(fields >= FEWEST_FIELDS, `only ${fields} fields were seen`);
  assert.match(read('desk/filters.tsx'), /<TextField\n(?:\s+\w+=\S+\n)*?\s+type=\{type\}/);
  assert.match(read('ui/field.tsx'), /data-empty=\{rest\.type === 'date' && rest\.value === ''/);
});

test('text that WebKit writes into an empty date field is hidden', () => {
  const [, rule = ''] =
    /@supports \(background: -webkit-named-image\(i\)\) \{([^}]*)\}/.exec(read('ui/ui.css')) ?? [];
  assert.match(rule, /^\s+\.input\[data-empty\][^{]*::-webkit-datetime-edit \{\s+opacity: 0;/);
});
