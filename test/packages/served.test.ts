import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import fastify, { type FastifyInstance } from 'fastify';
import { escapeHtml } from '#core/escape-html.ts';
import { addPackagesRoutes } from '#docs/packages-routes.ts';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';
import { installTool } from '#testkit/fixtures/core/tools.ts';
import { unzip } from '#testkit/fixtures/core/unzip.ts';

/** Tests the packages as a network serves them, in folders without access to this repository. */

const run = promisify(execFile);
const ROOT = path.join(import.meta.dirname, '../..');
let app: FastifyInstance;
let origin: string;
const folder = testFolder();
/** An environment without a registry, a cache and settings of this machine. */
let env: Record<string, string>;

before(async () => {
  app = fastify();
  addPackagesRoutes(app, { publicUrl: null });
  origin = await app.listen({ host: '127.0.0.1', port: 0 });
  env = {
    ...{ PATH: process.env.PATH ?? '', HOME: path.join(folder, 'home') },
    ...{ npm_config_registry: 'http://127.0.0.1:9/', npm_config_fetch_retries: '0' },
    ...{ npm_config_audit: 'false', npm_config_fund: 'false', npm_config_update_notifier: 'false' },
  };
  await mkdir(path.join(folder, 'home'));
  const tool = await installTool('npms', path.join(folder, 'npms'));
  for (const version of NPMS) await linkNpm(version, tool.installed(version));
});

/** The versions of npm that the documented commands work with. */
const NPMS = ['npm-10', 'npm-11', 'npm-12'] as const;
const programsOf = (version: string) => path.join(folder, 'bin', version);

/** Puts this npm, run by this Node, first on the path of `npmEnv`. */
async function linkNpm(version: string, installed: string): Promise<void> {
  const bin = programsOf(version);
  await mkdir(bin, { recursive: true });
  await symlink(process.execPath, path.join(bin, 'node'));
  for (const name of ['npm', 'npx']) {
    const text = `#!/bin/sh\nexec node ${installed}/bin/${name}-cli.js "$@"\n`;
    await writeFile(path.join(bin, name), text, { mode: 0o755 });
  }
}

const npmEnv = (version: string) => ({ ...env, PATH: `${programsOf(version)}:${env.PATH}` });

after(() => app?.close());

const get = (name: string, headers: Record<string, string> = {}) =>
  fetch(`${origin}/packages/${name}`, { headers });

interface Listed {
  readonly name: string;
  readonly version: string;
  readonly file: string;
  readonly stable: string | null;
  readonly bytes: number;
  readonly integrity: string;
}

async function listed(): Promise<readonly Listed[]> {
  return ((await (await get('index.json')).json()) as { packages: Listed[] }).packages;
}

async function emptyFolder(name: string): Promise<string> {
  const place = path.join(folder, name);
  await mkdir(place);
  return place;
}

test('each package has a name with its version, one without, and its checksum', async () => {
  const packages = await listed();
  const names = packages.map(
    ({ name, file }) => `${name} ${file.replace(/\d+\.\d+\.\d+(?:-rc\.\d+)?/, 'N')}`,
  );
  assert.deepEqual(names, [
    'tapline tapline-N.tgz',
    'tapline-cli tapline-cli-N.tgz',
    'tapline-x402 tapline-x402-N.tgz',
    'tapline-reader tapline-reader-N.tgz',
    'tapline-medusa tapline-medusa-N.tgz',
    'tapline tapline-N-py3-none-any.whl',
    'tapline/tapline tapline-php-N.zip',
    'tapline-go tapline-go-N.zip',
    'tapline-postman tapline-postman-N.json',
    'tapline-bruno tapline-bruno-N.zip',
  ]);
  const sums = await (await get('SHA512SUMS')).text();
  for (const { file, stable, bytes, integrity } of packages) {
    const fixed = await get(file);
    const whole = Buffer.from(await fixed.arrayBuffer());
    const sum = createHash('sha512').update(whole).digest();
    assert.equal(integrity, `sha512-${sum.toString('base64')}`, file);
    assert.equal(bytes, whole.length);
    assert.ok(sums.includes(`${sum.toString('hex')}  ${file}\n`), file);
    assert.equal(fixed.headers.get('cache-control'), 'public, max-age=31536000, immutable');
    assert.match(fixed.headers.get('content-type') ?? '', /^application\/(gzip|zip|json)$/);
    if (stable === null) continue;
    const newest = await get(stable);
    assert.deepEqual(Buffer.from(await newest.arrayBuffer()), whole, stable);
    assert.equal(newest.headers.get('cache-control'), 'no-cache');
    const known = { 'if-none-match': newest.headers.get('etag') ?? '' };
    assert.equal((await get(stable, known)).status, 304);
  }
});

