import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cp, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import { PRODUCTION_DELAYS } from '#testkit/simulation/chaos/chaos-ground.ts';
import { deployByGuide } from './machines/contract.ts';
import { type Engine, openEngine, whyNoEngine } from './machines/engine.ts';
import { blocksUnder, linesOf } from './machines/guide.ts';
import { restoreOnce } from './machines/moments.ts';
import { HOST_NAME, openFrontDoor, outsideSettings } from './machines/outside.ts';
import { EXAMPLE_MOMENT } from './machines/restore.ts';
import { Rig } from './machines/rig.ts';
import { type Certificates, makeCertificates } from './machines/service.ts';
import { fillSettings } from './machines/settings.ts';
import { outage, paidOf } from './machines/strikes.ts';
import { VERSIONS } from './release/next.ts';

/**
 * Runs "Containers on one machine" of docs/deploy.md and docs/backup.md word for word on a machine
 * with only a container engine: first start, sales, an update during sales, a power failure, and a
 * restore to a point in time.
 *
 * `TAPLINE_TEST_RELEASE` names the folder of candidates that `release.test.ts` has kept. Then the
 * test runs the files and images of the first one, updates to the next one, and goes back.
 */

const ROOT = path.join(import.meta.dirname, '../..');
const PASSWORD = randomBytes(12).toString('hex');
const UP_MS = 240_000;
const SALE_MS = 6_000;
/** The folder of candidates. If empty, images are built from this tree. */
const { TAPLINE_TEST_RELEASE: kept = '' } = process.env;
const [FIRST, NEXT] = VERSIONS;
const run = promisify(execFile);

let engine: Engine;
let target = '';
let block = '';
let certificates: Certificates;

/** Publishes the database's port for the test, and lets services use the test's certificates. */
const override = () => `services:
  database:
    ports: ["5432:5432"]
  caddy:
    volumes: ["./signed:/signed:ro"]
  init:
    extra_hosts: ["${HOST_NAME}:${engine.address}"]
    environment:
      NODE_EXTRA_CA_CERTS: /signed/ca.pem
    volumes: ["./signed:/signed:ro"]
`;

const rig = new Rig(async ({ undo }) => {
  const why = (await whyNoEngine()) ?? (await whyNoImages());
  if (why !== null) return why;
  engine = await openEngine(undo);
  const url = `postgresql://tapline:${PASSWORD}@${engine.address}:5432/tapline`;
  await rig.openGround(url, { providers: 'none', delays: PRODUCTION_DELAYS });
  if (kept === '') {
    const tree = path.join(engine.folder, 'tapline');
    await run('git', ['clone', '-q', ROOT, tree]);
    target = path.join(tree, 'deploy/container');
  } else {
    target = path.join(engine.folder, 'srv/tapline');
    await mkdir(path.dirname(target));
    const [first = ''] = await releaseBlocks();
    await typeRelease(first, FIRST);
  }
  [block = ''] = await blocksUnder('deploy.md', 'Containers on one machine');
  return null;
});

async function whyNoImages(): Promise<string | null> {
  if (kept === '') return null;
  const image = path.join(kept, NEXT, `tapline-image-${NEXT}.tar`);
  const isThere = await stat(image).catch(() => null);
  return isThere === null ? `${image} is missing: no engine answered when it was made` : null;
}

const inFolder = (commands: string) => engine.type(commands, { cwd: target });

/**
 * Returns the guide's commands for a release's container files: the first release's, then the next
 * one's.
 */
async function releaseBlocks(): Promise<readonly string[]> {
  const [, ...blocks] = await blocksUnder('deploy.md', "A release's files");
  assert.equal(blocks.length, 2);
  return blocks;
}

/** Runs these commands in the folder of the release's files. */
async function typeRelease(commands: string, version: string): Promise<void> {
  const files = path.join(engine.folder, version);
  await cp(path.join(path.resolve(kept), version), files, { recursive: true });
  const own = commands
    .replaceAll(/\b1\.\d\.0\b/g, version)
    .replaceAll('/srv/', `${engine.folder}/srv/`);
  await engine.type(own, { cwd: files });
}

