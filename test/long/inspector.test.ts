import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';
import { installTool, type Tool } from '#testkit/fixtures/core/tools.ts';
import { type OwnNetwork, startOwnNetwork } from '#testkit/network/spawn-network.ts';

/** Lists and calls the tools of `tapline mcp` with the official inspector, over both transports. */

const run = promisify(execFile);
const PROGRAM = path.join(import.meta.dirname, '../../cli/bin/tapline.js');
const TOKEN = 'a-token-of-this-test';

const folder = testFolder();
let tool: Tool;
let network: OwnNetwork;

before(async () => {
  tool = await installTool('inspector', folder);
  network = await startOwnNetwork();
});

after(() => network?.close());

const environment = () => ({
  PATH: process.env.PATH ?? '',
  HOME: folder,
  TAPLINE_DATA_DIR: network.dataDir,
  TAPLINE_MCP_TOKEN: TOKEN,
});

async function inspect(...args: readonly string[]): Promise<{ readonly [field: string]: unknown }> {
  const inspector = tool.installed('.bin/mcp-inspector');
  const { stdout } = await run(inspector, ['--cli', ...args], { cwd: folder, env: environment() });
  return JSON.parse(stdout);
}

async function checkServer(...target: readonly string[]): Promise<void> {
  const { tools } = await inspect(...target, '--method', 'tools/list');
  const listed = tools as { readonly name: string; readonly outputSchema?: object }[];
  assert.ok(listed.length >= 12);
  assert.ok(listed.every(({ outputSchema }) => outputSchema !== undefined));
  const call = ['--method', 'tools/call', '--tool-name', 'list_terminals'];
  const { structuredContent } = await inspect(...target, ...call);
  const { terminals } = structuredContent as { terminals: { id: string }[] };
  assert.ok(terminals.some(({ id }) => id === network.sandbox.test.terminal));
}

test('the inspector finds and calls the tools over standard input and output', async () => {
  const settings = ['-e', `TAPLINE_DATA_DIR=${network.dataDir}`];
  await checkServer(...settings, process.execPath, PROGRAM, 'mcp');
});

test('the inspector finds and calls the tools over HTTP', async () => {
  const args = [PROGRAM, 'mcp', '--http', '0', '--json'];
  const stdio = ['ignore', 'pipe', 'inherit'] as const;
  const child = spawn(process.execPath, args, { env: environment(), stdio: [...stdio] });
  assert.ok(child.stdout);
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const { url } = JSON.parse(line) as { url: string };
  await checkServer(url, '--header', `Authorization: Bearer ${TOKEN}`);
  child.kill('SIGINT');
  await once(child, 'exit');
});
