import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  appendFile,
  chown,
  cp,
  lstat,
  mkdir,
  readdir,
  readFile,
  realpath,
  symlink,
  utimes,
} from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { PACKAGES } from '#packages/build-packages.ts';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';
import { childrenSeconds } from '../times.ts';

/** The first program that needs the packages builds them, wherever the repository is. */

const run = promisify(execFile);
const ROOT = path.join(import.meta.dirname, '../..');
const COMMAND = 'src/packages/build-command.ts';
const CACHE = 'node_modules/.cache/tapline-packages';
/** Debian's `nobody`, which owns no file of the program, like the user of a systemd unit. */
const NOBODY = 65_534;
/** CPU seconds for all packages. */
const MOST_SECONDS = 3;

const folder = testFolder();
await chown(folder, NOBODY, NOBODY).catch(() => {});

interface Lock {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly link?: boolean }>>;
}

/** Clones the files needed to build packages, besides what `npm ci --omit=dev` installs. */
async function productionClone(name: string): Promise<string> {
  const to = path.join(folder, name);
  const isSource = (file: string) => !/\/(dist|node_modules)$/.test(file);
  for (const one of ['src/packages', 'src/files', 'src/core', ...PACKAGES]) {
    await cp(path.join(ROOT, one), path.join(to, one), { recursive: true, filter: isSource });
  }
  const lock = await readFile(path.join(ROOT, 'package-lock.json'), 'utf8');
  for (const file of ['package.json', 'package-lock.json']) {
    await cp(path.join(ROOT, file), path.join(to, file));
  }
  for (const [place, { dev, link }] of Object.entries((JSON.parse(lock) as Lock).packages)) {
    if (dev === true || !/^(\w+\/)?node_modules\/[^/]+(\/[^/]+)?$/.test(place)) continue;
    const from = link === true ? to : ROOT;
    const target = link === true ? place.replace(/^node_modules\/tapline-?/, '') : place;
    if (link === true && target === '') continue;
    await mkdir(path.dirname(path.join(to, place)), { recursive: true });
    await symlink(path.join(from, target), path.join(to, place));
  }
  await symlink('../sdk', path.join(to, 'node_modules/tapline'));
  return to;
}

const at = (clone: string, file: string, ...args: string[]) =>
  run(process.execPath, [path.join(clone, file), ...args]);

/** Returns names and contents. Links to installed packages are not part of a package. */
async function contentOf(place: string): Promise<Map<string, string>> {
  const entries = await readdir(place, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort();
  const texts = files.map(async (file) => {
    return [path.relative(place, file), await readFile(file, 'latin1')] as const;
  });
  return new Map(await Promise.all(texts));
}

test('one source builds the same bytes anywhere, in at most 3 s of processor time', async (t) => {
  const clone = await productionClone('reproduced');
  const before = childrenSeconds();
  await at(ROOT, COMMAND, '--out', path.join(folder, 'first'));
  const seconds = childrenSeconds() - before;
  t.diagnostic(`${seconds.toFixed(2)} s of a core`);
  assert.ok(seconds <= MOST_SECONDS, `${seconds} s`);
  await at(clone, COMMAND, '--out', path.join(folder, 'second'));
  const first = await contentOf(path.join(folder, 'first'));
  const second = await contentOf(path.join(folder, 'second'));
  assert.ok(first.size > 100 && first.has('sdk/dist/webhooks.d.ts'));
  assert.deepEqual(first, second);
});

test('a production install builds at its first command; parallel ones keep one build', async () => {
  const clone = await productionClone('installed');
  const version = () => at(clone, 'cli/bin/tapline.js', '--version');
  const starts = await Promise.all([version(), version(), version()]);
  for (const { stdout } of starts) assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
  const [hash = '', ...others] = await readdir(path.join(clone, CACHE));
  assert.deepEqual(others, []);
  // Programs in the repository import the packages by name.
  const program = "console.log(typeof (await import('tapline')).Tapline)";
  const used = await run(process.execPath, ['--input-type=module', '-e', program], { cwd: clone });
  assert.equal(used.stdout, 'function\n');
  const linked = await realpath(path.join(clone, 'sdk/dist'));
  assert.equal(linked, path.join(await realpath(clone), CACHE, hash, 'sdk/dist'));
});

test('a changed source is built again by the next start', async () => {
  const clone = path.join(folder, 'installed');
  await appendFile(path.join(clone, 'sdk/src/index.ts'), 'export const changed: boolean = true;\n');
  await at(clone, 'x402/bin/tapline-x402.js').catch(() => {});
  assert.match(await readFile(path.join(clone, 'sdk/dist/index.js'), 'utf8'), /changed = true/);
  // Another copy of the tree may use the earlier build; after a day without a start it is deleted.
  const cache = path.join(clone, CACHE);
  const newest = path.dirname(path.dirname(await realpath(path.join(clone, 'sdk/dist'))));
  const earlier = (await readdir(cache)).filter((name) => name !== path.basename(newest));
  assert.equal(earlier.length, 1);
  const past = new Date(Date.now() - 2 * 86_400_000);
  for (const name of earlier) await utimes(path.join(cache, name), past, past);
  await appendFile(path.join(clone, 'sdk/src/index.ts'), '// Once more.\n');
  await at(clone, 'x402/bin/tapline-x402.js').catch(() => {});
  const left = await readdir(cache);
  assert.deepEqual([left.length, left.filter((name) => earlier.includes(name))], [2, []]);
});

test('if nothing can be written, the user’s own folder gets the build', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('only root can become another user');
  const clone = await productionClone('read-only');
  const options = { uid: NOBODY, gid: NOBODY, env: { TMPDIR: folder } };
  const command = path.join(clone, 'cli/bin/tapline.js');
  const { stdout } = await run(process.execPath, [command, '--version'], options);
  assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
  const [hash = ''] = await readdir(path.join(folder, `tapline-packages-${NOBODY}`));
  assert.match(hash, /^[0-9a-f]{16}$/);
  await assert.rejects(lstat(path.join(clone, 'sdk/dist')));
  await assert.rejects(lstat(path.join(clone, CACHE)));
});

test('a Node without TypeScript runs the build, or says how to build', async () => {
  const clone = await productionClone('old-node');
  const version = () =>
    run(process.execPath, [
      '--no-strip-types',
      path.join(clone, 'cli/bin/tapline.js'),
      '--version',
    ]);
  await assert.rejects(version(), (error: { code: number; stderr: string }) => {
    assert.match(error.stderr, /^cli\/dist is not built, and Node .* npm run build/);
    return error.code === 2;
  });
  await at(clone, COMMAND);
  assert.match((await version()).stdout, /^\d+\.\d+\.\d+\n$/);
});
