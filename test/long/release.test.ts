import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { present } from '#core/assert.ts';
import { git } from '#release/git.ts';
import { type Balancer, startBalancer } from '#testkit/network/balancer.ts';
import { listen } from '#testkit/network/listen.ts';
import { PRODUCTION_DELAYS } from '#testkit/simulation/chaos/chaos-ground.ts';
import { deployByGuide } from './machines/contract.ts';
import { openEngine, whyNoEngine } from './machines/engine.ts';
import { blockOf, blocksUnder, linesOf, stepsOf } from './machines/guide.ts';
import { HOST_NAME, outsideSettings, passOn, publish } from './machines/outside.ts';
import { Rig } from './machines/rig.ts';
import { type GuideMachine, openMachines } from './machines/room.ts';
import {
  CA,
  copyTo,
  makeCertificates,
  nameDoor,
  restartEach,
  startTapline,
  updateBlock,
} from './machines/service.ts';
import { fillSettings } from './machines/settings.ts';
import { paidOf } from './machines/strikes.ts';
import { OUTSIDE, whyNoWires } from './machines/wires.ts';
import { cloneTree, commitNext, rehearse, VERSIONS } from './release/next.ts';

/**
 * Makes a release candidate of this commit, and sets up a network from its files alone, by the
 * commands of the guides, on two machines without the repository. The network sells, is updated
 * during sales to a next candidate with migrations, and goes back.
 *
 * `TAPLINE_TEST_RELEASE` names a folder that keeps both candidates. Once it has them, only the
 * steps after the rehearsal run, on the commit that the candidates were made from.
 */

const [FIRST, NEXT] = VERSIONS;
const SALE_MS = 5_000;
/** The release that the guides use as an example. */
const EXAMPLE = /\b1\.0\.0\b/g;
/** The folder that keeps the candidates, or an empty string. */
const { TAPLINE_TEST_RELEASE: kept = '' } = process.env;
const run = promisify(execFile);

let work = '';
/** The folder with both candidates, each in a folder named after its version. */
let made = '';
let isMade = false;
/** Settings that reach a container engine, for the images. */
let engineEnv: Readonly<Record<string, string>> = {};
let tree = '';
let machines: readonly GuideMachine[] = [];
let balancer: Balancer;
let door = '';

const rig = new Rig(async ({ undo }) => {
  work = await mkdtemp(path.join(tmpdir(), 'tapline-release-test-'));
  undo.push(() => rm(work, { recursive: true, force: true, maxRetries: 5 }));
  made = kept === '' ? work : path.resolve(kept);
  tree = path.join(made, 'tree');
  // A release's folder appears only once it is complete.
  isMade = (await readdir(filesOf(NEXT)).catch(() => [])).length > 0;
  if (isMade) return null;
  for (const target of [tree, ...VERSIONS.map(filesOf)])
    await rm(target, { recursive: true, force: true });
  await cloneTree(tree);
  if ((await whyNoEngine()) !== null) return null;
  const engine = await openEngine(undo);
  engineEnv = { DOCKER_HOST: engine.host };
  return null;
});

