import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, openDatabase } from '#db/database.ts';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import type { SandboxFile } from '#sandbox/sandbox-file.ts';
import { keepSelling, type Sales } from '#testkit/fixtures/payments/sales.ts';
import {
  type ChaosGround,
  openChaosGround,
  PRODUCTION_DELAYS,
} from '#testkit/simulation/chaos/chaos-ground.ts';
import { makeShop } from '#testkit/simulation/chaos/chaos-process.ts';
import { outage, paidOf, requireWhole } from './ha/strikes.ts';
import { blockOf, blocksUnder, stepsOf } from './machines/guide.ts';
import { restoreOnce, restoreTwice } from './machines/moments.ts';
import {
  HOST_NAME,
  type Notice,
  openFrontDoor,
  openPager,
  openWayToPrimary,
  outsideSettings,
  SHARED_ADDRESS,
  type Undo,
} from './machines/outside.ts';
import { restoreToMoment } from './machines/restore.ts';
import {
  type GuideMachine,
  OUTSIDE,
  openPolls,
  type Room,
  whyNoMachines,
} from './machines/room.ts';
import {
  asOwn,
  backUp,
  type Certificates,
  checkArchive,
  edit,
  installPooler,
  installTapline,
  makeCertificates,
  openToPeople,
  prepareRepository,
  putCertificate,
  update,
  watchOver,
} from './machines/service.ts';
import { filled } from './machines/settings.ts';
import { PROGRAM as program, whyNot as whyNoPooler } from './pgbouncer/pooler.ts';

/**
 * `npm run machines`: runs docs/ha.md word for word on three machines and a fourth one for backups,
 * from etcd to sales. Then machines fail in turn, and finally all lose power. The test fills in
 * values as an operator would. It does not cover the kernel's watchdog and systemd itself, which
 * this machine cannot provide.
 */

const UP_MS = 240_000;
/** Time limit until writes resume. The guide promises ten seconds; this machine is busier. */
const BACK_MS = 60_000;
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
const word = () => randomBytes(12).toString('hex');
const SECRETS = {
  ...{ root: word(), patroni: word(), superuser: word(), rest: word(), tapline: word() },
};
const ETCD_ENV = { ROOT_PASSWORD: SECRETS.root, PATRONI_ETCD_PASSWORD: SECRETS.patroni };

let why: string | null = null;
let room: Room;
let steps: ReadonlyMap<number, readonly string[]>;
let ground: ChaosGround;
let sandbox: SandboxFile;
let certificates: Certificates;
let db: Database;
let door = '';
const notices: Notice[] = [];
const shops: Sales[] = [];
const undo: Undo = [];

before(async () => {
  steps = await stepsOf('ha.md');
  const [, packages = ''] = /apt-get install -y ([\s\S]*?[^\\])\n/.exec(blockOf(steps, 1)) ?? [];
  assert.match(packages, /patroni/);
  const monitoring = ['prometheus', 'prometheus-alertmanager', 'prometheus-node-exporter'];
  why = await whyNoMachines([...packages.split(/[\s\\]+/), ...monitoring]);
  if (why !== null) return;
  room = await openPolls();
  const own = await openChaosGround({ providers: 'none', delays: PRODUCTION_DELAYS });
  await own.database.stop();
  const port = await openWayToPrimary(undo);
  const url = `postgresql://tapline_owner:${SECRETS.tapline}@127.0.0.1:${port}/tapline`;
  ground = { ...own, database: { ...own.database, url, stop: async () => {} } };
  db = openDatabase({ url, maxConnections: 3 });
});

after(async () => {
  // Stops the shops of a failed test, which would otherwise continue to sell.
  for (const shop of shops) void shop.stop();
  for (const step of undo.reverse()) await step();
  await db?.close();
  await room?.close();
  await ground?.close();
});

