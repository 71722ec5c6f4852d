import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

/**
 * Runs the journeys in every screen size and color scheme; `npm test` runs them only in the first
 * one.
 */

const ROOT = path.join(import.meta.dirname, '../..');
/** Lower bound that detects a search for journeys in the wrong place. */
const FEWEST_FILES = 6;

test('every journey in each of its looks', async () => {
  const files = globSync('web/**/*.browser{,.slow}.test.ts', { cwd: ROOT }).filter((file) =>
    readFileSync(path.join(ROOT, file), 'utf8').includes('looksToRun('),
  );
  assert.ok(files.length >= FEWEST_FILES, files.join());
  // Removes NODE_TEST_CONTEXT. With it, the child runner would behave like a file of this run and
  // hide its failures.
  const { NODE_TEST_CONTEXT: _own, ...env } = process.env;
  const child = spawn(process.execPath, ['test/run.ts', ...files], {
    cwd: ROOT,
    env: { ...env, ALL_LOOKS: '1' },
    stdio: 'inherit',
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  assert.equal(code, 0);
});
