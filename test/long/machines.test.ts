import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import { PRODUCTION_DELAYS } from '#testkit/simulation/chaos/chaos-ground.ts';
import {
  BACK_MS,
  CLUSTER_STEPS,
  type Cluster,
  everywhere,
  leaderOf,
  openCluster,
  PATRONICTL,
  READ_SETTINGS,
  SECRETS,
  untilWhole,
} from './machines/cluster.ts';
import { blocksUnder, DOCS } from './machines/guide.ts';
import { restoreOnce, restoreTwice } from './machines/moments.ts';
import {
  HOST_NAME,
  type Notice,
  openFrontDoor,
  openPager,
  openWayToPrimary,
  outsideSettings,
  SHARED_ADDRESS,
} from './machines/outside.ts';
import { PROGRAM as program, whyNoPooler } from './machines/pooler.ts';
import { restoreToMoment } from './machines/restore.ts';
import { Rig } from './machines/rig.ts';
import type { GuideMachine } from './machines/room.ts';
import {
  backUp,
  CA,
  type Certificates,
  checkArchive,
  installPooler,
  installTapline,
  makeCertificates,
  openToPeople,
  putCertificate,
  update,
  watchOver,
} from './machines/service.ts';
import { outage, paidOf } from './machines/strikes.ts';
import { OUTSIDE } from './machines/wires.ts';

/**
 * `npm run machines`: runs docs/ha.md word for word on three machines and a fourth one for backups,
 * from etcd to sales. Then machines fail in turn, and finally all lose power. The test fills in
 * values as an operator would. It does not cover the kernel's watchdog and systemd itself, which
 * this machine cannot provide.
 */

/** Time limit until a person is notified. */
const ALERTED_MS = 180_000;
/**
 * Time limit until a primary with a full disk is replaced: there is one WAL file per minute, and
 * the next one has no space.
 */
const REPLACED_MS = 150_000;
/** Longer than most rules wait. */
const QUIET_MS = 90_000;
const SALE_MS = 6_000;
const CLIENTS = 2;
/** Pause between sales, because three databases and nine processes share two cores. */
const PAUSE_MS = 300;
const PASSWORDS = {
  superuser: SECRETS.superuser,
  tapline: randomBytes(12).toString('hex'),
};
const MONITORING = ['prometheus', 'prometheus-alertmanager', 'prometheus-node-exporter'];
const DOCTOR = 'cd /opt/tapline && npx tapline doctor --settings /etc/tapline';

let cluster: Cluster;
let certificates: Certificates;
let door = '';
const notices: Notice[] = [];

const rig = new Rig(async ({ undo }) => {
  const opened = await openCluster(undo, MONITORING);
  if (typeof opened === 'string') return opened;
  cluster = opened;
  const port = await openWayToPrimary(undo);
  const url = `postgresql://tapline_owner:${PASSWORDS.tapline}@127.0.0.1:${port}/tapline`;
  await rig.openGround(url, { providers: 'none', delays: PRODUCTION_DELAYS });
  return null;
});

for (const [name, work] of CLUSTER_STEPS) rig.step(name, () => work(cluster));

rig.step("a running cluster is changed with the guide's commands", async () => {
  const { first } = cluster;
  const command = (await blocksUnder('ha.md', 'Test results')).at(-1) ?? '';
  await first.type(`${PATRONICTL} edit-config --force -s ttl=20 -s postgresql.use_slots=true`);
  await first.type(`${READ_SETTINGS}\n${command}`);
  const guide = await readFile(path.join(DOCS, 'backup.md'), 'utf8');
  const [, archives = ''] = /`(patronictl -c [^`]*archive_command=[^`]*)`/.exec(guide) ?? [];
  await first.type(`${PATRONICTL} edit-config --force -p archive_command=false`);
  await first.type(`${READ_SETTINGS}\n${archives}`);
  const said = await first.type(`${PATRONICTL} show-config`);
  const settings = ['ttl: 7', 'loop_wait: 1', 'retry_timeout: 3', 'use_slots: false'];
  for (const line of [...settings, 'archive_command: /usr/local/bin/tapline-pgbackrest-push %p']) {
    assert(said.includes(line), `${line} is not in ${said}`);
  }
  await untilWhole(cluster);
});

rig.step('step 7: Tapline, with its settings in three files', async () => {
  const settings = await outsideSettings(rig.ground, rig.undo);
  await installTapline(cluster, { settings, passwords: PASSWORDS });
});

rig.step('step 8: the first backup, on the machine of the repository', async () => {
  await backUp(cluster);
  const told = await cluster.backup.type('curl -sS http://127.0.0.1:9100/metrics');
  const [, ended = ''] = /^tapline_backup_completed_timestamp_seconds (\S+)$/m.exec(told) ?? [];
  assert(Date.now() / 1000 - Number(ended) < 600, `the newest backup ended at ${ended}`);
});

