import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { type ApiDocument, endpointsOf } from '#docs/api-document.ts';
import { brunoCollection } from '#docs/postman-and-bruno.ts';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';
import { installTool, type Tool } from '#testkit/fixtures/core/tools.ts';
import { type OwnNetwork, startOwnNetwork } from '#testkit/network/spawn-network.ts';

/** Runs the collections with Postman's and Bruno's own programs against a network. */

const run = promisify(execFile);
const ROOT = path.join(import.meta.dirname, '../..');
/** The event stream never ends. */
const REQUEST_MS = 3_000;

const folder = testFolder();
let tool: Tool;
let network: OwnNetwork;
let document: ApiDocument;

before(async () => {
  tool = await installTool('collections', folder);
  document = JSON.parse(await readFile(path.join(ROOT, 'openapi.json'), 'utf8'));
  network = await startOwnNetwork();
});

after(() => network?.close());

/** Returns the settings in the guide: URL, key and a terminal. */
function settings(): string[] {
  const { base_url: address, test: mode } = network.sandbox;
  const set = { base_url: address, api_key: mode.secret_key, terminal: mode.terminal };
  return Object.entries(set).flatMap(([name, value]) => ['--env-var', `${name}=${value}`]);
}

interface Sent {
  readonly name: string;
  readonly status: number;
}

/** Requests that depend only on earlier responses, in the collection's order. */
const WORK = [
  ...['createPaymentIntent', 'listPaymentIntents', 'retrievePaymentIntent', 'cancelPaymentIntent'],
  ...['listPayments', 'listRefunds', 'listTerminals', 'retrieveTerminal', 'retrieveBalance'],
  ...['createWebhookEndpoint', 'retrieveWebhookEndpoint', 'updateWebhookEndpoint'],
  ...['deleteWebhookEndpoint', 'listRequestLog', 'testCreateAgentToken', 'testAdvanceClock'],
];

/**
 * Checks that each request was sent, that those that can succeed did, and that none was malformed.
 */
function check(sent: readonly Sent[]): void {
  const statuses = new Map(sent.map(({ name, status }) => [name, status]));
  const worked = WORK.map((name) => [name, statuses.get(name)] as const);
  assert.deepEqual(
    worked.filter(([, status]) => status !== 200 && status !== 201),
    [],
  );
  const odd = sent.filter(({ status }) => ![200, 201, 202, 400, 404, 409].includes(status));
  assert.deepEqual(odd, []);
}

test('Postman’s program sends each request of its collection', async (t) => {
  const { web_url: at } = network.sandbox;
  const file = path.join(folder, 'tapline-postman.json');
  const served = await fetch(`${at}/packages/tapline-postman.json`);
  await writeFile(file, Buffer.from(await served.arrayBuffer()));
  const report = path.join(folder, 'postman.json');
  const flags = ['--timeout-request', String(REQUEST_MS), '--suppress-exit-code'];
  const json = ['--reporters', 'json', '--reporter-json-export', report];
  const newman = tool.installed('.bin/newman');
  await run(newman, ['run', file, ...settings(), ...flags, ...json], { cwd: folder });
  const { run: ran } = JSON.parse(await readFile(report, 'utf8')) as {
    run: { executions: { item: { name: string }; response?: { code: number } }[] };
  };
  const endpoints = endpointsOf(document);
  assert.equal(ran.executions.length, endpoints.length);
  const ids = new Map(endpoints.map(({ summary, operationId }) => [summary, operationId]));
  const sent = ran.executions.flatMap(({ item, response }) => {
    return response === undefined
      ? []
      : [{ name: ids.get(item.name) ?? item.name, status: response.code }];
  });
  assert.equal(sent.length, endpoints.length - 1, 'all but the stream answer');
  check(sent);
  t.diagnostic(`newman: ${sent.length} requests of ${endpoints.length} answered`);
});

test('Bruno’s program sends each request of its collection', async (t) => {
  const files = brunoCollection(document);
  for (const { name, bytes } of files) {
    const file = path.join(folder, 'bruno', name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, bytes);
  }
  const cwd = path.join(folder, 'bruno/tapline');
  await rm(path.join(cwd, 'Events/streamEvents.bru'));
  const report = path.join(folder, 'bruno.json');
  const bru = tool.installed('.bin/bru');
  const groups = [...new Set(endpointsOf(document).map(({ tags }) => tags[0] ?? ''))];
  const flags = ['--env', 'Network', ...settings(), '--reporter-json', report];
  await run(bru, ['run', ...groups, ...flags], { cwd });
  const [ran] = JSON.parse(await readFile(report, 'utf8')) as {
    results: { test: { filename: string }; response: { status: number } }[];
  }[];
  const sent = (ran?.results ?? []).map(({ test: { filename }, response }) => {
    return { name: path.basename(filename, '.bru'), status: response.status };
  });
  assert.equal(sent.length, endpointsOf(document).length - 1, 'all but the stream');
  check(sent);
  t.diagnostic(`bru: ${sent.length} requests answered`);
});
