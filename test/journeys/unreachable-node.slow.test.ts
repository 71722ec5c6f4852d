import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { freePort, waitUntil } from '#sandbox/find-and-stop-processes.ts';
import { caller } from '#testkit/apis/api-client.ts';
import { type TestDatabase, testDatabase } from '#testkit/fixtures/db/database.ts';
import { type FaultyNode, startFaultyNode } from '#testkit/network/faulty-node.ts';
import { spawnMain, spawnNetwork, temporaryDataDir } from '#testkit/network/spawn-network.ts';
import { startTestNetwork, type TestNetwork } from '#testkit/network/test-network.ts';
import { groundEnv } from '#testkit/simulation/chaos/chaos-process.ts';

/** Starts the service while no node of one of its chains is reachable. */

/** Far longer than any start. */
const WAIT_MS = 90_000;

let database: TestDatabase;
let network: TestNetwork;
let node: FaultyNode;
let folder: Awaited<ReturnType<typeof temporaryDataDir>>;
let service: ChildProcess | null = null;

before(async () => {
  database = await testDatabase(20);
  network = await startTestNetwork();
  node = await startFaultyNode(network.node.rpcUrl);
  folder = await temporaryDataDir();
});

after(async () => {
  if (service?.exitCode === null) {
    service.kill('SIGTERM');
    await once(service, 'exit');
  }
  await node.stop();
  await network.stop();
  await database.close();
  await folder.remove();
});

interface Readiness {
  readonly networks: {
    readonly testnet: { readonly settles: boolean; readonly reasons: string[] };
  };
}

const SECRET = randomBytes(32);

function settings(port: number): Record<string, string> {
  const config = { ...network.config, rpcUrls: [`${node.url}/v2/a-secret-key`] };
  const ground = { databaseUrl: database.url, secret: SECRET, networks: [config] };
  return { ...groundEnv(ground), PORT: String(port) };
}

test('a first start, which makes demo data on the chain, ends with one line', async () => {
  node.mood = 'down';
  const env = settings(await freePort());
  const { child, logs } = spawnMain({ dataDir: folder.path, env });
  const [code] = (await once(child, 'close')) as [number | null];
  assert.equal(code, 1, logs());
  const lines = logs().split('\n');
  const told = lines.filter((line) => line.startsWith('tapline: '));
  assert.equal(told.length, 1, logs());
  assert.match(told[0] ?? '', /^tapline: CHAIN_TESTNET_RPC_URL cannot be reached \(127\.0\.0\.1:/);
  assert(!logs().includes('secret-key'));
});

test('a later start names the address, serves, and settles once a node answers', async () => {
  node.mood = 'well';
  const stopMining = network.mineEvery(500);
  const port = await freePort();
  const env = settings(port);
  const first = await spawnNetwork({ dataDir: folder.path, env });
  await first.stop();
  node.mood = 'down';
  const { child, logs } = spawnMain({ dataDir: folder.path, env });
  service = child;
  let last: { readonly status: number; readonly body: Readiness } | null = null;
  const until = (reasons: string) =>
    waitUntil(async () => {
      const response = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null);
      if (response === null) return false;
      last = { status: response.status, body: (await response.json()) as Readiness };
      return last.body.networks?.testnet.reasons.join() === reasons;
    }, WAIT_MS);
  assert.ok(await until('no_node'), JSON.stringify(last) + logs());
  const unreachable = logs()
    .split('\n')
    .filter((line) => line.includes('address 1 of CHAIN_TESTNET_RPC_URL'));
  assert.equal(unreachable.length, 1, logs());
  const create = () => {
    const api = caller(`http://127.0.0.1:${port}/api/v1`, first.sandbox.test.secret_key);
    return api.post('/payment_intents', {
      amount: 2_500_000,
      terminal: first.sandbox.test.terminal,
    });
  };
  const created = await create();
  assert.equal(created.status, 201, JSON.stringify(created.body));
  const device = caller(`http://127.0.0.1:${port}/api/device/v1`, first.sandbox.test.device_key);
  const tap = (key: string) =>
    device.post(
      `/payment_intents/${created.body.id}/tap`,
      { credential: { type: 'nfc_id', value: first.sandbox.test.passes.ok } },
      key,
    );
  const early = await tap('early');
  assert.equal(early.status, 503, JSON.stringify(early.body));
  node.mood = 'well';
  assert.ok(await until(''), JSON.stringify(last) + logs());
  const paid = await tap('late');
  assert.equal(paid.body.status, 'succeeded', JSON.stringify(paid.body));
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  for (const labels of ['method="eth_chainId",address="1",result="silent"', 'result="ok"']) {
    assert.match(metrics, new RegExp(`^tapline_node_requests_total\\{.*${labels}.*\\} [1-9]`, 'm'));
  }
  assert(!`${logs()}${metrics}`.includes('secret-key'));
  await stopMining();
});
