import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, waitUntil } from '#sandbox/find-and-stop-processes.ts';
import {
  type SpawnedNetwork,
  spawnNetwork,
  temporaryDataDir,
} from '#testkit/network/spawn-network.ts';
import { type Notice, openPager } from './machines/outside.ts';
import { Rig } from './machines/rig.ts';
import { missingProgram } from './shell-commands.ts';

/**
 * Tests that alerts reach a person, with deploy/prometheus, Debian's Prometheus and Alertmanager, a
 * network, a probe that pays in it, and a pager that the test reads. Only addresses are replaced.
 */

const ROOT = path.join(import.meta.dirname, '../..');
const PROGRAMS = ['prometheus', 'prometheus-alertmanager'];
/** Maximum time from the last possible sale until the pager is notified. */
const PAGED_MS = 180_000;
/** Quiet period without faults, longer than the `for` of most paging rules. */
const QUIET_MS = 90_000;
const START_MS = 120_000;

const notices: Notice[] = [];
let network: SpawnedNetwork;
let prometheusUrl = '';

const rig = new Rig(async () => {
  if ((await missingProgram(PROGRAMS)) !== null) return `Debian: apt install ${PROGRAMS.join(' ')}`;
  const [ops, probe] = [await freePort(), await freePort()];
  await startNetwork(ops);
  startProbe(probe);
  await startMonitoring({ ops, probe });
  return null;
});

/** Starts a program, which is stopped at the end of the test. */
function start(program: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env) {
  const child: ChildProcess = spawn(program, args, { cwd: ROOT, env, stdio: 'ignore' });
  rig.undo.push(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
}

async function startNetwork(ops: number): Promise<void> {
  const folder = await temporaryDataDir();
  rig.undo.push(folder.remove);
  network = await spawnNetwork({ dataDir: folder.path, env: { OPS_PORT: String(ops) } });
  rig.undo.push(network.stop);
}

function startProbe(port: number): void {
  const { base_url, test: mode } = network.sandbox;
  start(process.execPath, ['cli/bin/tapline.js', 'probe', '--listen', `127.0.0.1:${port}`], {
    ...process.env,
    TAPLINE_API_KEY: mode.secret_key,
    TAPLINE_BASE_URL: base_url,
    TAPLINE_PROBE_PASS: String(mode.passes.ok),
  });
}

/** Copies a file with some of its text replaced; each text must exist. */
async function adapt(file: string, changes: readonly (readonly [string, string])[]) {
  let adapted = await readFile(file, 'utf8');
  for (const [from, to] of changes) {
    assert(adapted.includes(from), `${path.basename(file)} has no ${from}`);
    adapted = adapted.replace(from, to);
  }
  await writeFile(file, adapted);
}

async function startMonitoring({ ops, probe }: { readonly ops: number; readonly probe: number }) {
  const folder = await mkdtemp(path.join(tmpdir(), 'tapline-alerts-'));
  rig.undo.push(() => rm(folder, { recursive: true, force: true }));
  await cp(path.join(ROOT, 'deploy/prometheus'), folder, { recursive: true });
  const [own, manager] = [await freePort(), await freePort()];
  await adapt(path.join(folder, 'prometheus.yml'), [
    ['"127.0.0.1:4243", "127.0.0.1:4244"', `"127.0.0.1:${ops}"`],
    ['127.0.0.1:9465', `127.0.0.1:${probe}`],
    ['127.0.0.1:9093', `127.0.0.1:${manager}`],
  ]);
  await adapt(path.join(folder, 'alertmanager.yml'), [
    ['https://pager.example.com/alertmanager', await openPager(notices, rig.undo, '127.0.0.1')],
  ]);
  start('prometheus-alertmanager', [
    `--config.file=${folder}/alertmanager.yml`,
    `--storage.path=${folder}/manager`,
    `--web.listen-address=127.0.0.1:${manager}`,
    '--cluster.listen-address=',
  ]);
  start('prometheus', [
    `--config.file=${folder}/prometheus.yml`,
    `--storage.tsdb.path=${folder}/data`,
    `--web.listen-address=127.0.0.1:${own}`,
  ]);
  prometheusUrl = `http://127.0.0.1:${own}`;
}

async function numberOf(query: string): Promise<number> {
  const url = `${prometheusUrl}/api/v1/query?query=${encodeURIComponent(query)}`;
  const answer = await fetch(url).catch(() => null);
  if (answer?.ok !== true) return Number.NaN;
  const { data } = (await answer.json()) as { data: { result: { value: [number, string] }[] } };
  return Number(data.result[0]?.value[1] ?? Number.NaN);
}

rig.check('while people can buy, no alert pages anyone', async () => {
  const sees = async () =>
    (await numberOf('up{job="tapline"}')) === 1 &&
    (await numberOf('sum(tapline_payments_total{network="testnet"})')) > 0;
  assert(await waitUntil(sees, START_MS), 'Prometheus sees a process and a probe that buys');
  await sleep(QUIET_MS);
  assert.deepEqual(notices, []);
});

rig.check('when every process is dead, one page is sent, for that reason', async () => {
  await network.kill();
  const since = performance.now();
  assert(await waitUntil(async () => notices.length > 0, PAGED_MS), 'no page was sent');
  const seconds = (performance.now() - since) / 1000;
  // Follow-up alerts of the same cause would arrive now.
  await sleep(PAGED_MS - seconds * 1000);
  assert.deepEqual(
    notices.map(({ names }) => names),
    [['NothingAnswers']],
  );
  const [{ links } = { links: [] }] = notices;
  assert.deepEqual(links, ['https://runbooks.example.com/alerts.md#nothinganswers']);
  return `every process killed: paged after ${seconds.toFixed(0)} s, once, NothingAnswers`;
});
