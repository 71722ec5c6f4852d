import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';

const run = promisify(execFile);
const PREPARE = 'src/app/prepare-node.mjs';
/** Debian's `nobody`, which may not write the program's folder. */
const NOBODY = 65_534;
const folder = testFolder();
await chmod(folder, 0o755);

/** Creates a program that loads a TypeScript file. */
async function createProgram(name: string): Promise<string> {
  const root = path.join(folder, name);
  await cp(path.join(import.meta.dirname, 'prepare-node.mjs'), path.join(root, PREPARE));
  await cp(path.join(import.meta.dirname, '../core/assert.ts'), path.join(root, 'assert.ts'));
  await mkdir(path.join(root, 'node_modules'));
  return root;
}

async function start(root: string, as: { readonly uid?: number } = {}): Promise<string> {
  // Without the variables of the test run, which choose another cache.
  const options = { cwd: root, env: { TMPDIR: folder }, ...as };
  const program = ['--import', `./${PREPARE}`, '-e', "await import('./assert.ts')"];
  const { stdout, stderr } = await run(process.execPath, program, options);
  return stdout + stderr;
}

test('a start keeps what Node compiled, in the program’s own folder', async () => {
  const root = await createProgram('writable');
  assert.equal(await start(root), '');
  const kept = await readdir(path.join(root, 'node_modules/.cache/compiled'), { recursive: true });
  assert.ok(kept.length > 1, `${kept}`);
});

test('a start in a folder that cannot be written keeps nothing, anywhere', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('only root can become another user');
  const root = await createProgram('read-only');
  assert.equal(await start(root, { uid: NOBODY }), '');
  assert.deepEqual(await readdir(path.join(root, 'node_modules')), []);
  assert.deepEqual((await readdir(folder)).sort(), ['read-only', 'writable']);
});