function sell(onFailure: 'report' | 'repeat' = 'repeat'): Sales {
  const shop = keepSelling({
    ...{ node: () => `${door}/api`, shop: sandbox.test },
    ...{ clients: CLIENTS, writers: 1, pauseMs: PAUSE_MS, onFailure },
  });
  shops.push(shop);
  return shop;
}

const books = (shop: Sales) => requireWhole({ db, ground }, shop);

/**
 * Declares a step on which later ones depend.
 * @param whyLeftOut Set if later steps do not need it.
 */
function step(
  name: string,
  work: () => Promise<void>,
  whyLeftOut: () => Promise<string | null> = async () => null,
): void {
  test(name, async (t) => {
    const unneeded = why ?? (await whyLeftOut());
    if (unneeded !== null) return t.skip(unneeded);
    why = `"${name}" failed`;
    await work();
    why = null;
  });
}

const everywhere = (work: (machine: GuideMachine) => Promise<unknown>) =>
  Promise.all(room.machines.map(work));

function first(): GuideMachine {
  const [machine] = room.machines;
  assert(machine !== undefined);
  return machine;
}

const READ_SETTINGS = 'set -a; . /etc/patroni_env.conf; set +a';
const PATRONICTL = `${READ_SETTINGS}; patronictl -c /etc/patroni/config.yml`;
const LIST = `${PATRONICTL} list`;
const SQL = 'psql -h 127.0.0.1 -p 6500 -U postgres -d postgres -v ON_ERROR_STOP=1 -tAc';
const ask = (machine: GuideMachine, sql: string) =>
  machine.type(`timeout 8 ${SQL} "${sql}"`, { PGPASSWORD: SECRETS.superuser });

step('steps 1 and 2: packages, and what is needed at boot', async () => {
  await everywhere(async (machine) => {
    await machine.type(blockOf(steps, 1));
    const lines = blockOf(steps, 2).split('\n');
    // Skips `modprobe`, because no kernel module can be loaded here.
    await machine.type(lines.filter((line) => !/modprobe softdog|^ls /.test(line)).join('\n'));
  });
});

step('step 3: certificates', async () => {
  await first().type(blockOf(steps, 3));
  const tls = path.join(first().root, 'root/tls');
  await everywhere(async ({ name, root, type }) => {
    for (const [folder, owner] of [
      ['etc/etcd/tls', 'etcd'],
      ['etc/patroni/tls', 'postgres'],
    ] as const) {
      await type(`install -d -m 0750 -o ${owner} /${folder}`);
      for (const [from, to] of [
        ['ca.pem', 'ca.pem'],
        [`${name}.pem`, 'machine.pem'],
        [`${name}.key`, 'machine.key'],
      ] as const) {
        await writeFile(path.join(root, folder, to), await readFile(path.join(tls, from)));
        await type(`chown ${owner} /${folder}/${to} && chmod 0600 /${folder}/${to}`);
      }
    }
  });
});

step('step 4: etcd with TLS and users refuses clients without a password', async () => {
  await everywhere(async (machine) => {
    await machine.type('install -m 0644 deploy/ha/etcd.env.example /etc/default/etcd');
    await edit(machine, 'etc/default/etcd', (text) => asOwn(machine, text));
  });
  await everywhere((machine) => machine.type(blockOf(steps, 4, 0)));
  await sleep(5_000);
  const said = await first().type(blockOf(steps, 4, 1), ETCD_ENV);
  assert.match(said, /cluster is healthy/);
  const setUp = blockOf(steps, 4, 1).split('\n').slice(0, 2).join('\n');
  await assert.rejects(first().type(`${setUp}\netcdctl ls /`), /auth|credentials|permission/i);
  const asPatroni = `etcdctl --username patroni:${SECRETS.patroni} set /tapline/try yes`;
  assert.match(await first().type(`${setUp}\n${asPatroni}`), /yes/);
});

