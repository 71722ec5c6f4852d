import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';
import { startReceiver, type TestReceiver } from '#testkit/network/webhook-receiver.ts';

/** Publishes packages from their tags to a registry that records what it receives. */

const ROOT = path.join(import.meta.dirname, '../..');
const PLACE = 'https://forge.example/shops/tapline';
const FOLDERS = ['sdk', 'cli', 'x402', 'reader', 'integrations/medusa'];

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly repository?: object;
  readonly scripts?: object;
}

interface Published {
  readonly versions: Readonly<Record<string, Manifest>>;
  readonly _attachments: Readonly<Record<string, { readonly data: string }>>;
}

let registry: TestReceiver;
let address: string;
const home = testFolder();
const published: Published[] = [];

before(async () => {
  registry = await startReceiver();
  registry.answer(({ method, body }, response) => {
    if (method === 'PUT') published.push(JSON.parse(body.toString()) as Published);
    response.writeHead(method === 'PUT' ? 201 : 404, { 'Content-Type': 'application/json' });
    response.end('{}');
  });
  address = `127.0.0.1:${registry.port}`;
});

after(() => registry?.close());

async function run(
  args: readonly [string, ...string[]],
  { cwd = ROOT, ...env }: { readonly cwd?: string; readonly REPOSITORY_URL?: string } = {},
) {
  const [program, ...rest] = args;
  const flags = [`--registry=http://${address}/`, `--//${address}/:_authToken=none`];
  // Provenance attestations need a build service's identity, which is missing here.
  const child = spawn(program, [...rest, ...flags, '--no-provenance'], {
    cwd,
    env: {
      ...{ PATH: process.env.PATH ?? '', HOME: home, TMPDIR: home },
      ...{ npm_config_update_notifier: 'false', ...env },
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close') as Promise<[code: number | null]>;
  const words = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: (await ended)[0], said: words.join('\n') };
}

const PROGRAM = path.join(ROOT, '.ci/publish-package.mjs');
const byTag = (tag: string, env = {}) => run([process.execPath, PROGRAM, tag], env);

async function manifestOf(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(path.join(ROOT, folder, 'package.json'), 'utf8'));
}

/** True if the version's changelog section is closed, as a release requires. */
async function isClosed(folder: string, version: string): Promise<boolean> {
  const changes = await readFile(path.join(ROOT, folder, 'CHANGELOG.md'), 'utf8').catch(() => null);
  return changes === null || changes.includes(`\n## ${version}\n`);
}

for (const folder of FOLDERS) {
  test(`${folder}: its tag publishes it with the repository that it comes from`, async () => {
    const { name, version, repository: committed } = await manifestOf(folder);
    assert.equal(committed, undefined, 'a fork would publish it with a wrong one');
    published.length = 0;
    const { code, said } = await byTag(`${name}-v${version}`, { REPOSITORY_URL: PLACE });
    if (!(await isClosed(folder, version))) {
      assert.deepEqual([code, published.length], [2, 0]);
      assert.match(said, /CHANGELOG\.md has no heading/);
      return;
    }
    assert.equal(code, 0, said);
    assert.equal(published.length, 1);
    const sent = published[0]?.versions[version];
    const repository = { type: 'git', url: `git+${PLACE}.git`, directory: folder };
    assert.deepEqual(sent?.repository, repository);
    assert.equal(sent?.name, name);
    const [archive] = Object.values(published[0]?._attachments ?? {});
    const files = gunzipSync(Buffer.from(archive?.data ?? '', 'base64')).toString('latin1');
    assert.ok(files.includes(`"url": "git+${PLACE}.git"`), 'in the archive, too');
    assert.ok(files.includes('package/README.md') && files.includes('package/LICENSE'));
    assert.ok(!files.includes('package/src/'));
  });
}

test('nothing is published without a repository, by a wrong tag, or by hand', async () => {
  const { version } = await manifestOf('sdk');
  published.length = 0;
  for (const [tag, position, reason] of [
    [`tapline-v${version}`, undefined, /^Nothing says where the repository is/m],
    [`tapline-v${version}`, 'http://forge.example/shops/tapline', /^Nothing says where/m],
    ['tapline-v9.9.9', PLACE, /has version \d+\.\d+\.\d+, not 9\.9\.9/],
    [`v${version}`, PLACE, /is no tag of a package/],
    [`left-pad-v${version}`, PLACE, /is no tag of a package/],
  ] as const) {
    const { code, said } = await byTag(
      tag,
      position === undefined ? {} : { REPOSITORY_URL: position },
    );
    assert.equal(code, 2, tag);
    assert.match(said, reason);
  }
  for (const folder of FOLDERS) {
    const { code, said } = await run(['npm', 'publish'], { cwd: path.join(ROOT, folder) });
    assert.notEqual(code, 0, folder);
    assert.match(said, /Published by its tag alone/);
  }
  assert.deepEqual(published, []);
  const left = (await readdir(home)).filter((name) => name.startsWith('tapline-'));
  assert.deepEqual(left, []);
});
