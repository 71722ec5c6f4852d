import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sales } from '#testkit/fixtures/payments/sales.ts';
import {
  CLUSTER_STEPS,
  type Cluster,
  leaderOf,
  openCluster,
  PATRONICTL,
  SECRETS,
  untilWhole,
} from './machines/cluster.ts';
import { openWayToPrimary } from './machines/outside.ts';
import { Rig } from './machines/rig.ts';
import type { GuideMachine } from './machines/room.ts';
import { outage } from './machines/strikes.ts';

/**
 * `npm run ha`: runs two API and two worker processes on the cluster of docs/ha.md. They sell
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
const PID = 'head -1 /var/lib/postgresql/15/tapline/postmaster.pid';

/** Copying WAL over ssh would take the cores on which the standbys follow a new primary. */
const WITHOUT_ARCHIVE =
  '-p archive_command=/bin/true -s postgresql.recovery_conf.restore_command=/bin/false';

let cluster: Cluster;

const rig = new Rig(async ({ undo }) => {
  const opened = await openCluster(undo);
  if (typeof opened === 'string') return opened;
  cluster = opened;
  for (const [, work] of CLUSTER_STEPS) await work(cluster);
  await cluster.first.type(`${PATRONICTL} edit-config --force ${WITHOUT_ARCHIVE}`);
  const port = await openWayToPrimary(undo);
  const url = `postgresql://postgres:${SECRETS.superuser}@127.0.0.1:${port}/postgres`;
  await rig.openGround(url);
  await rig.openShop({ node: () => nextNode(), clients: CLIENTS, writers: 1 });
  const nextNode = await rig.startNodes(['api', 'api', 'worker', 'worker']);
  return null;
});

interface RecoveryRow {
  readonly reason: string | null;
  readonly loss_shown: boolean;
  readonly payments: number;
}

/** Summarizes the sales and the newest recovery. */
async function told(shop: Sales): Promise<string> {
  const tapped = shop.sales.filter(({ status }) => status !== null);
  const paid = tapped.filter(({ status }) => status === 'succeeded').length;
  const [row] = await rig.db.query<RecoveryRow>(
    'select reason, loss_shown, payments from network_recoveries where not livemode',
  );
  const shown = row?.loss_shown === true ? 'a loss was shown' : 'no loss was shown';
  const booked = `${shown}, ${row?.payments ?? 0} booked`;
  const opened = shop.sales.length - tapped.length;
  const sold = `${opened} orders, ${tapped.length} sales, ${paid} paid`;
  return `${sold}, newest recovery (${row?.reason ?? 'none'}): ${booked}`;
}

const words = (seconds: readonly number[]) => seconds.map((one) => one.toFixed(1)).join(', ');

rig.check(
  'no primary is replaced while nothing fails',
  async () => {
    const before = await leaderOf(cluster);
    const shop = await rig.sellFor(SOAK_MS);
    const after = await leaderOf(cluster);
    assert.equal(after.timeline, before.timeline, 'a primary was replaced');
    assert.equal(after.machine.name, before.machine.name);
    await rig.books(shop);
    return `${SOAK_MS / 60_000} minutes without a failover: ${await told(shop)}`;
  },
  { timeout: SOAK_TIMEOUT_MS },
);

rig.check('the primary machine is killed, again and again', async () => {
  const shop = rig.sell();
  await sleep(3_000);
  const outages: number[] = [];
  for (let kill = 0; kill < KILLS; kill++) {
    const { machine } = await leaderOf(cluster);
    await machine.kill();
    outages.push(await outage(shop));
    await machine.boot();
    await untilWhole(cluster);
  }
  await shop.stop();
  await rig.books(shop);
  const median = outages.toSorted((a, b) => a - b)[outages.length >> 1] ?? Infinity;
  assert.ok(median <= BACK_SECONDS, `writes were back after ${median.toFixed(1)} s`);
  const all = await told(shop);
  return `machine killed ${KILLS} times: ${all}; writes back after s: ${words(outages)}`;
});

/**
 * Sells while something happens to the primary.
 * @param strike Strikes and heals it. Returns the seconds until writes were back.
 */
async function sellThrough(
  what: string,
  strike: (struck: GuideMachine, shop: Sales) => Promise<number>,
): Promise<string> {
  const shop = rig.sell();
  await sleep(2_000);
  const seconds = await strike((await leaderOf(cluster)).machine, shop);
  await untilWhole(cluster);
  await shop.stop();
  await rig.books(shop);
  return `${what}: ${await told(shop)}; writes back after s: ${words([seconds])}`;
}

rig.check('PostgreSQL alone is killed on the primary', () =>
  sellThrough('server killed', async ({ type }, shop) => {
    await type(`kill -9 $(${PID})`);
    return outage(shop);
  }),
);

rig.check('the primary machine freezes and thaws, without a watchdog', () =>
  sellThrough('machine frozen', async (struck, shop) => {
    await struck.freeze();
    const [seconds] = await Promise.all([outage(shop), sleep(FROZEN_MS)]);
    await struck.thaw();
    await sleep(5_000);
    return seconds;
  }),
);

rig.check('the primary machine loses its network and returns', () =>
  sellThrough('machine cut off', async (struck, shop) => {
    await struck.cutOff();
    const seconds = await outage(shop);
    await struck.connect();
    return seconds;
  }),
);

rig.check("the primary's disk is full", () =>
  sellThrough('disk full', async (struck, shop) => {
    await struck.fillDisk();
    const freed = sleep(FULL_MS).then(() => struck.emptyDisk());
    const [seconds] = await Promise.all([outage(shop), freed]);
    return seconds;
  }),
);
