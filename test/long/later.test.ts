import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { LATER } from '../later.ts';

/** The files that `npm test` leaves to the long run, in the same environment. */

const ROOT = path.join(import.meta.dirname, '../..');

test('files that npm test leaves out', async (t) => {
  // Removes NODE_TEST_CONTEXT. With it, the child runner would behave like a file of this run and
  // hide its failures.
  const { NODE_TEST_CONTEXT: _own, ...env } = process.env;
  const child = spawn(process.execPath, ['test/run.ts', '--later'], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
    process.stdout.write(chunk);
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  const [, cases = '0'] = /^ℹ pass (\d+)$/m.exec(out) ?? [];
  t.diagnostic(`${cases} cases of ${Object.keys(LATER).length} files`);
  assert.equal(code, 0);
});