/** Declares a step of the rehearsal, whose results can be kept. */
function making(name: string, does: () => Promise<string | undefined>): void {
  rig.step(name, does, { whyLeftOut: async () => (isMade ? `${made} has both candidates` : null) });
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

/** Declares a step that needs machines. */
function running(name: string, does: () => Promise<string | undefined>): void {
  rig.step(name, does, { whyLeftOut: whyNoWires });
}

const first = () => present(machines[0], 'first machine');

/** Unpacks and installs a release as the guide says, beside the installed ones. */
async function install(version: string): Promise<void> {
  const [block = ''] = await blocksUnder('deploy.md', "A release's files");
  await cp(filesOf(version), path.join(first().root, 'root', version), { recursive: true });
  await first().typeOnline(`cd /root/${version}\n${block.replaceAll(EXAMPLE, version)}`);
}

const inRelease = (commands: string) => first().type(`cd /opt/tapline\n${commands}`, CA);

/** Serves the balancer's nodes over HTTPS, as the operator's proxy does. */
async function openDoor(): Promise<void> {
  const certificates = await makeCertificates(path.join(work, 'signed'));
  for (const machine of machines) await nameDoor(machine, OUTSIDE, certificates);
  const { good: cert, key } = certificates;
  const server = createServer({ cert, key }, (incoming, answer) => {
    const { method = 'GET', headers, url } = incoming;
    passOn(incoming, answer, request(`${balancer.next()}${url}`, { method, headers }));
  });
  const { port, close } = await listen(server, OUTSIDE);
  rig.undo.push(close);
  door = `https://${HOST_NAME}:${port}`;
}

async function checkSettings(): Promise<string> {
  const [init = ''] = await blocksUnder('deploy.md', 'Settings in three files');
  return inRelease(`(${linesOf(init, /npx tapline init/).split('\n')[0]}\n) || true`);
}

running('the settings of a network are made from the files, and every check passes', async () => {
  // With two machines, no request fails during an update (docs/deploy.md).
  machines = await openMachines(['db1', 'db2'], rig.undo);
  await rig.openGround(null, { providers: 'none', delays: PRODUCTION_DELAYS });
  const { ground, undo } = rig;
  balancer = startBalancer(machines.map(({ address }) => `http://${address}:4242`));
  undo.push(balancer.stop);
  await install(FIRST);
  await openDoor();
  assert.match(await checkSettings(), /\bNO\b/);
  const { host, port } = new URL(ground.database.url);
  const database = ground.database.url.replace(host, await publish(Number(port), undo));
  const settings = {
    ...(await outsideSettings(ground, undo)),
    ...{ TAPLINE_PUBLIC_URL: door, DATABASE_DURABILITY: 'single', DATABASE_URL: database },
    ...{ HOST: '0.0.0.0', TRUSTED_PROXIES: `${OUTSIDE}/32` },
  };
  const [deploy = ''] = await blocksUnder('operate.md', '2. The contract');
  const command = /^npm run --silent chain -- deploy --network testnet/m.exec(deploy)?.[0] ?? '';
  const deployed = await deployByGuide(ground, settings, (key, options) =>
    inRelease(`echo ${key} | ${command} ${options}`),
  );
  rig.ground = deployed.ground;
  const folder = path.join(first().root, 'etc/tapline');
  await fillSettings(folder, { ...settings, ...deployed.printed });
  const said = await checkSettings();
  assert.doesNotMatch(said, /\bNO\b/, said);
  // Each role has its own port for Prometheus.
  await first().type(blockOf(await stepsOf('ha.md'), 7, 2));
  return `candidates of ${await git(tree, ['rev-parse', '--short', `v${FIRST}~1`])}`;
});

/** Returns what runs if every process runs this release. */
const all = (version: string) => Array(2 * machines.length + 1).fill(version);

running('its processes start by the units of the archive', async () => {
  const customers = { node: () => `${balancer.next()}/api`, clients: 2, writers: 1 };
  // By this tree: as root, the release would build its apps where its units cannot change them.
  await rig.openShop(customers);
  assert.deepEqual(await startTapline(machines), all(FIRST));
  return undefined;
});

running('a shop sells with the published package', async () => {
  const names = ['tapline', 'tapline-cli'];
  const files = await readdir(filesOf(FIRST));
  const archives = names.map((name) => {
    const file = files.find((one) => new RegExp(`^${name}-\\d[\\w.]*\\.tgz$`).test(one));
    return path.join('/root', FIRST, file ?? name);
  });
  const guide = await readFile(path.join(tree, 'docs/guides/quickstart.md'), 'utf8');
  const [, program = ''] = /^```js pay\.mjs\n([\s\S]*?)^```$/m.exec(guide) ?? [];
  await first().typeOnline(
    `mkdir /root/shop && cd /root/shop && npm i --no-audit --no-fund ${archives.join(' ')}`,
  );
  await writeFile(path.join(first().root, 'root/shop/pay.mjs'), program);
  // A production network has no demo passes, so the tap uses one of the sandbox.
  const said = await first().type(
    `cd /root/shop
     node pay.mjs > said 2>&1 &
     timeout 30 sh -c "until grep -q ' waits at ' said; do sleep 0.1; done" || true
     npx tapline tap --pass ${rig.sandbox.test.passes.ok} && wait $! || true
     cat said`,
    { ...CA, TAPLINE_BASE_URL: `${door}/api`, TAPLINE_API_KEY: rig.sandbox.test.secret_key ?? '' },
  );
  assert.match(said, /^A-1001 is succeeded$/m);
  return undefined;
});

/** Sells during an action. @returns the number of sales, of which none failed. */
async function sellDuring(does: () => Promise<void>): Promise<string> {
  const shop = rig.sell('report');
  await sleep(SALE_MS);
  await does();
  await sleep(SALE_MS);
  await shop.stop();
  await rig.books(shop);
  assert(paidOf(shop).length > 10, `only ${paidOf(shop).length} sales`);
  return `${shop.sales.length} sales, ${paidOf(shop).length} paid, no request failed`;
}

const everywhere = async (commands: string) => {
  for (const machine of machines) await machine.type(commands);
};

running('it is updated during sales to a release with migrations', async () => {
  await install(NEXT);
  const places = [`opt/tapline-network-${NEXT}`, 'opt/tapline'];
  for (const to of machines.slice(1)) await copyTo(first(), to, places);
  const block = await updateBlock();
  const said = await sellDuring(async () => {
    await everywhere(linesOf(block, /^cp /));
    await first().type(linesOf(block, /tapline-migrate/));
    assert.deepEqual(await restartEach(machines, block), all(NEXT));
  });
  const [row] = await rig.db.query<{ readonly left: bigint; readonly all: bigint }>(
    `select count(*) filter (where of_migration is null) as left, count(*) as all
     from payment_intents`,
  );
  assert(row !== undefined && row.all > row.left, 'the backfill has filled the column');
  return `update: ${said}`;
});

running('it goes back to the release before, during sales', async () => {
  const [block = ''] = await blocksUnder('guides/upgrading.md', 'One release back: at any time');
  await everywhere(linesOf(block, /^ln /).replaceAll(EXAMPLE, FIRST));
  const said = await sellDuring(async () => {
    assert.deepEqual(await restartEach(machines, block), all(FIRST));
  });
  return `back: ${said}`;
});

running('the root folder of the image serves by itself', async () => {
  const name = `tapline-root-${FIRST}.tar.gz`;
  const isThere = (await readdir(filesOf(FIRST))).includes(name);
  if (!isThere) return 'an engine built the image: compose.test.ts runs it from kept candidates';
  // The image's base has Node.js.
  await first().type(`mkdir -p /opt/tapline-image
    tar -xzf /root/${FIRST}/${name} -C /opt/tapline-image
    mkdir -p /opt/tapline-image/app/node_modules/.bin
    cp -L /opt/tapline/node_modules/.bin/node /opt/tapline-image/app/node_modules/.bin/node`);
  for (const to of machines.slice(1)) await copyTo(first(), to, ['opt/tapline-image']);
  await everywhere('ln -sfn tapline-image/app /opt/tapline');
  const block = await updateBlock();
  const said = await sellDuring(async () => {
    assert.deepEqual(await restartEach(machines, block, ['api']), [FIRST, FIRST]);
  });
  return `image: ${said}`;
});
