import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { ensurePackages } from '#packages/build-packages.ts';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';
import { type Listening, listen } from '#testkit/network/listen.ts';

/** Runs `npx tapline` in an empty folder, with the packages published to this test's registry. */

const run = promisify(execFile);
const ROOT = path.join(import.meta.dirname, '../..');
const FOLDERS = ['sdk', 'cli', 'cli/node_modules/commander'];

const folder = testFolder();
let registry: Listening;

interface Manifest {
  readonly name: string;
  readonly version: string;
}

/** Returns a registry's response for a package with one version. */
function packumentOf(manifest: Manifest): object {
  const { name, version } = manifest;
  const dist = { tarball: `${registry.url}/${name}-${version}.tgz` };
  return { name, 'dist-tags': { latest: version }, versions: { [version]: { ...manifest, dist } } };
}

before(async () => {
  const packed = path.join(folder, 'packed');
  await mkdir(packed);
  const manifests: Manifest[] = [];
  const built = await ensurePackages();
  for (const name of FOLDERS) {
    const cwd = path.join(built, name);
    await run('npm', ['pack', '--ignore-scripts', '--pack-destination', packed], { cwd });
    manifests.push(JSON.parse(await readFile(path.join(cwd, 'package.json'), 'utf8')));
  }
  assert.equal((await readdir(packed)).length, FOLDERS.length);
  const server = createServer(async (request, response) => {
    const asked = decodeURIComponent(request.url?.slice(1) ?? '');
    const manifest = manifests.find(({ name }) => name === asked);
    if (manifest !== undefined) return response.end(JSON.stringify(packumentOf(manifest)));
    const bytes = await readFile(path.join(packed, path.basename(asked))).catch(() => null);
    return response.writeHead(bytes === null ? 404 : 200).end(bytes);
  });
  registry = await listen(server);
});

after(() => registry?.close());

test('npx tapline runs the command line in an empty folder', async () => {
  const cwd = path.join(folder, 'empty');
  await mkdir(cwd);
  const env = {
    ...process.env,
    npm_config_registry: `${registry.url}/`,
    npm_config_cache: path.join(folder, 'cache'),
    npm_config_userconfig: path.join(folder, 'none'),
  };
  const npx = (...args: string[]) => run('npx', ['--yes', 'tapline', ...args], { cwd, env });
  const { version } = JSON.parse(await readFile(path.join(ROOT, 'cli/package.json'), 'utf8'));
  assert.equal((await npx('--version')).stdout.trim(), version);
  assert.match((await npx('--help')).stdout, /Usage: tapline/);
  const wrong = await npx('nonsense').catch((error: { readonly code: number }) => error);
  assert.equal((wrong as { readonly code: number }).code, 2);
  assert.deepEqual(await readdir(cwd), [], 'nothing is left there');
});
