import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Database, openDatabase } from '#db/database.ts';
import { waitUntil } from '#sandbox/processes.ts';
import type { SandboxFile } from '#sandbox/sandbox-file.ts';
import {
  type ChaosGround,
  openChaosGround,
  PRODUCTION_DELAYS,
} from '#testing/chaos/chaos-ground.ts';
import { makeDemo } from '#testing/chaos/chaos-process.ts';
import { keepSelling, type Sales } from '#testing/sales.ts';
import { ADDRESS, type Engine, OUTSIDE, openEngine, whyNoEngine } from './compose/engine.ts';
import { outage, paidOf, requireWhole } from './ha/strikes.ts';
import { deployByGuide } from './machines/contract.ts';
import { blocksUnder, linesOf } from './machines/guide.ts';
import { restoreOnce } from './machines/moments.ts';
import { HOST_NAME, openFrontDoor, outsideSettings, type Undo } from './machines/outside.ts';
import { type Certificates, makeCertificates } from './machines/service.ts';
import { fillSettings } from './machines/settings.ts';

/**
 * Runs "Containers on one machine" of docs/deploy.md and docs/backup.md word for word on a machine
 * with only a container engine: first start, sales, an update meanwhile, a power failure, and a
 * restore to a point in time.
 */

const ROOT = path.join(import.meta.dirname, '../..');
const PASSWORD = randomBytes(12).toString('hex');
const UP_MS = 240_000;
const SALE_MS = 6_000;
const run = promisify(execFile);

let why: string | null = null;
let engine: Engine;
let place = '';
let block = '';
let ground: ChaosGround;
let db: Database;
let sandbox: SandboxFile;
let certificates: Certificates;
let door = '';
const shops: Sales[] = [];
const undo: Undo = [];

/** Services from outside the machine, and the test's own access to the database. */
const OVERRIDE = `services:
  database:
    ports: ["5432:5432"]
  caddy:
    volumes: ["./signed:/signed:ro"]
  init:
    extra_hosts: ["${HOST_NAME}:${ADDRESS}"]
    environment:
      NODE_EXTRA_CA_CERTS: /signed/ca.pem
    volumes: ["./signed:/signed:ro"]
`;

before(async () => {
  why = await whyNoEngine();
  if (why !== null) return;
  engine = await openEngine();
  undo.push(engine.close);
  const own = await openChaosGround({ providers: 'none', delays: PRODUCTION_DELAYS });
  undo.push(own.close);
  await own.database.stop();
  const url = `postgresql://tapline:${PASSWORD}@${ADDRESS}:5432/tapline`;
  ground = { ...own, database: { ...own.database, url, stop: async () => {} } };
  db = openDatabase({ url, maxConnections: 3 });
  undo.push(db.close);
  place = path.join(engine.folder, 'tapline');
  await run('git', ['clone', '-q', ROOT, place]);
  [block = ''] = await blocksUnder('deploy.md', 'Containers on one machine');
});

after(async () => {
  for (const shop of shops) void shop.stop();
  for (const step of undo.reverse()) await step();
});

/** Declares a step on which later ones depend. */
function step(name: string, work: () => Promise<string | undefined>): void {
  test(name, async (t) => {
    if (why !== null) return t.skip(why);
    why = `"${name}" failed`;
    const said = await work();
    if (said !== undefined) t.diagnostic(said);
    why = null;
  });
}

const ourFolder = () => path.join(place, 'deploy/container');
const inFolder = (commands: string) => engine.type(commands, { cwd: ourFolder() });

/** Edits a file as a person would; the example text must exist. */
async function edited(name: string, example: string, change: (line: string) => string) {
  const file = path.join(ourFolder(), name);
  const text = await readFile(file, 'utf8');
  assert(text.includes(example), `${name} does not say ${example}`);
  await writeFile(file, text.replace(example, change));
}

/** Lines of the guide. */
const typed = (wanted: RegExp) => inFolder(linesOf(block, wanted));