const PATRONI = {
  PATRONI_ETCD_PASSWORD: SECRETS.patroni,
  PATRONI_SUPERUSER_PASSWORD: SECRETS.superuser,
  PATRONI_REPLICATION_PASSWORD: SECRETS.superuser,
  PATRONI_RESTAPI_PASSWORD: SECRETS.rest,
};

step('step 5: Patroni makes one cluster of them', async () => {
  await prepareRepository(room);
  const lines = blockOf(steps, 5).split('\n');
  const begins = lines.findIndex((line) => line.startsWith('systemctl'));
  const [install, start, look] = [
    lines.slice(0, begins),
    lines.slice(begins, begins + 1),
    lines.slice(begins + 1),
  ];
  await everywhere(async (machine) => {
    await machine.type(install.join('\n'));
    await edit(machine, 'etc/patroni_env.conf', (text) => filled(asOwn(machine, text), PATRONI));
    // Switches off the watchdog, which this machine lacks; the rest of the file is unchanged.
    const off = (text: string) => text.replace('mode: required', 'mode: "off"');
    await edit(machine, 'etc/patroni/config.yml', off);
    await machine.type(start.join('\n'));
  });
  assert.match(look.join(), /patronictl/);
  let said = '';
  const isWhole = async () => {
    said = await first()
      .type(look.join('\n'))
      .catch((error) => String(error.stderr ?? error));
    return /Leader/.test(said) && /Sync Standby/.test(said) && said.match(/db\d/g)?.length === 3;
  };
  assert(await waitUntil(isWhole, UP_MS), said);
});

step('step 6: HAProxy leads to the primary from each machine', async () => {
  await everywhere(async (machine) => {
    await machine.type(blockOf(steps, 6));
    // Before its first checks, HAProxy treats every server as the primary.
    await sleep(2_000);
    const sees = () =>
      ask(machine, 'select not pg_is_in_recovery()').then(
        (text) => text.trim() === 't',
        () => false,
      );
    assert(await waitUntil(sees, BACK_MS), machine.name);
  });
});

step("a running cluster is changed with the guide's commands", async () => {
  const command = (await blocksUnder('ha.md', 'Test results')).at(-1) ?? '';
  await first().type(`${PATRONICTL} edit-config --force -s ttl=20 -s postgresql.use_slots=true`);
  await first().type(`${READ_SETTINGS}\n${command}`);
  const guide = await readFile(path.join(import.meta.dirname, '../../docs/backup.md'), 'utf8');
  const [, archives = ''] = /`(patronictl -c [^`]*archive_command=[^`]*)`/.exec(guide) ?? [];
  await first().type(`${PATRONICTL} edit-config --force -p archive_command=false`);
  await first().type(`${READ_SETTINGS}\n${archives}`);
  const said = await first().type(`${PATRONICTL} show-config`);
  const settings = ['ttl: 7', 'loop_wait: 1', 'retry_timeout: 3', 'use_slots: false'];
  for (const line of [...settings, 'archive_command: /usr/local/bin/tapline-pgbackrest-push %p']) {
    assert(said.includes(line), `${line} is not in ${said}`);
  }
  await untilWhole();
});

step('step 7: Tapline, with its settings in three files', async () => {
  await installTapline(room, steps, {
    settings: await outsideSettings(ground, undo),
    passwords: { superuser: SECRETS.superuser, tapline: SECRETS.tapline },
  });
});

step('step 8: the first backup, on the machine of the repository', async () => {
  await backUp(room);
  const told = await room.backup.type('curl -sS http://127.0.0.1:9100/metrics');
  const [, ended = ''] = /^tapline_backup_completed_timestamp_seconds (\S+)$/m.exec(told) ?? [];
  assert(Date.now() / 1000 - Number(ended) < 600, `the newest backup ended at ${ended}`);
});

