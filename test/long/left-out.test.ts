import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';

/** The files that `npm test` leaves to the long run (`*.slow.test.ts`), in its environment. */

const ROOT = path.join(import.meta.dirname, '../..');

test('files that npm test leaves out', async (t) => {
  // Removes NODE_TEST_CONTEXT. With it, the child runner would behave like a file of this run and
  // hide its failures.
  const { NODE_TEST_CONTEXT: _own, ...env } = process.env;
  const child = spawn(process.execPath, ['test/run.ts', '--slow'], {
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
  t.diagnostic(`${cases} cases`);
  assert.equal(code, 0);
});