/** Runs the guide's command for one of the two chains. @returns the settings that it prints. */
async function deployContract(
  settings: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, string>>> {
  const command = linesOf(block, /chain-command\.ts deploy/).replace('run ', 'run -T ');
  const deployed = await deployByGuide(ground, settings, (key, options) =>
    inFolder(`echo ${key} | ${command.replace('…', options)}`),
  );
  ground = deployed.ground;
  return deployed.printed;
}

function sell(onFailure: 'report' | 'repeat'): Sales {
  const { secret_key: secretKey, device_key: deviceKey, terminal, passes } = sandbox.test;
  const shop = keepSelling({
    ...{ node: () => `${door}/api`, secretKey, deviceKey, terminal, pass: String(passes.ok) },
    ...{ clients: 2, writers: 1, onFailure },
  });
  shops.push(shop);
  return shop;
}

async function sellFor(onFailure: 'report' | 'repeat'): Promise<Sales> {
  const shop = sell(onFailure);
  await sleep(SALE_MS);
  await shop.stop();
  return shop;
}

const books = (shop: Sales) => requireWhole({ db, ground }, shop);

step('init makes the files of settings, and says what is missing', async () => {
  await typed(/^cp env\.example/);
  for (const name of ['POSTGRES_PASSWORD=', 'TAPLINE_OWNER_PASSWORD=', 'TAPLINE_APP_PASSWORD=']) {
    await edited('.env', name, (line) => line + PASSWORD);
  }
  await writeFile(path.join(ourFolder(), 'compose.override.yaml'), OVERRIDE);
  certificates = await makeCertificates(path.join(ourFolder(), 'signed'));
  await edited('Caddyfile', '{$TAPLINE_HOST} {', (line) =>
    [line, '\ttls /signed/good.pem /signed/key.pem'].join('\n'),
  );
  await typed(/^docker compose build/);
  const said = await inFolder(`(${firstInit()}\n) 2>&1 || true`);
  assert.match(said, /\bNO\b/, said);
  for (const name of ['tapline.env', 'worker.env', 'registrar.env']) {
    const { mode } = await stat(path.join(ourFolder(), name));
    assert.equal(mode & 0o777, 0o600, name);
  }
});

const firstInit = () => linesOf(block, /run --rm init/).split('\n')[0] ?? '';

step('a whole network starts, and every check of init passes', async () => {
  // compose.yaml sets the database.
  const { DATABASE_URL: _, ...settings } = await outsideSettings(ground, undo, OUTSIDE);
  await fillSettings(ourFolder(), { ...settings, ...(await deployContract(settings)) });
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

step('people buy over https', async () => {
  const made = await makeDemo(ground);
  await made.stop();
  sandbox = made.sandbox;
  const { ca } = certificates;
  door = await openFrontDoor({ ca, host: ADDRESS, servername: HOST_NAME }, undo);
  const shop = await sellFor('report');
  await books(shop);
  return `${paidOf(shop).length} sales`;
});

step('no request fails during an update', async () => {
  const migration = path.join(place, 'migrations/9998_next_release.sql');
  await writeFile(migration, 'create table of_next_release (id bigint primary key);\n');
  const [text = ''] = (await readFile(path.join(ROOT, 'docs/deploy.md'), 'utf8')).match(
    /^Update: `docker compose build`[\s\S]*?\n\n/m,
  ) ?? [''];
  const [build = '', migrate = '', up = '', ...services] = [...text.matchAll(/`([^`]+)`/g)].map(
    ([, code]) => (code ?? '').replaceAll('\n', ' '),
  );
  const [first] = up.split(' ').slice(-1);
  assert.deepEqual([first, ...services], ['api-1', 'api-2', 'worker', 'registrar']);
  const shop = sell('report');
  await inFolder(build);
  await inFolder(migrate);
  for (const service of [first ?? '', ...services]) {
    await inFolder(up.replace(/\S+$/, service));
    const isHealthy = async () =>
      /\(healthy\)/.test(await inFolder(`docker compose ps ${service}`));
    assert(await waitUntil(isHealthy, UP_MS), service);
  }
  await shop.stop();
  await books(shop);
  const [row] = await db.query<{ readonly there: boolean }>(
    `select to_regclass('of_next_release') is not null as there`,
  );
  assert.equal(row?.there, true);
  return `updated: ${shop.sales.length} sales, no request failed`;
});

step('after a power failure everything restarts by itself', async () => {
  const shop = sell('repeat');
  await sleep(SALE_MS);
  const writes = outage(shop);
  await engine.kill();
  await engine.boot();
  const seconds = await writes;
  await shop.stop();
  await books(shop);
  return `power cut: ${shop.sales.length} sales, writes back after ${seconds.toFixed(0)} s`;
});

step("a restore to a moment, by the guide's commands", async () => {
  const [text = ''] = await blocksUnder('backup.md', 'Containers on one machine');
  const example = '2026-11-20 20:00:00+00';
  assert(text.includes(example), 'the restore names no moment');
  await inFolder(linesOf(text, /once/).replace('exec ', 'exec -T '));
  const said = await restoreOnce({
    db,
    // Payments stay blocked until the ledger is complete.
    sellFor: () => sellFor('repeat'),
    restore: async (moment) => {
      await inFolder(linesOf(text, /compose (stop|run|up)/).replace(example, moment));
    },
  });
  await books(await sellFor('repeat'));
  return said;
});
