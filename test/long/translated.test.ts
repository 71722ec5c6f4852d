import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { glob } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { TRANSLATION_SETTING } from '../../web/testing/translation.ts';

/**
 * Runs the app tests again on pages that the browser translates: it replaces each text node
 * immediately and after each change. Buttons must show the amount that they charge, and no app may
 * crash.
 */
const ROOT = path.join(import.meta.dirname, '../..');
/** Lower bound that detects a search in the wrong place. */
const FEWEST_FILES = 40;

test('every app works, and shows the right amounts, while its pages are translated', async () => {
  const files: string[] = [];
  for await (const file of glob('web/**/*.browser{,.slow}.test.ts', { cwd: ROOT })) {
    if (!file.includes('node_modules')) files.push(file);
  }
  assert.ok(files.length >= FEWEST_FILES, `only ${files.length} files were seen`);
  // Removes NODE_TEST_CONTEXT. With it, the child runner would behave like a file of this run and
  // hide its failures.
  const { NODE_TEST_CONTEXT: _own, ...env } = process.env;
  const child = spawn(process.execPath, ['test/run.ts', ...files.sort()], {
    cwd: ROOT,
    env: { ...env, [TRANSLATION_SETTING]: '1' },
    stdio: 'inherit',
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  assert.equal(code, 0);
});
