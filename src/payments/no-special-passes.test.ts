import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { TEST_WALLETS } from '#sandbox/demo-wallets.ts';

/**
 * Demo passes are real wallets in the state that their name describes. Code outside the sandbox
 * must not know their names or labels, nor that demo data exists.
 */

const SOURCE = path.join(import.meta.dirname, '..');
/** Folders that may know demo passes: they create demo data or support tests. */
const MAY_KNOW = new Set(['sandbox', 'testing']);
/** Labels of demo passes that are also common words: only their use as a label counts. */
const LABEL =
  /['"`](?:Demo )?(?:ok_2|over_limit|no_approval)\b|Demo (?:ok|confirm|revoked|blocked)/;
const LOOKS_AT_A_LABEL = /pass\w*\.label\s*(?:===|!==|\.startsWith|\.includes)/i;

function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const full = path.join(folder, entry.name);
    if (entry.isDirectory()) return MAY_KNOW.has(entry.name) ? [] : sourceFiles(full);
    return full.endsWith('.ts') && !full.endsWith('.test.ts') ? [full] : [];
  });
}

test('no code of the service knows a demo pass by its name, its label or its wallet', () => {
  const files = sourceFiles(SOURCE);
  assert.ok(files.length > 200, `only ${files.length} files were seen`);
  const special = files.filter((file) => {
    const text = readFileSync(file, 'utf8');
    return LABEL.test(text) || LOOKS_AT_A_LABEL.test(text);
  });
  assert.deepEqual(special, []);
});

test('the names that the search looks for are the names of the demo passes', () => {
  const names = Object.keys(TEST_WALLETS);
  for (const name of ['ok', 'ok_2', 'confirm', 'over_limit', 'no_approval', 'revoked', 'blocked']) {
    assert.ok(names.includes(name), `${name} is not a demo pass any more`);
  }
  assert.match("label === 'ok_2'", LABEL);
  assert.match("pass.label === 'x'", LOOKS_AT_A_LABEL);
});