test('the bill of materials names the served files, with the same checksums', async () => {
  const program = path.join(ROOT, 'src/ops/sbom-command.ts');
  const { stdout } = await run(process.execPath, [program], { maxBuffer: 64 * 1024 * 1024 });
  const { components } = JSON.parse(stdout) as {
    components: { name: string; hashes?: { alg: string; content: string }[] }[];
  };
  const sums = await (await get('SHA512SUMS')).text();
  const served = sums.trimEnd().split('\n');
  const told = components.flatMap(({ name, hashes }) =>
    (hashes ?? []).flatMap(({ alg, content }) => (alg === 'SHA-512' ? `${content}  ${name}` : [])),
  );
  assert.deepEqual(
    served.filter((line) => !told.includes(line)),
    [],
  );
  assert.ok(
    components.some(({ name }) => name === 'fastify'),
    'what it is built of',
  );
});

test('the bill of materials can be piped to a program that reads its beginning only', async () => {
  const program = path.join(ROOT, 'src/ops/sbom-command.ts');
  const script = '"$0" "$1" | head -c 1';
  const { stdout, stderr } = await run('sh', ['-c', script, process.execPath, program]);
  assert.deepEqual([stdout, stderr], ['{', '']);
});

test('people find the commands; every link of the page leads to a file', async () => {
  const html = await (await get('')).text();
  const download = `curl -O ${origin}/packages/tapline.tgz`;
  assert.ok(html.includes(escapeHtml(`${download} && npm i ./tapline.tgz`)));
  const links = [...html.matchAll(/href="(\/packages\/[^"]+)"/g)].map(([, to = '']) => to);
  assert.equal(links.length, 11);
  for (const to of links) assert.equal((await fetch(origin + to)).status, 200, to);
  const bare = await fetch(`${origin}/packages`, { redirect: 'manual' });
  assert.equal(bare.headers.get('location'), '/packages/');
});

/** Sends the target verbatim, because `fetch` would resolve the dots and set the host. */
async function answerTo(target: string, headers = 'Host: x', at = origin): Promise<string> {
  const socket = connect(Number(new URL(at).port), '127.0.0.1');
  socket.write(`GET ${target} HTTP/1.1\r\n${headers}\r\nConnection: close\r\n\r\n`);
  return text(socket);
}

