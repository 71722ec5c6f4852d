import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { openForTests } from '../../testkit/fixtures/core/open-for-tests.ts';
import { testFolder } from '../../testkit/fixtures/core/test-folder.ts';
import { startReceiver } from '../../testkit/network/webhook-receiver.ts';
import { type Env, IN_CLONE, runCli } from './run-cli.ts';

/** A well-formed key is enough, because nothing here verifies it. */
const KEY = 'tlsk_test_0000000000000000000000000000000000000';
const LIVE_KEY = 'tlsk_live_0000000000000000000000000000000000000';

const folder = testFolder();
let address = '';
/** Headers and bodies that the stranger's server received. */
const heard: string[] = [];

const server = openForTests(startReceiver, async () => {
  server.answer(({ headers, body }, response) => {
    heard.push(`${JSON.stringify(headers)} ${body}`);
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"data":[]}');
  });
  address = `${server.url}/api`;
});

async function run(args: readonly string[], { cwd, env = {} }: { cwd: string; env?: Env }) {
  const { code, stdout, stderr } = await runCli(args, env, { cwd, program: IN_CLONE });
  return { code, text: `${stdout}${stderr}` };
}

/**
 * Creates a folder with a sandbox.json, as a third party's repository may contain.
 * @returns a subfolder
 */
async function folderWith(baseUrl: string, mode = 0o600): Promise<string> {
  const target = await mkdtemp(path.join(folder, 'clone-'));
  await mkdir(path.join(target, '.tapline'));
  await mkdir(path.join(target, 'packages/shop'), { recursive: true });
  const file = path.join(target, '.tapline/sandbox.json');
  const data = {
    base_url: baseUrl,
    account: 'acct_1',
    dashboard: { email: 'owner@demo.test', password: 'sandbox password' },
    test: { secret_key: KEY.replace('0', '1'), terminal: 'tml_1', passes: {} },
    live: { secret_key: LIVE_KEY.replace('0', '1'), terminal: 'tml_2', passes: {} },
  };
  await writeFile(file, JSON.stringify(data));
  await chmod(file, mode);
  return path.join(target, 'packages/shop');
}

test('a key from the environment or an option never goes to a folder’s URL', async () => {
  const cwd = await folderWith(address);
  const ways: readonly (readonly [readonly string[], Env])[] = [
    [['get', 'balance'], { TAPLINE_API_KEY: KEY }],
    [
      ['get', 'balance'],
      { TAPLINE_API_KEY: KEY, TAPLINE_DATA_DIR: path.join(cwd, '../../.tapline') },
    ],
    [['--api-key', KEY, 'get', 'balance'], {}],
  ];
  for (const [args, env] of ways) {
    const { code, text } = await run(args, { cwd, env });
    assert.equal(code, 2, text);
    assert.match(text, /--base-url/);
  }
  const person = { TAPLINE_EMAIL: 'me@shop.test', TAPLINE_PASSWORD: 'my own password' };
  await run(['logs'], { cwd, env: person });
  assert.ok(!heard.some((one) => one.includes(KEY)), 'the key was sent');
  assert.ok(!heard.some((one) => one.includes('my own password')), 'the password was sent');
});

test('a sandbox is on this machine, and its file belongs to the user', async () => {
  const elsewhere = await run(['get', 'balance'], {
    cwd: await folderWith('http://sandbox.example/api'),
  });
  assert.equal(elsewhere.code, 2, elsewhere.text);
  assert.match(elsewhere.text, /on this machine/);
  const before = heard.length;
  const open = await run(['get', 'balance'], { cwd: await folderWith(address, 0o666) });
  assert.equal(open.code, 2, open.text);
  assert.match(open.text, /other users can write/i);
  const cwd = await folderWith(address);
  const away = await run(['--base-url', 'https://else.example/api', 'get', 'balance'], { cwd });
  assert.equal(away.code, 2, away.text);
  assert.equal(heard.length, before);
  const own = await run(['get', 'balance'], { cwd });
  assert.equal(own.code, 0, own.text);
  assert.equal(heard.length, before + 1);
});

test('a live key is sent over https only, or to this machine', async () => {
  const cwd = folder;
  const plain = await run(
    ['--live', '--api-key', LIVE_KEY, '--base-url', 'http://pay.example/api', 'events'],
    {
      cwd,
    },
  );
  assert.equal(plain.code, 2, plain.text);
  assert.match(plain.text, /https/);
  const given = ['--api-key', LIVE_KEY, '--base-url', address, 'get', 'balance'];
  const unasked = await run(given, { cwd });
  assert.deepEqual([unasked.code, /Pass --live/.test(unasked.text)], [2, true]);
  const here = await run(['--live', ...given], { cwd });
  assert.equal(here.code, 0, here.text);
});

test('no program in the folder is run', async () => {
  const clone = await mkdtemp(path.join(folder, 'false-clone-'));
  const ran = path.join(clone, 'ran');
  await mkdir(path.join(clone, 'src/ops'), { recursive: true });
  await writeFile(path.join(clone, 'package.json'), '{"name":"tapline-network","type":"module"}');
  const program = `(await import('node:fs')).writeFileSync(${JSON.stringify(ran)}, '');`;
  await writeFile(path.join(clone, 'src/ops/settings-command.ts'), program);
  const settings = path.join(clone, 'settings');
  for (const args of [
    ['doctor', '--settings', settings],
    ['init', '--folder', settings],
  ]) {
    await run(args, { cwd: clone });
    await assert.rejects(stat(ran), args[0]);
  }
});

test('login.json is readable by this user alone, whatever its earlier mode', async () => {
  const config = await mkdtemp(path.join(folder, 'config-'));
  const file = path.join(config, 'tapline/login.json');
  await mkdir(path.dirname(file));
  await writeFile(file, '{}', { mode: 0o644 });
  await chmod(file, 0o644);
  const env = { XDG_CONFIG_HOME: config, TAPLINE_BASE_URL: address };
  const made = await run(['login', '--api-key', KEY], { cwd: folder, env });
  assert.equal(made.code, 0, made.text);
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  assert.equal(JSON.parse(await readFile(file, 'utf8')).api_key, KEY);
  await chmod(file, 0o644);
  await run(['get', 'balance'], { cwd: folder, env: { XDG_CONFIG_HOME: config } });
  assert.equal((await stat(file)).mode & 0o777, 0o600, 'closed when it is read');
});

test('another user’s file is not read', { skip: process.getuid?.() !== 0 }, async () => {
  const cwd = await folderWith(address);
  const file = path.join(cwd, '../../.tapline/sandbox.json');
  spawnSync('chown', ['12345', file]);
  const before = heard.length;
  const { code, text } = await run(['get', 'balance'], { cwd });
  assert.equal(code, 2, text);
  assert.match(text, /another user/);
  assert.equal(heard.length, before);
});
