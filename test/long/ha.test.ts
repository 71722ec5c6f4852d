import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, openDatabase } from '#db/database.ts';
import type { SandboxFile } from '#sandbox/sandbox-file.ts';
import { keepSelling, type Sales } from '#testkit/fixtures/payments/sales.ts';
import { type ChaosGround, openChaosGround } from '#testkit/simulation/chaos/chaos-ground.ts';
import {
  type ChaosProcess,
  makeShop,
  startChaosProcess,
} from '#testkit/simulation/chaos/chaos-process.ts';
import { type Cluster, type Machine, openCluster, whyNot } from './ha/machines.ts';
import { outage, requireWhole } from './ha/strikes.ts';

/**
 * `npm run ha`: runs two API and two worker processes on the cluster of deploy/ha. They sell
 * continuously while its primary is killed, is frozen, loses the network, and runs out of disk
 * space.
 */

const KILLS = Number(process.env.HA_KILLS ?? '5');
const CLIENTS = 6;
/** Longer than Patroni's ttl, so that another machine leads when the frozen one resumes. */
const FROZEN_MS = 20_000;
/**
 * Time in which a person reacts to the alert, because the cluster does not fail over from a full
 * disk.
 */
const FULL_MS = 60_000;
/** Duration without faults. Use `HA_SOAK_MINUTES=60` for an hour. */
const SOAK_MS = 60_000 * Number(process.env.HA_SOAK_MINUTES ?? '5');
/** Includes time for the comparison afterwards. */
const SOAK_TIMEOUT_MS = SOAK_MS + 600_000;
/** Median time until writes resume after a primary's machine is lost. */
const BACK_SECONDS = 10;

let why: string | null = null;
let cluster: Cluster;
let ground: ChaosGround;
let db: Database;
let sandbox: SandboxFile;
let processes: ChaosProcess[] = [];
const shops: Sales[] = [];

before(async () => {
  why = await whyNot();
  if (why !== null) return;
  cluster = await openCluster();
  const own = await openChaosGround();
  await own.database.stop();
  ground = { ...own, database: { ...own.database, url: cluster.url, stop: async () => {} } };
  sandbox = await makeShop(ground);
  db = openDatabase({ url: cluster.url, maxConnections: 3 });
  const wanted = [
    ...[{ name: 'api one', role: 'api' } as const, { name: 'api two', role: 'api' } as const],
    { name: 'worker one', role: 'worker' } as const,
    { name: 'worker two', role: 'worker' } as const,
  ];
  for (const one of wanted) processes.push(await startChaosProcess(ground, one));
});

after(async () => {
  if (why !== null) return;
  // Stops the shops of a failed test, which would otherwise continue to sell.
  for (const shop of shops) void shop.stop();
  await Promise.all(processes.map((one) => one.close()));
  processes = [];
  await db?.close();
  await cluster?.close();
  await ground?.close();
});

function sell(): Sales {
  const urls = processes.flatMap(({ url }) => url ?? []);
  let turn = 0;
  const shop = keepSelling({
    node: () => urls[turn++ % urls.length] ?? '',
    shop: sandbox.test,
    clients: CLIENTS,
    writers: 1,
    onFailure: 'repeat',
  });
  shops.push(shop);
  return shop;
}

async function leader(): Promise<Machine> {
  const found = await cluster.primary();
  assert(found !== null, 'the cluster has no leader');
  return found;
}

const books = (shop: Sales) => requireWhole({ db, ground }, shop);

interface RecoveryRow {
  readonly reason: string | null;
  readonly loss_shown: boolean;
  readonly payments: number;
}

/** Summarizes the sales and the newest recovery. */
async function told(shop: Sales): Promise<string> {
  const tapped = shop.sales.filter(({ status }) => status !== null);
  const paid = tapped.filter(({ status }) => status === 'succeeded').length;
  const [row] = await db.query<RecoveryRow>(
    'select reason, loss_shown, payments from network_recoveries where not livemode',
  );
  const shown = row?.loss_shown === true ? 'a loss was shown' : 'no loss was shown';
  const booked = `${shown}, ${row?.payments ?? 0} booked`;
  const opened = shop.sales.length - tapped.length;
  const sold = `${opened} orders, ${tapped.length} sales, ${paid} paid`;
  return `${sold}, newest recovery (${row?.reason ?? 'none'}): ${booked}`;
}

const words = (seconds: readonly number[]) => seconds.map((one) => one.toFixed(1)).join(', ');

test('no primary is replaced while nothing fails', { timeout: SOAK_TIMEOUT_MS }, async (t) => {
  if (why !== null) return t.skip(why);
  const leads = await leader();
  const before = await cluster.timeline();
  const shop = sell();
  await sleep(SOAK_MS);
  await shop.stop();
  assert.equal(await cluster.timeline(), before, 'a primary was replaced');
  assert.equal((await leader()).name, leads.name);
  await books(shop);
  t.diagnostic(`${SOAK_MS / 60_000} minutes without a failover: ${await told(shop)}`);
});

test('the primary machine is killed, again and again', async (t) => {
  if (why !== null) return t.skip(why);
  const shop = sell();
  await sleep(3_000);
  const outages: number[] = [];
  for (let kill = 0; kill < KILLS; kill++) {
    const struck = await leader();
    await struck.kill();
    outages.push(await outage(shop));
    await struck.start();
    await cluster.whole();
  }
  await shop.stop();
  await books(shop);
  const all = await told(shop);
  t.diagnostic(`machine killed ${KILLS} times: ${all}; writes back after s: ${words(outages)}`);
  const median = outages.toSorted((a, b) => a - b)[outages.length >> 1] ?? Infinity;
  assert.ok(median <= BACK_SECONDS, `writes were back after ${median.toFixed(1)} s`);
});

/**
 * Sells while something happens to the primary.
 * @param strike Strikes and heals it. Returns the seconds until writes were back.
 */
async function sellThrough(
  t: TestContext,
  what: string,
  strike: (struck: Machine, shop: Sales) => Promise<number>,
): Promise<void> {
  if (why !== null) return t.skip(why);
  const shop = sell();
  await sleep(2_000);
  const seconds = await strike(await leader(), shop);
  await cluster.whole();
  await shop.stop();
  await books(shop);
  t.diagnostic(`${what}: ${await told(shop)}; writes back after s: ${words([seconds])}`);
}

test('PostgreSQL alone is killed on the primary', (t) =>
  sellThrough(t, 'server killed', async (struck, shop) => {
    await struck.killServer();
    return outage(shop);
  }));

test('the primary machine freezes and thaws, without a watchdog', (t) =>
  sellThrough(t, 'machine frozen', async (struck, shop) => {
    await struck.freeze();
    const [seconds] = await Promise.all([outage(shop), sleep(FROZEN_MS)]);
    await struck.thaw();
    await sleep(5_000);
    return seconds;
  }));

test('the primary machine loses its network and returns', (t) =>
  sellThrough(t, 'machine cut off', async (struck, shop) => {
    await struck.cutOff();
    const seconds = await outage(shop);
    await struck.connect();
    return seconds;
  }));

test("the primary's disk is full", (t) =>
  sellThrough(t, 'disk full', async (struck, shop) => {
    await struck.fillDisk();
    const freed = sleep(FULL_MS).then(() => struck.emptyDisk());
    const [seconds] = await Promise.all([outage(shop), freed]);
    return seconds;
  }));
