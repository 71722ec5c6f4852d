import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, before, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Database, openDatabase } from '#db/database.ts';
import { git } from '#release/git.ts';
import { freePort } from '#sandbox/find-and-stop-processes.ts';
import type { SandboxFile } from '#sandbox/sandbox-file.ts';
import { keepSelling, type Sales } from '#testkit/fixtures/payments/sales.ts';
import { type Balancer, startBalancer } from '#testkit/network/balancer.ts';
import { listen } from '#testkit/network/listen.ts';
import {
  type ChaosGround,
  openChaosGround,
  PRODUCTION_DELAYS,
} from '#testkit/simulation/chaos/chaos-ground.ts';
import { makeShop } from '#testkit/simulation/chaos/chaos-process.ts';
import { openEngine, whyNoEngine } from './compose/engine.ts';
import { paidOf, requireWhole } from './ha/strikes.ts';
import { deployByGuide } from './machines/contract.ts';
import { blocksUnder, linesOf } from './machines/guide.ts';
import { outsideSettings, type Undo } from './machines/outside.ts';
import { makeCertificates } from './machines/service.ts';
import { fillSettings } from './machines/settings.ts';
import { type Machine, openMachine, type Unit, untilReady } from './release/machine.ts';
import { cloneTree, commitNext, rehearse, VERSIONS } from './release/next.ts';

/**
 * Makes a release candidate of this commit, and sets up a network from its files alone, by the
 * commands of the guides, in a folder without the repository. The network sells, is updated during
 * sales to a next candidate with migrations, and goes back.
 *
 * `TAPLINE_TEST_RELEASE` names a folder that keeps both candidates. Once it has them, only the
 * steps after the rehearsal run, on the commit that the candidates were made from.
 */

const [FIRST, NEXT] = VERSIONS;
const SALE_MS = 5_000;
const ROLES = ['tapline@api', 'tapline@worker', 'tapline@registrar'];
/** With two machines, no request fails during an update (docs/deploy.md). */
const INSTANCES = ['api-1', 'api-2', 'worker-1', 'worker-2', 'registrar'].map(
  (name) => `tapline@${name}`,
);
/** The release that the guides use as an example. */
const EXAMPLE = /\b1\.0\.0\b/g;
/** The folder that keeps the candidates, or an empty string. */
const { TAPLINE_TEST_RELEASE: kept = '' } = process.env;
const run = promisify(execFile);

let why: string | null = null;
let work = '';
/** The folder with both candidates, each in a folder named after its version. */
let made = '';
let isMade = false;
/** Settings that reach a container engine, for the images. */
let engineEnv: Readonly<Record<string, string>> = {};
let tree = '';
let machine: Machine;
let ground: ChaosGround;
let db: Database;
let sandbox: SandboxFile;
let balancer: Balancer;
let door = '';
const ports = new Map<string, { readonly PORT: number; readonly OPS_PORT: number }>();
/** For each instance, how long it was down during its restart. */
let restarts: string[] = [];
const units = new Map<string, Unit>();
const undo: Undo = [];

before(async () => {
  work = await mkdtemp(path.join(tmpdir(), 'tapline-release-test-'));
  undo.push(() => rm(work, { recursive: true, force: true, maxRetries: 5 }));
  made = kept === '' ? work : path.resolve(kept);
  tree = path.join(made, 'tree');
  // A release's folder appears only once it is complete.
  isMade = (await readdir(filesOf(NEXT)).catch(() => [])).length > 0;
  if (isMade) return;
  for (const place of [tree, ...VERSIONS.map(filesOf)])
    await rm(place, { recursive: true, force: true });
  await cloneTree(tree);
  if ((await whyNoEngine()) !== null) return;
  const engine = await openEngine();
  undo.push(engine.close);
  engineEnv = { DOCKER_HOST: engine.host };
});

after(async () => {
  for (const step of undo.reverse()) await step();
});