test('the commands name no host that a stranger chose', async (t) => {
  const foreign = ['Host: evil.example', 'Host: 127.0.0.1\r\nX-Forwarded-Host: evil.example'];
  const proxied = fastify({ trustProxy: true });
  const named = fastify();
  addPackagesRoutes(proxied, { publicUrl: null });
  addPackagesRoutes(named, { publicUrl: 'https://pay.example.com/' });
  t.after(() => Promise.all([proxied.close(), named.close()]));
  for (const server of [proxied, named]) {
    const at = await server.listen({ host: '127.0.0.1', port: 0 });
    for (const headers of foreign) {
      const page = await answerTo('/packages/', headers, at);
      assert.match(page, /^HTTP\/1\.1 200 [\s\S]*curl -O https?:/);
      assert.doesNotMatch(page, /evil/);
      if (server === named) assert.match(page, /curl -O https:\/\/pay\.example\.com\/packages\//);
    }
  }
});

test('no other file on the disk is served, whatever the path', async () => {
  for (const target of [
    '/packages/package.json',
    '/packages/../package.json',
    '/packages/..%2fpackage.json',
    '/packages/%2e%2e/%2e%2e/etc/passwd',
    '/packages//etc/passwd',
    '/packages/sdk/package.json',
    '/packages/tapline-9.9.9.tgz',
    '/packages/__proto__',
  ]) {
    assert.match(await answerTo(target), /^HTTP\/1\.1 404 /, target);
  }
});

for (const version of NPMS) {
  test(`${version} installs client, command and reader without a registry`, async () => {
    const cwd = await emptyFolder(version);
    const own = { cwd, env: npmEnv(version) };
    const names = ['tapline', 'tapline-cli', 'tapline-reader'];
    const html = await (await get('')).text();
    for (const name of names) {
      const command = new RegExp(`<code[^>]*>(curl -O [^<]*/${name}\\.tgz[^<]*)</code>`).exec(html);
      await run('sh', ['-ec', command?.[1]?.replaceAll('&amp;', '&') ?? 'exit 9'], own);
    }
    const result = await run('npx', ['--no-install', 'tapline', '--version'], own);
    assert.match(result.stdout, /^\d+\.\d+\.\d+$/m);
    const help = await run('npx', ['--no-install', 'tapline-reader', '--help'], own);
    assert.match(help.stdout, /--pair XXXX-XXXX/);
    const program = `
      import { Tapline } from 'tapline';
      import { sign, verify } from 'tapline/webhooks';
      const headers = { 'service-signature': await sign('{"id":"evt_1"}', 'whsec_x') };
      console.log((await verify('{"id":"evt_1"}', headers, 'whsec_x')).id, typeof Tapline);`;
    await writeFile(path.join(cwd, 'use.mjs'), program);
    const used = await run(process.execPath, ['use.mjs'], { cwd, env });
    assert.equal(used.stdout, 'evt_1 function\n');
    const manifest = JSON.parse(await readFile(path.join(cwd, 'package.json'), 'utf8'));
    assert.deepEqual(Object.keys(manifest.dependencies).sort(), names);
  });
}

test('doctor compares the installed command with the served one', async () => {
  const cwd = path.join(folder, 'npm-12');
  const key = `tlsk_test_${'a'.repeat(30)}`;
  const known = { ...env, TAPLINE_BASE_URL: `${origin}/api`, TAPLINE_API_KEY: key };
  const packages = async () => {
    const doctor = run('npx', ['--no-install', 'tapline', 'doctor', '--json'], { cwd, env: known });
    // Fails, because there is no API here. Only the finding about packages matters.
    const { stdout } = await doctor.catch((error: { stdout: string }) => error);
    const findings = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    return findings.find(({ check }) => check === 'packages');
  };
  const { ok, detail } = await packages();
  assert.deepEqual(
    [ok, /^tapline-cli \d+\.\d+\.\d+, as served$/.test(detail)],
    [true, true],
    detail,
  );
  const installed = path.join(cwd, 'node_modules/tapline-cli/dist/verify.js');
  await writeFile(installed, `${await readFile(installed, 'utf8')}// changed\n`);
  const changed = await packages();
  assert.equal(changed.ok, false);
  assert.match(changed.detail, /^dist\/verify\.js differs from the network's copy: curl -O http/);
});

test('the client’s command alone says in one line what to install', async () => {
  const cwd = await emptyFolder('alone');
  const own = { cwd, env: npmEnv('npm-12') };
  await run('sh', ['-ec', `curl -O ${origin}/packages/tapline.tgz && npm i ./tapline.tgz`], own);
  const known = { ...env, TAPLINE_BASE_URL: `${origin}/api` };
  let install = '';
  const command = run('npx', ['--no-install', 'tapline', 'listen'], { cwd, env: known });
  await assert.rejects(command, (error: { code: number; stderr: string }) => {
    const [, command = ''] =
      /^The command is the package tapline-cli: (.*)\n$/.exec(error.stderr) ?? [];
    assert.ok(command.startsWith(`curl -O ${origin}/packages/tapline-cli.tgz && npm i `));
    install = command;
    return error.code === 2;
  });
  await run('sh', ['-ec', install], own);
  const { stdout } = await run('npx', ['--no-install', 'tapline', '--version'], { cwd, env });
  assert.match(stdout, /^\d+\.\d+\.\d+$/m);
});

test('pip installs the Python client, without an index', async () => {
  const to = path.join(folder, 'python');
  const { file } = (await listed()).find(({ file }) => file.endsWith('.whl')) as Listed;
  const quiet = ['--quiet', '--no-index', '--disable-pip-version-check', '--target', to];
  const cwd = await emptyFolder('wheel');
  await run('curl', ['-O', `${origin}/packages/${file}`], { cwd, env });
  await run('python3', ['-m', 'pip', 'install', ...quiet, `./${file}`], { cwd, env });
  const program = [
    'import tapline, typing',
    'from tapline import models',
    'typing.get_type_hints(models.PaymentIntent, vars(models))',
    'assert {"id", "amount", "fees"} <= models.Payment.__required_keys__',
    'print(tapline.__version__, tapline.usdc("2.50"))',
  ].join('\n');
  const { stdout } = await run('python3', ['-c', program], { env: { ...env, PYTHONPATH: to } });
  assert.match(stdout, /^\d+\.\d+\.\d+ 2500000$/m);
  // Without `py.typed`, type checkers ignore an installed package's annotations.
  assert.equal(await readFile(path.join(to, 'tapline/py.typed'), 'utf8'), '');
  const [version] = stdout.split(' ');
  const manifest = await readFile(path.join(ROOT, 'python/pyproject.toml'), 'utf8');
  assert.match(manifest, /^version = \{ attr = "tapline.__version__" \}$/m);
  const about = await readFile(path.join(to, `tapline-${version}.dist-info/METADATA`), 'utf8');
  const summary = /^description = "(.*)"$/m.exec(manifest)?.[1];
  assert.ok(about.includes(`Summary: ${summary}\n`), about);
});

/** A strictly typed program that uses the client. */
const TYPED = `
import asyncio
from tapline import AsyncTapline, OutcomeUnknownError, Tapline, usdc, verify

def sell(tapline: Tapline) -> str:
    try:
        intent = tapline.payment_intents.create(amount=usdc("2.50"), terminal="tml_1")
    except OutcomeUnknownError as error:
        intent = error.resolve()
    for payment in tapline.payments.list(status="succeeded"):
        print(payment["id"])
    return str(verify(b"{}", {"webhook-id": "evt_1"}, "whsec_x")["id"] or intent["id"])

async def wait(tapline: AsyncTapline) -> None:
    paid = await tapline.payment_intents.wait_for("pi_1", timeout=2.5)
    async for event in tapline.events.list():
        print(event["id"], paid["status"])
`;

test('a strict type checker accepts the installed Python client', async (t) => {
  const mypy = ['-m', 'mypy', '--strict', '--no-incremental', '--cache-dir', '/dev/null'];
  const isHere = await run('python3', [...mypy, '--version']).catch(() => null);
  if (isHere === null) return t.skip('mypy is not on this machine');
  const cwd = await emptyFolder('typed');
  const known = { env: { ...env, MYPYPATH: path.join(folder, 'python') }, cwd };
  await writeFile(path.join(cwd, 'good.py'), TYPED);
  await run('python3', [...mypy, 'good.py', path.join(folder, 'python/tapline')], known);
  await writeFile(path.join(cwd, 'bad.py'), `${TYPED}\nusdc(2.5)\n`);
  await assert.rejects(run('python3', [...mypy, 'bad.py'], known), {
    stdout: /incompatible type "float"/,
  });
});

/** Returns the files of a served zip archive as texts. */
async function unpacked(name: string): Promise<ReadonlyMap<string, string>> {
  const files = unzip(Buffer.from(await (await get(name)).arrayBuffer()));
  return new Map([...files].map(([file, content]) => [file, content.toString()]));
}

async function writeFiles(cwd: string, files: ReadonlyMap<string, string>): Promise<void> {
  for (const [name, content] of files) {
    await mkdir(path.dirname(path.join(cwd, name)), { recursive: true });
    await writeFile(path.join(cwd, name), content);
  }
}

test('the PHP archive suits Composer: one class per file, where PSR-4 looks', async () => {
  const files = await unpacked('tapline-php.zip');
  const manifest = JSON.parse(files.get('composer.json') ?? '');
  assert.deepEqual(manifest.autoload['psr-4'], { 'Tapline\\': 'src/' });
  for (const file of manifest.autoload.files) assert.ok(files.has(file), file);
  assert.match(files.get('src/Client.php') ?? '', new RegExp(`VERSION = '${manifest.version}'`));
  assert.ok(files.has('autoload.php') && files.has('README.md'));
  const classes = [...files].filter(([name]) => /^src\/[A-Z]/.test(name));
  assert.ok(classes.length >= 6);
  for (const [name, code] of classes) {
    const [, declared, ...more] = /^(?:final )?class (\w+)/m.exec(code) ?? [];
    const inside = name.startsWith('src/Model/') ? 'Model/' : '';
    assert.deepEqual([`src/${inside}${declared}.php`, more], [name, []]);
    const space = inside === '' ? 'Tapline' : 'Tapline\\Model';
    assert.ok(code.includes(`\nnamespace ${space};\n`), name);
  }
  assert.ok(files.get('README.md')?.includes(`tapline-php-${manifest.version}.zip`));
});

/** A shop's first steps, and an error whose class is in another file. */
const SHOP = `
echo Tapline\\usdc('2.50'), ' ', Tapline\\Client::VERSION, ' ';
$fees = ['acquirer' => 1, 'protocol' => 20, 'cashback' => 3, 'of a later version' => 4];
echo Tapline\\Model\\PaymentFees::from($fees)->protocol, ' ';
try { new Tapline\\Client('x'); } catch (Tapline\\TaplineError $error) { echo get_class($error); }`;
const SHOWN = /^2500000 \d+\.\d+\.\d+ 20 Tapline\\UsageError$/;
const runs = (program: string, word = '--version') =>
  run(program, [word], { env }).then(
    () => true,
    () => false,
  );

test('the PHP archive works where it is unpacked', async (t) => {
  if (!(await runs('php'))) return t.skip('php is not on this machine');
  const cwd = await emptyFolder('php');
  await writeFiles(cwd, await unpacked('tapline-php.zip'));
  const { stdout } = await run('php', ['-r', `require 'autoload.php';${SHOP}`], { cwd, env });
  assert.match(stdout, SHOWN);
});

const GO_SHOP = `package main

import (
	"fmt"

	"tapline"
)

func main() {
	atoms, _ := tapline.USDC("2.50")
	_, err := tapline.New(tapline.Options{APIKey: "x"})
	fmt.Printf("%d %s %T", atoms, tapline.Version, err)
}
`;

test('the Go archive works beside a program, as its guide says, without a proxy', async (t) => {
  if (!(await runs('go', 'version'))) return t.skip('go is not on this machine');
  const cwd = await emptyFolder('go');
  const files = await unpacked('tapline-go.zip');
  assert.ok(files.has('README.md') && ![...files.keys()].some((name) => /_test/.test(name)));
  await writeFiles(path.join(cwd, 'tapline-go'), files);
  await writeFile(path.join(cwd, 'main.go'), GO_SHOP);
  const goEnv = {
    ...env,
    GOPROXY: 'off',
    GOTOOLCHAIN: 'local',
    GOCACHE: path.join(folder, 'gocache'),
  };
  const go = (...args: string[]) => run('go', args, { cwd, env: goEnv });
  const guide = files.get('README.md') ?? '';
  const edit = /^go (mod edit .*)$/m.exec(guide)?.[1]?.split(' ') ?? [];
  await go('mod', 'init', 'shop');
  await go(...edit);
  const { stdout } = await go('run', '.');
  assert.match(stdout, /^2500000 \d+\.\d+\.\d+ \*tapline\.UsageError$/);
});

test('Composer installs the PHP client from a folder, as its guide says', async (t) => {
  if (!(await runs('composer'))) return t.skip('composer is not on this machine');
  const cwd = await emptyFolder('composer');
  const { file } = (await listed()).find(({ name }) => name === 'tapline/tapline') as Listed;
  await mkdir(path.join(cwd, 'archives'));
  const bytes = Buffer.from(await (await get(file)).arrayBuffer());
  await writeFile(path.join(cwd, 'archives', file), bytes);
  await writeFile(path.join(cwd, 'composer.json'), '{}');
  const known = { cwd, env: { ...env, COMPOSER_ALLOW_SUPERUSER: '1' } };
  // Disables the registry, because the test must not contact it.
  await run('composer', ['config', 'repo.packagist', 'false'], known);
  const archives = path.join(cwd, 'archives');
  await run('composer', ['config', 'repositories.tapline', 'artifact', archives], known);
  await run('composer', ['require', '--no-interaction', 'tapline/tapline'], known);
  const { stdout } = await run('php', ['-r', `require 'vendor/autoload.php';${SHOP}`], known);
  assert.match(stdout, SHOWN);
});