/** Names a release's image in `.env`. */
const useImage = (version: string) =>
  edited('.env', /^TAPLINE_IMAGE=.*$/m, () => `TAPLINE_IMAGE=tapline:${version}`);

/** Edits a file as a person would; the example text must exist. */
async function edited(name: string, example: string | RegExp, change: (line: string) => string) {
  const file = path.join(target, name);
  const text = await readFile(file, 'utf8');
  const changed = text.replace(example, change);
  assert.notEqual(changed, text, `${name} does not say ${example}`);
  await writeFile(file, changed);
}

/** Runs the guide's lines that match. */
const typed = (expected: RegExp) => inFolder(linesOf(block, expected));

/** Runs the guide's command for one of the two chains. @returns the settings that it prints. */
async function deployContract(
  settings: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, string>>> {
  const command = linesOf(block, /chain-command\.ts deploy/).replace('run ', 'run -T ');
  const deployed = await deployByGuide(rig.ground, settings, (key, options) =>
    inFolder(`echo ${key} | ${command.replace('…', options)}`),
  );
  rig.ground = deployed.ground;
  return deployed.printed;
}

rig.step('init makes the files of settings, and says what is missing', async () => {
  await typed(/^cp env\.example/);
  for (const name of ['POSTGRES_PASSWORD=', 'TAPLINE_OWNER_PASSWORD=', 'TAPLINE_APP_PASSWORD=']) {
    await edited('.env', name, (line) => line + PASSWORD);
  }
  await writeFile(path.join(target, 'compose.override.yaml'), override());
  certificates = await makeCertificates(path.join(target, 'signed'));
  await edited('Caddyfile', '{$TAPLINE_HOST} {', (line) =>
    [line, '\ttls /signed/good.pem /signed/key.pem'].join('\n'),
  );
  await (kept === '' ? typed(/^docker compose build/) : useImage(FIRST));
  const said = await inFolder(`(${firstInit()}\n) 2>&1 || true`);
  assert.match(said, /\bNO\b/, said);
  for (const name of ['tapline.env', 'worker.env', 'registrar.env']) {
    const { mode } = await stat(path.join(target, name));
    assert.equal(mode & 0o777, 0o600, name);
  }
});

const firstInit = () => linesOf(block, /run --rm init/).split('\n')[0] ?? '';

rig.step('a whole network starts, and every check of init passes', async () => {
  // compose.yaml sets the database.
  const { DATABASE_URL: _, ...settings } = await outsideSettings(rig.ground, rig.undo);
  await fillSettings(target, { ...settings, ...(await deployContract(settings)) });
  await typed(/^docker compose up -d/);
  let said = '';
  const isWhole = async () => {
    said = await inFolder(`(${firstInit()}\n) 2>&1`).catch(
      (error) => error.stdout ?? String(error),
    );
    return !/\bNO\b/.test(said);
  };
  assert(await waitUntil(isWhole, UP_MS), said);
  const operator = linesOf(block, /create-operator/)
    .split('\n')
    .join(' ');
  const made = operator.replace('exec worker', 'exec -T worker');
  assert.match(await inFolder(`echo 'a long password of Otto' | ${made}`), /otto@example\.com/);
});

rig.step('people buy over https', async () => {
  const front = { ca: certificates.ca, host: engine.address, servername: HOST_NAME };
  const door = await openFrontDoor(front, rig.undo);
  await rig.openShop({ node: () => `${door}/api`, clients: 2, writers: 1 });
  const shop = await rig.sellFor(SALE_MS, 'report');
  await rig.books(shop);
  return `${paidOf(shop).length} sales`;
});

interface Update {
  readonly build: string;
  readonly migrate: string;
  /** Each service with the command that replaces it, in order. */
  readonly services: readonly (readonly [service: string, up: string])[];
}

/** Returns the commands of the guide's update section. */
async function readUpdate(): Promise<Update> {
  const guide = await readFile(path.join(ROOT, 'docs/deploy.md'), 'utf8');
  const [text = ''] = /^Update: `docker compose build`[\s\S]*?\n\n/m.exec(guide) ?? [];
  const [build = '', migrate = '', up = '', ...others] = [...text.matchAll(/`([^`]+)`/g)].map(
    ([, code]) => (code ?? '').replaceAll('\n', ' '),
  );
  const names = [...up.split(' ').slice(-1), ...others];
  assert.deepEqual(names, ['api-1', 'api-2', 'worker', 'registrar']);
  const services = names.map((name) => [name, up.replace(/\S+$/, name)] as const);
  return { build, migrate, services };
}

const ASK =
  "fetch('http://127.0.0.1:9464/readyz').then(async (r)=>console.log((await r.json()).version))";

async function untilHealthy(container: string): Promise<void> {
  const ask = `docker ps --filter name=${container} --filter health=healthy --quiet`;
  assert(await waitUntil(async () => (await inFolder(ask)).trim() !== '', UP_MS), container);
}

/** Replaces one service after the other. @returns the releases that then run. */
async function replaceServices({ services }: Update): Promise<readonly string[]> {
  const [, second = ''] = await blocksUnder('deploy.md', 'Containers on one machine');
  const versions: string[] = [];
  for (const [service, up] of services) {
    if (service === 'worker') {
      await inFolder(linesOf(second, /^docker compose run/));
      await untilHealthy('worker-2');
    }
    await inFolder(up);
    await untilHealthy(`tapline-${service}-1`);
    if (service === 'worker') await inFolder(linesOf(second, /^docker stop/));
    versions.push((await inFolder(`docker compose exec -T ${service} node -e "${ASK}"`)).trim());
  }
  return versions;
}

/**
 * Installs the next program: an image built from this tree with one more migration, or the next
 * release.
 */
async function takeNext({ build }: Update): Promise<void> {
  if (kept === '') {
    const migration = path.join(target, '../../migrations/9998_next_release.sql');
    await writeFile(migration, 'create table of_next_release (id bigint primary key);\n');
    await inFolder(build);
    return;
  }
  const [, next = ''] = await releaseBlocks();
  await typeRelease(next, NEXT);
  await useImage(NEXT);
}

rig.step('no request fails during an update', async () => {
  const update = await readUpdate();
  const shop = rig.sell('report');
  await takeNext(update);
  await inFolder(update.migrate);
  const versions = await replaceServices(update);
  await shop.stop();
  await rig.books(shop);
  if (kept !== '') assert.deepEqual(versions, Array(4).fill(NEXT));
  const [row] = await rig.db.query<{ readonly there: boolean }>(
    `select to_regclass('of_next_release') is not null
       or to_regclass('payment_intents_of_migration') is not null as there`,
  );
  assert.equal(row?.there, true);
  return `updated: ${shop.sales.length} sales, no request failed`;
});

if (kept !== '') {
  rig.step('no request fails on the way back to the image before', async () => {
    await useImage(FIRST);
    const shop = rig.sell('report');
    assert.deepEqual(await replaceServices(await readUpdate()), Array(4).fill(FIRST));
    await shop.stop();
    await rig.books(shop);
    return `back: ${shop.sales.length} sales, no request failed`;
  });
}

rig.step('after a power failure everything restarts by itself', async () => {
  const shop = rig.sell();
  await sleep(SALE_MS);
  const writes = outage(shop);
  await engine.kill();
  await engine.boot();
  const seconds = await writes;
  await shop.stop();
  await rig.books(shop);
  return `power cut: ${shop.sales.length} sales, writes back after ${seconds.toFixed(0)} s`;
});

rig.step("a restore to a moment, by the guide's commands", async () => {
  const [text = ''] = await blocksUnder('backup.md', 'Containers on one machine');
  assert(text.includes(EXAMPLE_MOMENT), 'the restore names no moment');
  await inFolder(linesOf(text, /once/).replace('exec ', 'exec -T '));
  const said = await restoreOnce({
    db: rig.db,
    // Payments stay blocked until the ledger is complete.
    sellFor: () => rig.sellFor(SALE_MS),
    restore: async (moment) => {
      await inFolder(linesOf(text, /compose (stop|run|up)/).replace(EXAMPLE_MOMENT, moment));
    },
  });
  await rig.books(await rig.sellFor(SALE_MS));
  return said;
});