/** Declares a step on which later ones depend. */
function step(name: string, does: () => Promise<string | undefined>): void {
  test(name, (t) => runStep(t, name, does));
}

async function runStep(t: TestContext, name: string, does: () => Promise<string | undefined>) {
  if (why !== null) return t.skip(why);
  why = `"${name}" failed`;
  const said = await does();
  if (said !== undefined) t.diagnostic(said);
  why = null;
}

/** Declares a step of the rehearsal, whose results can be kept. */
function making(name: string, does: () => Promise<string | undefined>): void {
  test(name, async (t) => {
    if (isMade) return t.skip(`${made} has both candidates`);
    await runStep(t, name, does);
  });
}

const filesOf = (version: string) => path.join(made, version);

interface Manifest {
  readonly version: string;
  readonly missing: readonly string[];
  readonly files: readonly {
    readonly name: string;
    readonly sha256: string;
    readonly reproducible: boolean;
  }[];
}

async function manifestOf(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(path.join(folder, 'manifest.json'), 'utf8')) as Manifest;
}

making('a release is rehearsed, and the same commit makes the same files', async () => {
  const again = path.join(work, 'again');
  const said = await rehearse(tree, filesOf(FIRST), [], engineEnv);
  assert.match(said, /^v1\.0\.0-rc\.1, \d{4}-\d\d-\d\d is rehearsed\. Nothing was published\.$/m);
  await rehearse(tree, again, [], engineEnv);
  const [one, other] = await Promise.all([filesOf(FIRST), again].map(manifestOf));
  assert.equal(one?.version, FIRST);
  const fixed = one.files.filter(({ reproducible }) => reproducible);
  assert(fixed.length >= 19, `only ${fixed.length} files are the same`);
  const sums = (manifest?: Manifest) =>
    (manifest?.files ?? []).filter(({ name }) => fixed.some((file) => file.name === name));
  assert.deepEqual(sums(other), fixed);
  for (const name of [/^tapline-network-.*gz$/, /\.bundle$/, /\.whl$/, /php/, /go/, /sbom/]) {
    assert(
      one.files.some((file) => name.test(file.name)),
      `${name} is missing`,
    );
  }
  assert.equal(await git(tree, ['tag']), '', 'the tag is in the copy only');
  await rm(again, { recursive: true });
  const changing = one.files.length - fixed.length;
  return `${one.files.length} files, ${changing} not reproducible; ${one.missing.join('; ')}`;
});

making('wrong versions and uncommitted changes are refused with a reason', async () => {
  const refused = async (...options: readonly string[]) => {
    const { stderr } = await rehearse(tree, path.join(work, 'refused'), options).then(
      () => assert.fail('it was not refused'),
      (error: Error & { readonly stderr: string }) => error,
    );
    return stderr;
  };
  assert.match(await refused('1.0'), /1\.0 is not a version; write/);
  await writeFile(path.join(tree, 'new.txt'), 'new');
  assert.match(await refused(), /changes that are not committed:\n\?\? new\.txt/);
  await rm(path.join(tree, 'new.txt'));
});

