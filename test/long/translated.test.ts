import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { glob } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { TRANSLATION_SETTING } from '../../web/testing/translation.ts';

/**
 * The tests of the apps once more, on pages that the browser translates: each text node is replaced
 * at once, and again whenever it changes. Buttons have to show the sum that they charge, and no app
 * may end.
 */
const ROOT = path.join(import.meta.dirname, '../..');
/** Fewer would mean that the search looks in the wrong place. */
const FEWEST_FILES = 40;

test('every app goes on, and shows the right sums, while its pages are translated', async () => {
  const files: string[] = [];
  for await (const file of glob('web/**/*.browser.test.ts', { cwd: ROOT })) {
    if (!file.includes('node_modules')) files.push(file);
  }
  assert.ok(files.length >= FEWEST_FILES, `only ${files.length} files were seen`);
  // Or the runner takes it for a file of its own run, and says nothing of its failures.
  const { NODE_TEST_CONTEXT: _own, ...env } = process.env;
  const child = spawn(process.execPath, ['test/run.ts', ...files.sort()], {
    cwd: ROOT,
    env: { ...env, [TRANSLATION_SETTING]: '1' },
    stdio: 'inherit',
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  assert.equal(code, 0);
});
