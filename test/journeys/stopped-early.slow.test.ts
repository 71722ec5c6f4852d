import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { caller } from '#testkit/apis/api-client.ts';
import { spawnMain, spawnNetwork, temporaryDataDir } from '#testkit/network/spawn-network.ts';

/** Stops processes with a different signal than `payment.test.ts`, or earlier. */

let folder: Awaited<ReturnType<typeof temporaryDataDir>>;
/** State created by the first start. */
let terminals: unknown;

async function startAndStop(): Promise<unknown> {
  const network = await spawnNetwork({ dataDir: folder.path });
  const { base_url: baseUrl, test: mode } = network.sandbox;
  const { status, body } = await caller(`${baseUrl}/v1`, mode.secret_key).get('/terminals');
  assert.equal(status, 200);
  assert.equal(await network.stop(), 0);
  return body.data;
}

async function requireNothingLost(): Promise<void> {
  assert.deepEqual(await startAndStop(), terminals);
}

before(async () => {
  folder = await temporaryDataDir();
  terminals = await startAndStop();
});

after(() => folder?.remove());

test('npm start stops all its processes when npm is stopped, and exits with 0', async () => {
  const started = await spawnNetwork({ dataDir: folder.path, throughNpm: true });
  assert.equal((await fetch(`${started.sandbox.web_url}/livez`)).status, 200);
  assert.equal(await started.stop(), 0);
  await assert.rejects(fetch(`${started.sandbox.web_url}/livez`));
  await requireNothingLost();
});

test('a process stopped while it starts exits with 0, and nothing is lost', async () => {
  const { child, logs } = spawnMain({ dataDir: folder.path });
  const ended = once(child, 'close');
  // The service starts or adopts its database first, long before it listens.
  const postmaster = path.join(folder.path, 'postgres/postmaster.pid');
  while (!existsSync(postmaster)) await sleep(5);
  child.kill('SIGTERM');
  assert.deepEqual(await ended, [0, null], logs());
  await requireNothingLost();
});