making('a next candidate with migrations follows the first one from its bundle', async () => {
  const bundle = path.join(filesOf(FIRST), `tapline-network-${FIRST}.bundle`);
  await commitNext(tree, { bundle, tag: `v${FIRST}`, version: NEXT });
  const hasEngine = engineEnv.DOCKER_HOST !== undefined;
  await rehearse(tree, filesOf(NEXT), hasEngine ? [] : ['--without-image'], engineEnv);
  const changes = await readFile(path.join(filesOf(NEXT), 'changes.md'), 'utf8');
  assert.match(changes, /^# v1\.0\.0-rc\.2, .*\n\n- A column, an index and a backfill\.\n$/);
  return undefined;
});

making('a released migration cannot change, even with its sum', async () => {
  const tidy = ['--test', '--test-name-pattern=a released migration', 'test/tidy.test.ts'];
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const runTidy = () => run(process.execPath, tidy, { cwd: tree, env });
  await runTidy();
  const sums = path.join(tree, 'migrations/SHA256SUMS');
  const text = await readFile(sums, 'utf8');
  await writeFile(sums, text.replace(/^\w{64}/, '0'.repeat(64)));
  await assert.rejects(runTidy, ({ stdout }: Error & { readonly stdout?: string }) =>
    /a release has applied these files/.test(stdout ?? ''),
  );
  await writeFile(sums, text);
  return undefined;
});

/** Unpacks and installs a release as the guide says, beside the installed ones. */
async function install(version: string): Promise<void> {
  const [block = ''] = await blocksUnder('deploy.md', "A release's files");
  await machine.type(block.replaceAll(EXAMPLE, version), { cwd: filesOf(version) });
}

const inRelease = (commands: string) => machine.type(`cd /opt/tapline\n${commands}`);

/** Serves the balancer's nodes over HTTPS, as the operator's proxy does. */
async function openDoor(): Promise<void> {
  const certificates = await makeCertificates(path.join(work, 'signed'), 'localhost');
  await machine.trust(certificates.ca);
  const { good: cert, key } = certificates;
  const server = createServer({ cert, key }, async (incoming, answer) => {
    const { host: _, connection: __, ...headers } = incoming.headers;
    const sent = await buffer(incoming);
    const body = sent.length === 0 ? null : sent;
    const response = await fetch(`${balancer.next()}${incoming.url}`, {
      ...{ method: incoming.method ?? 'GET', body },
      headers: Object.entries(headers).map(([name, value]) => [name, String(value)]) as [
        string,
        string,
      ][],
    }).catch(() => null);
    if (response === null) return answer.writeHead(502).end();
    const type = response.headers.get('content-type') ?? 'text/plain';
    answer.writeHead(response.status, { 'content-type': type });
    answer.end(Buffer.from(await response.arrayBuffer()));
  });
  const { port, close } = await listen(server);
  undo.push(close);
  door = `https://localhost:${port}`;
}

const settingsFolder = () => path.join(machine.root, 'etc/tapline');

async function checkSettings(): Promise<string> {
  const [init = ''] = await blocksUnder('deploy.md', 'Settings in three files');
  return inRelease(`(${linesOf(init, /npx tapline init/).split('\n')[0]}\n) || true`);
}

/**
 * Gives each process its own ports, because two machines' processes run on one (docs/deploy.md,
 * "systemd").
 */
async function choosePorts(): Promise<void> {
  const own = await Promise.all(INSTANCES.map(async () => [await freePort(), await freePort()]));
  for (const [index, name] of INSTANCES.entries()) {
    const [PORT = 0, OPS_PORT = 0] = own[index] ?? [];
    ports.set(name, { PORT, OPS_PORT });
  }
  const nodes = instancesOf('tapline@api').map((name) => ports.get(name)?.PORT);
  balancer = startBalancer(nodes.map((port) => `http://127.0.0.1:${port}`));
  undo.push(balancer.stop);
}

step('the settings of a network are made from the files, and every check passes', async () => {
  machine = await openMachine(path.join(work, 'machine'), (pid) => ground.endWithUs(pid));
  ground = await openChaosGround({ providers: 'none', delays: PRODUCTION_DELAYS });
  undo.push(ground.close);
  db = openDatabase({ url: ground.database.url, maxConnections: 3 });
  undo.push(db.close);
  await install(FIRST);
  assert.match(await checkSettings(), /\bNO\b/);
  await choosePorts();
  await openDoor();
  const outside = await outsideSettings(ground, undo, '127.0.0.1');
  const settings = {
    ...outside,
    ...{ TAPLINE_PUBLIC_URL: door, DATABASE_DURABILITY: 'single', TRUSTED_PROXIES: '127.0.0.1/32' },
  };
  const [deploy = ''] = await blocksUnder('operate.md', '2. The contract');
  const command = /^npm run --silent chain -- deploy --network testnet/m.exec(deploy)?.[0] ?? '';
  const deployed = await deployByGuide(ground, settings, (key, options) =>
    inRelease(`echo ${key} | ${command} ${options}`),
  );
  ground = deployed.ground;
  await fillSettings(settingsFolder(), { ...settings, ...deployed.printed });
  const said = await checkSettings();
  assert.doesNotMatch(said, /\bNO\b/, said);
  return `candidates of ${await git(tree, ['rev-parse', '--short', `v${FIRST}~1`])}`;
});

function instancesOf(unit: string): readonly string[] {
  return INSTANCES.filter((name) => name.startsWith(unit));
}

/** Restarts each instance of a unit, one after the other. @returns their releases. */
async function restart(unit: string): Promise<string[]> {
  const versions: string[] = [];
  for (const name of instancesOf(unit)) {
    const began = performance.now();
    await units.get(name)?.stop();
    const data = path.join(machine.root, 'var/lib', name);
    await mkdir(data, { recursive: true, mode: 0o700 });
    const { PORT = 0, OPS_PORT = 0 } = ports.get(name) ?? {};
    const own = { PORT: `${PORT}`, OPS_PORT: `${OPS_PORT}`, TAPLINE_DATA_DIR: data };
    const started = await machine.start(unit, own);
    units.set(name, started);
    versions.push(await untilReady(OPS_PORT, started));
    restarts.push(`${name} ${((performance.now() - began) / 1_000).toFixed(1)} s`);
  }
  return versions;
}

/** Runs the unit commands of a guide's block, in its order. @returns the releases that run. */
async function runUnits(block: string, wanted: readonly string[]): Promise<string[]> {
  const steps = [...block.matchAll(/^systemctl (start|restart|enable --now) ([^#\n]+)/gm)];
  const names = steps.flatMap(([, , words = '']) => words.trim().split(' '));
  const services = names.filter((name) => name !== 'tapline.target');
  assert.deepEqual(services, wanted);
  const versions: string[] = [];
  for (const name of services) {
    if (name === 'tapline-migrate') await machine.start(name);
    else versions.push(...(await restart(name)));
  }
  return versions;
}

step('its processes start by the units of the archive', async () => {
  undo.push(async () => {
    for (const unit of units.values()) await unit.stop();
  });
  const blocks = await blocksUnder('deploy.md', 'systemd');
  sandbox = await makeShop(ground, { root: path.join(machine.root, 'opt/tapline') });
  assert.deepEqual(await runUnits(blocks[0] ?? '', ROLES), Array(INSTANCES.length).fill(FIRST));
  return undefined;
});

step('a shop sells with the published package', async () => {
  const shop = path.join(work, 'shop');
  await mkdir(shop);
  const names = ['tapline', 'tapline-cli'];
  const files = await readdir(filesOf(FIRST));
  const archives = names.map((name) => {
    const file = files.find((one) => new RegExp(`^${name}-\\d[\\w.]*\\.tgz$`).test(one));
    return path.join(filesOf(FIRST), file ?? name);
  });
  const guide = await readFile(path.join(tree, 'docs/guides/quickstart.md'), 'utf8');
  const [, program = ''] = /^```js pay\.mjs\n([\s\S]*?)^```$/m.exec(guide) ?? [];
  await writeFile(path.join(shop, 'pay.mjs'), program);
  await machine.type(`npm i --no-audit --no-fund ${archives.join(' ')}`, { cwd: shop });
  const env = {
    ...machine.env,
    ...{ TAPLINE_BASE_URL: `${door}/api`, TAPLINE_API_KEY: sandbox.test.secret_key },
  };
  const paying = spawn('node', ['pay.mjs'], { cwd: shop, env, stdio: ['ignore', 'pipe', 'pipe'] });
  undo.push(() => paying.kill());
  let said = '';
  for (const stream of [paying.stdout, paying.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk;
    });
  }
  const done = once(paying, 'exit');
  while (!/ waits at /.test(said) && paying.exitCode === null) await sleep(50);
  // A production network has no demo passes, so the tap uses one of the sandbox.
  const tap = ['tapline', 'tap', '--pass', String(sandbox.test.passes.ok)];
  const tapped = await run('npx', tap, { cwd: shop, env });
  await done;
  assert.match(said, /^A-1001 is succeeded$/m, said + tapped.stdout + tapped.stderr);
  return undefined;
});

function sell(): Sales {
  const node = () => `${balancer.next()}/api`;
  const wanted = { node, shop: sandbox.test, clients: 2, writers: 1 };
  const shop = keepSelling({ ...wanted, onFailure: 'report' });
  undo.push(shop.stop);
  return shop;
}

/** Sells during an action. @returns the number of sales, of which none failed. */
async function sellDuring(does: () => Promise<void>): Promise<string> {
  const shop = sell();
  await sleep(SALE_MS);
  restarts = [];
  await does();
  await sleep(SALE_MS);
  await shop.stop();
  const took = restarts.join(', ');
  assert.deepEqual(shop.failures, [], took);
  await requireWhole({ db, ground }, shop);
  assert(paidOf(shop).length > 10, `only ${paidOf(shop).length} sales`);
  return `${shop.sales.length} sales, ${paidOf(shop).length} paid, no request failed; ${took}`;
}

step('it is updated during sales to a release with migrations', async () => {
  await install(NEXT);
  const update = (await blocksUnder('deploy.md', 'systemd')).at(-1) ?? '';
  const said = await sellDuring(async () => {
    const running = await runUnits(update, ['tapline-migrate', ...ROLES]);
    assert.deepEqual(running, Array(INSTANCES.length).fill(NEXT));
  });
  const [row] = await db.query<{ readonly left: bigint; readonly all: bigint }>(
    `select count(*) filter (where of_migration is null) as left, count(*) as all
     from payment_intents`,
  );
  assert(row !== undefined && row.all > row.left, 'the backfill has filled the column');
  return `update: ${said}`;
});

step('it goes back to the release before, during sales', async () => {
  const [block = ''] = await blocksUnder('guides/upgrading.md', 'One release back: at any time');
  await machine.type(linesOf(block, /^ln /).replaceAll(EXAMPLE, FIRST));
  const said = await sellDuring(async () => {
    assert.deepEqual(await runUnits(block, ROLES), Array(INSTANCES.length).fill(FIRST));
  });
  return `back: ${said}`;
});

step('the root folder of the image serves by itself', async () => {
  const name = `tapline-root-${FIRST}.tar.gz`;
  const isThere = (await readdir(filesOf(FIRST))).includes(name);
  if (!isThere) return 'an engine built the image: compose.test.ts runs it from kept candidates';
  const root = path.join(work, 'image');
  await mkdir(root);
  await run('tar', ['-xzf', path.join(filesOf(FIRST), name), '-C', root]);
  const units = path.join(root, 'app/deploy/systemd');
  await mkdir(units, { recursive: true });
  // Adds the unit, which the image does not contain. The image's base has Node.js.
  await copyFile(
    path.join(machine.root, 'opt/tapline/deploy/systemd/tapline@.service'),
    path.join(units, 'tapline@.service'),
  );
  const bin = path.join(root, 'app/node_modules/.bin');
  await mkdir(bin, { recursive: true });
  await copyFile(process.execPath, path.join(bin, 'node'));
  await machine.type(`ln -sfn ${path.join(root, 'app')} /opt/tapline`);
  const said = await sellDuring(async () => {
    assert.deepEqual(await restart('tapline@api'), [FIRST, FIRST]);
  });
  return `image: ${said}`;
});
