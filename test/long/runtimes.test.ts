import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ensurePackages } from '#packages/build-packages.ts';
import { freePort } from '#sandbox/find-and-stop-processes.ts';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';
import { installTool, type Tool } from '#testkit/fixtures/core/tools.ts';
import { type OwnNetwork, startOwnNetwork } from '#testkit/network/spawn-network.ts';

/**
 * The client makes a whole sale in runtimes other than Node, which are installed in a separate
 * folder.
 */

const run = promisify(execFile);
const ROOT = path.join(import.meta.dirname, '../..');
const JOURNEY = path.join(ROOT, 'sdk/test/run-journey.mjs');
const SALE = {
  intent: 'succeeded',
  onePayment: true,
  refund: 'succeeded',
  refusal: 'payment_already_refunded',
  event: 'payment.succeeded',
};
const START_MS = 20_000;

const folder = testFolder();
let tool: Tool;
let network: OwnNetwork;
let sale: { readonly baseUrl: string; readonly apiKey: string; readonly terminal: string };

before(async () => {
  tool = await installTool('runtimes', folder);
  network = await startOwnNetwork();
  const { base_url: baseUrl, test: mode } = network.sandbox;
  sale = { baseUrl, apiKey: mode.secret_key, terminal: mode.terminal };
});

after(() => network?.close());

const program = (name: string) => tool.installed(name);

const COMMANDS: readonly (readonly [string, string, readonly string[]])[] = [
  ['Bun', '@oven/bun-linux-x64/bin/bun', ['run']],
  ['Deno', '@deno/linux-x64-glibc/deno', ['run', '--no-config', '--allow-net', '--allow-read']],
];
for (const [name, binary, flags] of COMMANDS) {
  test(`a whole sale works in ${name}`, async (t) => {
    const { baseUrl, apiKey, terminal } = sale;
    const { stdout: version } = await run(program(binary), ['--version']);
    t.diagnostic(`${name} ${version.split('\n')[0]}`);
    const args = [...flags, JOURNEY, baseUrl, apiKey, terminal];
    const { stdout } = await run(program(binary), args, { cwd: folder });
    assert.deepEqual(JSON.parse(stdout), SALE);
  });
}

const WORKER = `
import * as sdk from './sdk/index.js';
import * as webhooks from './sdk/webhooks.js';
import { journey } from './journey.mjs';
export default {
  fetch: async (request) => Response.json(await journey(sdk, webhooks, await request.json())),
};`;

/** Writes workerd's configuration, which lists modules by name. */
async function configure(): Promise<string> {
  const dist = path.join(await ensurePackages(), 'sdk/dist');
  const files = (await readdir(dist)).filter((name) => name.endsWith('.js'));
  await writeFile(path.join(folder, 'worker.mjs'), WORKER);
  await cp(path.join(ROOT, 'sdk/test/journey.mjs'), path.join(folder, 'journey.mjs'));
  await cp(dist, path.join(folder, 'sdk'), { recursive: true });
  const names = ['worker.mjs', 'journey.mjs', ...files.map((file) => `sdk/${file}`)];
  const modules = names.map((name) => `(name = "${name}", esModule = embed "${name}")`);
  const config = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (modules = [${modules.join(', ')}], compatibilityDate = "2026-01-01")),
    (name = "internet", network = (allow = ["public", "private", "local"])),
  ],
  sockets = [(name = "http", http = (), service = "main")],
);`;
  const file = path.join(folder, 'config.capnp');
  await writeFile(file, config);
  return file;
}

test('a whole sale works in workerd', async (t) => {
  const binary = program('@cloudflare/workerd-linux-64/bin/workerd');
  const { stdout: version } = await run(binary, ['--version']);
  t.diagnostic(version.trim());
  const port = await freePort();
  const args = ['serve', await configure(), '--socket-addr', `http=127.0.0.1:${port}`];
  const child = spawn(binary, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const ask = () =>
    fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: JSON.stringify(sale) });
  try {
    const until = Date.now() + START_MS;
    let answer: Response | null = null;
    while (answer === null) {
      answer = await ask().catch(() => null);
      assert.ok(answer !== null || Date.now() < until, 'workerd does not answer');
      if (answer === null) await sleep(100);
    }
    assert.deepEqual(await answer.json(), SALE);
  } finally {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
});