rig.step('step 9: people reach it by one address, and every check of doctor passes', async () => {
  const folder = path.join(rig.ground.folder, 'certificates');
  certificates = await makeCertificates(folder);
  await openToPeople(cluster, certificates);
  const { ca } = certificates;
  door = await openFrontDoor({ ca, host: SHARED_ADDRESS, servername: HOST_NAME }, rig.undo);
  const answers = () =>
    fetch(`${door}/readyz`).then(
      (response) => response.ok,
      () => false,
    );
  assert(await waitUntil(answers, BACK_MS), 'no machine has the address');
  const said = await cluster.first.type(DOCTOR, CA);
  assert.doesNotMatch(said, /\bNO\b/);
});

rig.step('step 10: no alert fires while people buy', async () => {
  const node = () => `${door}/api`;
  await rig.openShop({ node, clients: CLIENTS, writers: 1, pauseMs: PAUSE_MS });
  const { secret_key: TAPLINE_API_KEY = '', passes } = rig.sandbox.test;
  await watchOver(cluster, {
    pagerUrl: await openPager(notices, rig.undo),
    probe: {
      ...{ TAPLINE_API_KEY, TAPLINE_BASE_URL: `https://${HOST_NAME}/api` },
      TAPLINE_PROBE_PASS: String(passes.ok),
    },
  });
  await rig.books(await rig.sellFor(QUIET_MS));
  assert.deepEqual(notices, []);
  const query = 'query=up == 0';
  const command = `curl -sS --get --data-urlencode '${query}' http://127.0.0.1:9090/api/v1/query`;
  const { data } = JSON.parse(await cluster.backup.type(command));
  assert.deepEqual(data.result, [], 'Prometheus reaches all of its targets');
});

let pooled = false;

rig.step(
  'step 12: connections are moved to PgBouncer while people buy',
  async () => {
    const shop = rig.sell('report');
    await installPooler(cluster, { program, passwords: PASSWORDS });
    const said = await cluster.first.type(DOCTOR, CA);
    assert.doesNotMatch(said, /\bNO\b/);
    assert.match(said, /settings have reached the server/);
    await shop.stop();
    await rig.books(shop);
    assert.deepEqual(notices, []);
    const connections = await rig.db.query<{ readonly from: string; readonly query: string }>(
      `select host(client_addr) as from, query from pg_stat_activity
       where application_name = 'tapline' and datname = 'tapline'`,
    );
    assert(
      connections.some(({ from }) => from === '127.0.0.1'),
      'no connection comes through PgBouncer',
    );
    for (const { from, query } of connections.filter(({ from }) => from.startsWith('10.0.0.1'))) {
      // The test's own connections come from outside the machines' network.
      if (from !== OUTSIDE) assert.match(query, /^(listen|select pg_notify|copy request_log) ?/);
    }
    pooled = true;
  },
  { whyLeftOut: whyNoPooler },
);

/** Selects parts of the test: `MACHINES_PART='lights|freezes|restore'`. */
const WANTED = new RegExp(process.env.MACHINES_PART ?? '');

interface Strike {
  readonly what: string;
  readonly hit: () => Promise<unknown>;
  readonly heal: () => Promise<unknown>;
  /** The expected notification, or `null` if there must be none. */
  readonly told: { readonly receiver: 'pager' | 'tickets'; readonly name: string } | null;
}

/** Sells while a machine fails. @returns a line that describes the result. */
async function strike({ what, hit, heal, told }: Strike): Promise<string> {
  const shop = rig.sell();
  await sleep(3_000);
  const [before, since] = [notices.length, performance.now()];
  const writes = outage(shop);
  await hit();
  const isAlerted = () => notices.length > before;
  const heard = told === null || (await waitUntil(isAlerted, ALERTED_MS));
  const [first] = notices.slice(before);
  await heal();
  const seconds = await writes;
  await untilWhole(cluster);
  await shop.stop();
  await rig.books(shop);
  await checkArchive(cluster);
  assert(heard, `${what}: no alert was sent`);
  const heads = notices.slice(before).map(({ receiver, names }) => ({ receiver, names }));
  assert.deepEqual(heads, told === null ? [] : [{ receiver: told.receiver, names: [told.name] }]);
  const after =
    first === undefined ? '' : `, told after ${((first.at - since) / 1000).toFixed(0)} s`;
  return `${what}: ${shop.sales.length} sales, writes back after ${seconds.toFixed(1)} s${after}`;
}

/** Returns the machine that holds the shared address. */
async function holder(): Promise<GuideMachine> {
  for (const machine of cluster.machines) {
    if ((await machine.type('ip addr show eth0')).includes(SHARED_ADDRESS)) return machine;
  }
  throw new Error('no machine has the shared address');
}

const gone = { receiver: 'tickets', name: 'ProcessIsGone' } as const;
const each = (work: (machine: GuideMachine) => Promise<unknown>) => () => everywhere(cluster, work);
const giveCertificates = (certificate: 'good' | 'old') =>
  each(async (machine) => {
    await putCertificate(machine, certificates[certificate], certificates.key);
    await machine.type('systemctl restart caddy');
  });

/** Services between clients and the database, by unit. */
const BETWEEN = ['keepalived', 'caddy', 'haproxy', 'pgbouncer'] as const;

