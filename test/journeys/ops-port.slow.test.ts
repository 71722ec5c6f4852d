import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { NETWORKS } from '#core/mode.ts';
import { freePort } from '#sandbox/find-and-stop-processes.ts';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';
import { listen } from '#testkit/network/listen.ts';
import { spawnMain } from '#testkit/network/spawn-network.ts';

const RULES = path.join(import.meta.dirname, '../../deploy/prometheus/tapline-rules.yml');

const dataDir = testFolder();

async function statusOf(port: string, path: string): Promise<number | null> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`).catch(() => null);
  return answer?.status ?? null;
}

/** A counter and its labels, as a rule or a line of `/metrics` names it. */
interface Series {
  readonly name: string;
  readonly labels: readonly string[];
}

function seriesIn(text: string, pattern: RegExp): Series[] {
  return [...text.matchAll(pattern)].map(([, name = '', labels = '']) => ({
    name,
    labels: labels.split(',').filter((label) => label !== ''),
  }));
}

/** Prometheus sees no increase in a series' first value, so a series must start at 0. */
async function requireCountersAtZero(port: string): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
  const zeros = seriesIn(await answer.text(), /^(tapline_\w+_total)(?:\{(.*)\})? 0$/gm);
  const read = seriesIn(await readFile(RULES, 'utf8'), /(tapline_\w+_total)\b(?:\{(.*?)\})?/g);
  assert.ok(read.length > 10, `the rules read ${read.length} counters`);
  for (const { name, labels } of read) {
    assert.ok(
      labels.every((label) => /^\w+="[^"]*"$/.test(label)),
      `this test compares labels that are equal to a text, not ${labels}`,
    );
    const results = zeros.filter(
      (zero) => zero.name === name && labels.every((label) => zero.labels.includes(label)),
    );
    const expected = `${name}{${labels}}`;
    assert.ok(results.length > 0, `${expected} is not 0 at the start`);
    const networks = results.flatMap((zero) => zero.labels.filter((one) => /^network=/.test(one)));
    if (networks.length === 0) continue;
    for (const network of NETWORKS) {
      assert.ok(networks.includes(`network="${network}"`), `${expected} is not 0 for ${network}`);
    }
  }
}

test('a worker serves probes and metrics on OPS_PORT, and listens nowhere else', async () => {
  const [PORT, OPS_PORT] = [`${await freePort()}`, `${await freePort()}`];
  const args = ['--roles', 'worker'];
  const { child, logs } = spawnMain({ dataDir, env: { PORT, OPS_PORT }, args });
  const ended = once(child, 'close');
  for (let tries = 0; tries < 600 && (await statusOf(OPS_PORT, '/readyz')) !== 200; tries++) {
    assert.equal(child.exitCode, null, logs());
    await sleep(100);
  }
  assert.equal(await statusOf(OPS_PORT, '/livez'), 200, logs());
  assert.equal(await statusOf(OPS_PORT, '/metrics'), 200);
  assert.equal(await statusOf(PORT, '/livez'), null);
  child.kill('SIGTERM');
  assert.deepEqual(await ended, [0, null]);
});

test('OPS_PORT is ready only when PORT is served, with each counter of alerts at 0', async () => {
  const [PORT, OPS_PORT] = [`${await freePort()}`, `${await freePort()}`];
  const { child, logs } = spawnMain({ dataDir, env: { PORT, OPS_PORT } });
  const ended = once(child, 'close');
  let ready: number | null = null;
  for (let tries = 0; tries < 12_000 && ready !== 200; tries++) {
    assert.equal(child.exitCode, null, logs());
    ready = await statusOf(OPS_PORT, '/readyz');
    if (ready !== 200) await sleep(5);
  }
  await requireCountersAtZero(OPS_PORT);
  assert.equal(await statusOf(PORT, '/livez'), 200, logs());
  child.kill('SIGTERM');
  assert.deepEqual(await ended, [0, null]);
});

test('an OPS_PORT in use is named', async () => {
  const { port, close } = await listen(createServer());
  const OPS_PORT = String(port);
  const { child, logs } = spawnMain({ dataDir, env: { OPS_PORT } });
  assert.deepEqual(await once(child, 'close'), [1, null]);
  assert.match(logs(), new RegExp(`^tapline: OPS_PORT ${OPS_PORT} is taken`, 'm'));
  await close();
});