step('step 9: people reach it by one address, and every check of doctor passes', async () => {
  const folder = path.join(ground.folder, 'certificates');
  certificates = await makeCertificates(folder);
  await openToPeople(room, steps, certificates);
  const { ca } = certificates;
  door = await openFrontDoor({ ca, host: SHARED_ADDRESS, servername: HOST_NAME }, undo);
  const answers = () =>
    fetch(`${door}/readyz`).then(
      (response) => response.ok,
      () => false,
    );
  assert(await waitUntil(answers, BACK_MS), 'no machine has the address');
  const doctor = 'cd /opt/tapline && npx tapline doctor --settings /etc/tapline';
  const said = await first().type(doctor, { NODE_EXTRA_CA_CERTS: '/etc/tapline/ca.pem' });
  assert.doesNotMatch(said, /\bNO\b/);
});

step('step 10: no alert fires while people buy', async () => {
  sandbox = await makeShop(ground);
  const { secret_key: TAPLINE_API_KEY = '', passes } = sandbox.test;
  await watchOver(room, steps, {
    pagerUrl: await openPager(notices, undo),
    probe: {
      ...{ TAPLINE_API_KEY, TAPLINE_BASE_URL: `https://${HOST_NAME}/api` },
      TAPLINE_PROBE_PASS: String(passes.ok),
    },
  });
  const shop = sell();
  await sleep(QUIET_MS);
  await shop.stop();
  await books(shop);
  assert.deepEqual(notices, []);
  const query = 'query=up == 0';
  const asked = `curl -sS --get --data-urlencode '${query}' http://127.0.0.1:9090/api/v1/query`;
  const { data } = JSON.parse(await room.backup.type(asked));
  assert.deepEqual(data.result, [], 'Prometheus reaches all of its targets');
});

let pooled = false;