const STRIKES: Readonly<Record<string, () => Promise<Strike>>> = {
  ...Object.fromEntries(
    [0, 1, 2].map((index) => [
      `db${index + 1} is killed`,
      async () => {
        const { name, kill: hit, boot: heal } = cluster.machines[index] ?? cluster.first;
        return { what: `${name} killed`, hit, heal, told: gone };
      },
    ]),
  ),
  'the primary freezes and thaws': async () => {
    const { freeze: hit, thaw: heal } = (await leaderOf(cluster)).machine;
    return { what: 'frozen', hit, heal, told: gone };
  },
  'the primary is cut off and comes back': async () => {
    const { cutOff: hit, connect: heal } = (await leaderOf(cluster)).machine;
    return { what: 'cut off', hit, heal, told: gone };
  },
  'the disk of the primary is full': async () => {
    const { name, fillDisk: hit, emptyDisk } = (await leaderOf(cluster)).machine;
    const isReplaced = () =>
      leaderOf(cluster).then(
        ({ machine }) => machine.name !== name,
        () => false,
      );
    // The operator arrives late: the primary has died by then, often while archiving.
    const heal = async () => {
      await waitUntil(isReplaced, REPLACED_MS);
      await emptyDisk();
    };
    return { what: 'disk full', hit, heal, told: { receiver: 'pager', name: 'DiskIsFull' } };
  },
  'the shared address is lost': async () => {
    const struck = await holder();
    const hit = () => struck.type('systemctl stop keepalived');
    const heal = () => struck.type('systemctl start keepalived');
    return { what: 'keepalived ended', hit, heal, told: null };
  },
  'the programs between people and the database die': async () => {
    const units = pooled ? BETWEEN : BETWEEN.filter((unit) => unit !== 'pgbouncer');
    const pids = units.map((unit) => `$(cat /run/units/${unit}.service.pid)`).join(' ');
    const hit = each(({ type }) => type(`kill -9 ${pids}`));
    return { what: `${units.join(', ')} killed everywhere`, hit, heal: async () => {}, told: null };
  },
  'the certificate runs out': async () => {
    const told = { receiver: 'pager', name: 'ProbeFails' } as const;
    const [hit, heal] = [giveCertificates('old'), giveCertificates('good')];
    return { what: 'certificate run out', hit, heal, told };
  },
  'the lights of the room go out': async () => {
    const told = { receiver: 'pager', name: 'NothingAnswers' } as const;
    const [hit, heal] = [each(({ kill }) => kill()), each(({ boot }) => boot())];
    return { what: 'all killed', hit, heal, told };
  },
};

/**
 * Declares a test of an event that affects all machines.
 * @param run Returns a line that describes the result.
 */
function happens(name: string, run: () => Promise<string>): void {
  if (!WANTED.test(name)) return;
  rig.check(name, async () => {
    await untilWhole(cluster);
    return run();
  });
}

for (const [name, prepare] of Object.entries(STRIKES)) {
  happens(name, async () => strike(await prepare()));
}

/** Creating an index waits for transactions that are already open. */
const LONG_INDEX = {
  name: '9998_next_release.sql',
  sql: `-- concurrently
create index concurrently if not exists payment_intents_of_next_release
  on payment_intents (amount, created);
`,
};
const OPEN_MS = 30_000;

happens('an update with a long index fails no request', async () => {
  const before = notices.length;
  const shop = rig.sell('report');
  const holdOpen = async () => {
    const client = await rig.db.connect();
    await client.query('set idle_in_transaction_session_timeout = 0');
    await client.query('begin');
    await client.query('lock table payment_intents in row exclusive mode');
    await sleep(OPEN_MS);
    await client.query('commit');
    await client.end();
  };
  const since = performance.now();
  await update(cluster, { migration: LONG_INDEX, whileMigrating: holdOpen });
  const seconds = (performance.now() - since) / 1000;
  await shop.stop();
  await rig.books(shop);
  const [index] = await rig.db.query<{ readonly valid: boolean }>(
    `select indisvalid as valid from pg_index
     where indexrelid = 'payment_intents_of_next_release'::regclass`,
  );
  assert.equal(index?.valid, true);
  assert.deepEqual(notices.slice(before), [], 'planned work sends no alert');
  return `updated in ${seconds.toFixed(0)} s: ${shop.sales.length} sales, no request failed`;
});

const sellFor = () => rig.sellFor(SALE_MS);

async function requireOpen(): Promise<void> {
  await untilWhole(cluster);
  const after = await sellFor();
  await rig.books(after);
  assert(paidOf(after).length > 0, 'people pay again');
  await checkArchive(cluster);
}

const shown = () => ({
  ...{ db: rig.db, sellFor },
  restore: (moment: string, timeline?: number) => restoreToMoment(cluster, { moment, timeline }),
});

happens('a restore to a moment on three machines, and another one after it', async () => {
  const first = await restoreOnce(shown());
  await requireOpen();
  const second = await restoreOnce(shown());
  await requireOpen();
  return `${first}; again: ${second}`;
});

happens('a restore to a moment that was too early, then one to a later moment', async () => {
  const { timeline } = await leaderOf(cluster);
  const said = await restoreTwice(shown(), timeline);
  await requireOpen();
  return said;
});