step(
  'step 12: connections are moved to PgBouncer while people buy',
  async () => {
    const shop = sell('report');
    const { superuser, tapline } = SECRETS;
    await installPooler(room, steps, { program, passwords: { superuser, tapline } });
    const doctor = 'cd /opt/tapline && npx tapline doctor --settings /etc/tapline';
    const said = await first().type(doctor, { NODE_EXTRA_CA_CERTS: '/etc/tapline/ca.pem' });
    assert.doesNotMatch(said, /\bNO\b/);
    assert.match(said, /settings have reached the server/);
    await shop.stop();
    await books(shop);
    assert.deepEqual(notices, []);
    const connections = await db.query<{ readonly from: string; readonly query: string }>(
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
  whyNoPooler,
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

/** Waits for one leader, two followers, and Tapline on each machine. */
async function untilWhole(): Promise<void> {
  let said = '';
  const isWhole = async () => {
    const [machine] = room.machines;
    said = (await machine?.type(LIST).catch((error) => String(error.stderr ?? error))) ?? '';
    return (
      /Leader/.test(said) &&
      (said.match(/(Sync Standby|Replica) +\| (running|streaming)/g) ?? []).length === 2
    );
  };
  assert(await waitUntil(isWhole, UP_MS), said);
}

/** Sells while a machine fails. @returns a line that describes the result. */
async function strike({ what, hit, heal, told }: Strike): Promise<string> {
  const shop = sell();
  await sleep(3_000);
  const [before, since] = [notices.length, performance.now()];
  const writes = outage(shop);
  await hit();
  const isAlerted = () => notices.length > before;
  const heard = told === null || (await waitUntil(isAlerted, ALERTED_MS));
  const [first] = notices.slice(before);
  await heal();
  const seconds = await writes;
  await untilWhole();
  await shop.stop();
  await books(shop);
  await checkArchive(room);
  assert(heard, `${what}: no alert was sent`);
  const heads = notices.slice(before).map(({ receiver, names }) => ({ receiver, names }));
  assert.deepEqual(heads, told === null ? [] : [{ receiver: told.receiver, names: [told.name] }]);
  const after =
    first === undefined ? '' : `, told after ${((first.at - since) / 1000).toFixed(0)} s`;
  return `${what}: ${shop.sales.length} sales, writes back after ${seconds.toFixed(1)} s${after}`;
}

/** Returns the leading machine, according to Patroni. */
async function leader(): Promise<GuideMachine> {
  const said = await first().type(LIST);
  const [, name] = /^\| (db\d) .*Leader/m.exec(said) ?? [];
  const found = room.machines.find((machine) => machine.name === name);
  assert(found !== undefined, said);
  return found;
}

/** Returns the machine that holds the shared address. */
async function holder(): Promise<GuideMachine> {
  for (const machine of room.machines) {
    if ((await machine.type('ip addr show eth0')).includes(SHARED_ADDRESS)) return machine;
  }
  throw new Error('no machine has the shared address');
}

const gone = { receiver: 'tickets', name: 'ProcessIsGone' } as const;
const each = (work: (machine: GuideMachine) => Promise<unknown>) => () => everywhere(work);
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
        const { name, kill: hit, boot: heal } = room.machines[index] ?? first();
        return { what: `${name} killed`, hit, heal, told: gone };
      },
    ]),
  ),
  'the primary freezes and thaws': async () => {
    const { freeze: hit, thaw: heal } = await leader();
    return { what: 'frozen', hit, heal, told: gone };
  },
  'the primary is cut off and comes back': async () => {
    const { cutOff: hit, connect: heal } = await leader();
    return { what: 'cut off', hit, heal, told: gone };
  },
  'the disk of the primary is full': async () => {
    const { name, fillDisk: hit, emptyDisk } = await leader();
    const isReplaced = () =>
      leader().then(
        (one) => one.name !== name,
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
  test(name, async (t) => {
    if (why !== null) return t.skip(why);
    await untilWhole();
    t.diagnostic(await run());
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
  const shop = sell('report');
  const holdOpen = async () => {
    const client = await db.connect();
    await client.query('set idle_in_transaction_session_timeout = 0');
    await client.query('begin');
    await client.query('lock table payment_intents in row exclusive mode');
    await sleep(OPEN_MS);
    await client.query('commit');
    await client.end();
  };
  const since = performance.now();
  await update(room, { migration: LONG_INDEX, whileMigrating: holdOpen });
  const seconds = (performance.now() - since) / 1000;
  await shop.stop();
  await books(shop);
  const [index] = await db.query<{ readonly valid: boolean }>(
    `select indisvalid as valid from pg_index
     where indexrelid = 'payment_intents_of_next_release'::regclass`,
  );
  assert.equal(index?.valid, true);
  assert.deepEqual(notices.slice(before), [], 'planned work sends no alert');
  return `updated in ${seconds.toFixed(0)} s: ${shop.sales.length} sales, no request failed`;
});

/** Sells for a few seconds. */
async function sellFor(): Promise<Sales> {
  const shop = sell();
  await sleep(SALE_MS);
  await shop.stop();
  return shop;
}

async function requireOpen(): Promise<void> {
  await untilWhole();
  const after = await sellFor();
  await books(after);
  assert(paidOf(after).length > 0, 'people pay again');
}

const shown = () => ({
  ...{ db, sellFor },
  restore: (moment: string, timeline?: string) =>
    restoreToMoment(room, { moment, timeline, untilFollowed: untilWhole }),
});

happens('a restore to a moment on three machines, and another one after it', async () => {
  const first = await restoreOnce(shown());
  await requireOpen();
  await checkArchive(room);
  const second = await restoreOnce(shown());
  await requireOpen();
  return `${first}; again: ${second}`;
});

happens('a restore to a moment that was too early, then one to a later moment', async () => {
  const { name } = await leader();
  const [, timeline = ''] =
    new RegExp(`${name} .*Leader .*running +\\| +(\\d+)`).exec(await first().type(LIST)) ?? [];
  const said = await restoreTwice(shown(), timeline);
  await requireOpen();
  await checkArchive(room);
  return said;
});
