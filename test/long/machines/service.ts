import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import { sh } from '../shell-commands.ts';
import type { Cluster } from './cluster.ts';
import { blockOf, blocksUnder, linesOf } from './guide.ts';
import { HOST_NAME, SHARED_ADDRESS } from './outside.ts';
import type { GuideMachine, Room } from './room.ts';
import { fillSettings, settingsIn, withSettings } from './settings.ts';

/**
 * Steps 7 to 12 of docs/ha.md and the sections that they refer to, as an operator would run them.
 */

const ROOT = path.join(import.meta.dirname, '../../..');
const READY_MS = 180_000;
const POSTGRES_KEY = 'var/lib/postgresql/.ssh';
const BACKUP_KEY = 'var/lib/pgbackrest/.ssh';
/** Validity of the test's certificates in days. */
const DAYS = 90;
/** The repository's path on each machine. */
const REPOSITORY = '/srv/tapline.git';
/** Number of WAL files of 16 MB that fit in 4 GB. */
const FILES_OF_LOG = 256;
const run = promisify(execFile);

export async function edit(machine: GuideMachine, file: string, change: (text: string) => string) {
  const target = path.join(machine.root, file);
  const text = await readFile(target, 'utf8').catch(() => '');
  await writeFile(target, change(text));
}

/** Replaces the example's texts; each must exist. */
function filled(text: string, changes: readonly (readonly [string, string])[]): string {
  return changes.reduce((sum, [from, to]) => {
    assert(sum.includes(from), `nothing says ${from}`);
    return sum.replaceAll(from, to);
  }, text);
}

/** Runs "Under Patroni" of docs/backup.md up to the first backup, before PostgreSQL starts. */
export async function prepareRepository({ machines, backup }: Room): Promise<void> {
  const [onBackup = '', onEach = '', each = '', all = ''] = await blocksUnder(
    'backup.md',
    'Under Patroni',
  );
  await backup.type(onBackup.replace('CHANGE-ME', 'a phrase of the test'));
  for (const machine of machines) await machine.type(onEach);
  const publicKey = ({ root }: GuideMachine, folder: string) =>
    readFile(path.join(root, folder, 'id_ed25519.pub'), 'utf8');
  const trusted = async (machine: GuideMachine, folder: string, owner: string, keys: string) => {
    await edit(machine, path.join(folder, 'authorized_keys'), (text) => text + keys);
    await machine.type(`chown ${owner}: /${folder}/authorized_keys`);
    await machine.type('systemctl enable --now ssh');
  };
  const keys = await Promise.all(machines.map((machine) => publicKey(machine, POSTGRES_KEY)));
  await trusted(backup, BACKUP_KEY, 'pgbackrest', keys.join(''));
  const own = await publicKey(backup, BACKUP_KEY);
  for (const machine of machines) await trusted(machine, POSTGRES_KEY, 'postgres', own);
  for (const machine of machines) await machine.type(each);
  await backup.type(all);
}

/** Sets up the first backup, the schedule, and the metric of the newest backup's age. */
export async function backUp({ backup }: Room): Promise<void> {
  const [, , , , first = ''] = await blocksUnder('backup.md', 'Under Patroni');
  await backup.type('systemctl enable --now prometheus-node-exporter');
  await backup.type(first);
}

/**
 * Requires that the leader's WAL reaches the repository without a gap.
 * @throws with `pg_stat_archiver` of each machine.
 */
export async function checkArchive({ machines, backup }: Room): Promise<void> {
  const check = 'runuser -u pgbackrest -- pgbackrest --stanza=tapline --archive-timeout=30 check';
  try {
    await backup.type(check);
  } catch (error) {
    const ask = "runuser -u postgres -- psql -xc 'select * from pg_stat_archiver' || true";
    const said = await Promise.all(machines.map(({ type }) => type(ask)));
    throw new Error(said.join('\n'), { cause: error });
  }
  const files = await backup.type("find /var/lib/pgbackrest/archive -type f -printf '%f\\n'");
  const names = [...files.matchAll(/^[0-9A-F]{8}([0-9A-F]{8})([0-9A-F]{8})-[0-9a-f]{40}/gm)];
  const numbers = new Set(
    names.map(([, log = '', part = '']) => FILES_OF_LOG * parseInt(log, 16) + parseInt(part, 16)),
  );
  const newest = Math.max(...numbers);
  for (let n = Math.min(...numbers); n < newest; n++) {
    assert(numbers.has(n), `the archive has no file ${n} of the log: ${files}`);
  }
}

interface Passwords {
  readonly superuser: string;
  readonly tapline: string;
}

/** Runs step 7. `settings` are the operator's own values and this network's chains. */
export async function installTapline(
  { steps, first, machines, backup }: Cluster,
  {
    settings,
    passwords,
  }: { readonly settings: Readonly<Record<string, string>>; readonly passwords: Passwords },
): Promise<void> {
  const { superuser: PGPASSWORD, tapline: TAPLINE_DATABASE_PASSWORD } = passwords;
  await first.type(blockOf(steps, 7, 0), { PGPASSWORD, TAPLINE_DATABASE_PASSWORD });
  const [systemd = ''] = await blocksUnder('deploy.md', 'systemd');
  await run('git', ['clone', '--bare', '-q', ROOT, path.join(first.root, REPOSITORY)]);
  await first.typeOnline(linesOf(systemd, /^git clone/).replace('…', REPOSITORY));
  const [init = ''] = await blocksUnder('deploy.md', 'Settings in three files');
  const [make = ''] = init.split('\n');
  // The settings check reports NO for every empty value.
  await first.type(`${linesOf(systemd, /^install -d/)}\ncd /opt/tapline\n(${make}\n) || true`);
  const guided = settingsIn(blockOf(steps, 7, 1), passwords.tapline);
  await fillSettings(path.join(first.root, 'etc/tapline'), { ...settings, ...guided });
  await first.type(blockOf(steps, 7, 2));
  await copyTo(first, backup, ['opt/tapline*']);
  await backup.type(`cd /opt/tapline\n${linesOf(systemd, /^cp |daemon-reload/)}`);
  await startTapline(machines);
}

/**
 * Starts what the first machine has in /opt/tapline and /etc/tapline, on all machines.
 * @returns the releases that then run
 */
export async function startTapline(machines: readonly GuideMachine[]): Promise<readonly string[]> {
  const [systemd = ''] = await blocksUnder('deploy.md', 'systemd');
  const [first, ...others] = machines;
  assert(first !== undefined);
  for (const machine of others) await copyTo(first, machine, ['opt/tapline*', 'etc/tapline']);
  for (const { type } of machines) {
    await type(`cd /opt/tapline\n${linesOf(systemd, /^cp |daemon-reload|now tapline@api/)}`);
  }
  await first.type(linesOf(systemd, /enable --now tapline@registrar/));
  return eachReady(machines, ROLES);
}

/** Copies files and folders, which may be patterns, to the same folder of another machine. */
export async function copyTo(from: GuideMachine, to: GuideMachine, places: readonly string[]) {
  for (const target of places) {
    const folder = path.join(to.root, path.dirname(target));
    await sh(`mkdir -p ${folder} && cp -a ${path.join(from.root, target)} ${folder}`);
  }
}

/** Runs "Update" of docs/deploy.md, to this program with one more migration, during sales. */
export async function update(
  { machines, first }: Cluster,
  {
    migration,
    whileMigrating,
  }: {
    readonly migration: { readonly name: string; readonly sql: string };
    whileMigrating(): Promise<unknown>;
  },
): Promise<void> {
  const block = await updateBlock();
  await first.typeOnline(linesOf(block, /^git clone/).replace('…', REPOSITORY));
  const release = 'opt/tapline-1.1.0';
  await writeFile(path.join(first.root, release, 'migrations', migration.name), migration.sql);
  for (const machine of machines.slice(1)) await copyTo(first, machine, [release]);
  for (const machine of machines) await machine.type(linesOf(block, /^(ln|cp) /));
  await Promise.all([first.type(linesOf(block, /tapline-migrate/)), whileMigrating()]);
  await restartEach(machines, block);
}

/** Returns the commands of "Update" in docs/deploy.md. */
export const updateBlock = async () => (await blocksUnder('deploy.md', 'systemd')).at(-1) ?? '';

/** The port on which each role reports readiness. The registrar runs on the first machine only. */
const PORTS = { api: 9464, worker: 9465, registrar: 9466 } as const;
type Role = keyof typeof PORTS;
const ROLES: readonly Role[] = ['api', 'worker', 'registrar'];

/** Restarts one process at a time, by a guide's lines. @returns the releases that then run. */
export const restartEach = (machines: readonly GuideMachine[], block: string, roles = ROLES) =>
  eachReady(machines, roles, ({ type }, role) =>
    type(linesOf(block, new RegExp(`restart tapline@${role}`))),
  );

/** Waits for one process after the other. @returns the releases that run. */
async function eachReady(
  machines: readonly GuideMachine[],
  roles: readonly Role[],
  start: (machine: GuideMachine, role: Role) => Promise<unknown> = async () => {},
): Promise<readonly string[]> {
  const versions: string[] = [];
  for (const role of roles) {
    for (const machine of role === 'registrar' ? machines.slice(0, 1) : machines) {
      await start(machine, role);
      versions.push(await untilReady(machine, role));
    }
  }
  return versions;
}

/** Runs step 12. PostgreSQL's own packages cannot be fetched, so `program` replaces them. */
export async function installPooler(
  { machines, first, steps }: Cluster,
  { program, passwords }: { readonly program: string; readonly passwords: Passwords },
): Promise<void> {
  const PGPASSWORD = passwords.superuser;
  for (const { root, type } of machines) {
    await copyFile(program, path.join(root, 'usr/sbin/pgbouncer'));
    await type(linesOf(blockOf(steps, 12, 0), /--version/));
  }
  await first.type(blockOf(steps, 12, 1), { PGPASSWORD });
  for (const { type } of machines) await type(blockOf(steps, 12, 2), { PGPASSWORD });
  const settings = settingsIn(blockOf(steps, 12, 3), passwords.tapline);
  for (const machine of machines) {
    await edit(machine, 'etc/tapline/tapline.env', (text) => withSettings(text, settings));
  }
  await restartEach(machines, await updateBlock());
}

/** Waits until a process is ready. @returns its release. */
async function untilReady(machine: GuideMachine, role: Role): Promise<string> {
  let said = '';
  const isReady = async () => {
    said = await machine
      .type(`curl -sS -w "%{http_code}" --max-time 3 http://127.0.0.1:${PORTS[role]}/readyz`)
      .catch((error) => String(error.stderr ?? error));
    return said.endsWith('200');
  };
  if (await waitUntil(isReady, READY_MS)) return JSON.parse(said.slice(0, -3)).version;
  const logs = await machine.type('tail -n 20 /var/log/tapline@*.log');
  throw new Error(`${machine.name} is not ready (${role}): ${said}\n${logs}`);
}

export interface Certificates {
  /** The authority that signed them. */
  readonly ca: string;
  readonly key: string;
  readonly good: string;
  /** An expired certificate. */
  readonly old: string;
}

/** Creates certificates of a test authority, in place of a public one. */
export async function makeCertificates(folder: string): Promise<Certificates> {
  await mkdir(folder);
  const type = (commands: string) => run('bash', ['-euc', commands], { cwd: folder });
  const fresh = '-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes';
  await type(
    `openssl req -x509 ${fresh} -days ${DAYS} -subj /CN=authority -keyout ca.key -out ca.pem
     openssl req ${fresh} -subj /CN=${HOST_NAME} -keyout key.pem -out req.csr
     echo subjectAltName=DNS:${HOST_NAME} > ext
     for one in good:${DAYS} old:0; do
       openssl x509 -req -in req.csr -CA ca.pem -CAkey ca.key -CAcreateserial -extfile ext \\
         -days "\${one#*:}" -out "\${one%:*}.pem"
     done`,
  );
  const read = (file: string) => readFile(path.join(folder, file), 'utf8');
  const [ca, key, good, old] = await Promise.all(
    ['ca.pem', 'key.pem', 'good.pem', 'old.pem'].map(read),
  );
  assert(ca !== undefined && key !== undefined && good !== undefined && old !== undefined);
  return { ca, key, good, old };
}

/**
 * Runs step 9: Caddy and keepalived on each machine, and the certificate where all three can read
 * it.
 */
export async function openToPeople(
  { machines, backup, steps }: Cluster,
  certificates: Certificates,
): Promise<void> {
  const block = blockOf(steps, 9);
  for (const machine of [...machines, backup]) {
    await nameDoor(machine, SHARED_ADDRESS, certificates);
  }
  for (const [index, machine] of machines.entries()) {
    await putCertificate(machine, certificates.good, certificates.key);
    await machine.type(linesOf(block, /restart\.conf|daemon-reload|install .*keepalived\.conf /));
    await edit(machine, 'etc/keepalived/keepalived.conf', (text) =>
      filled(text, [['    priority 103', `    priority ${103 - index}`]]),
    );
    await machine.type(linesOf(block, /enable --now keepalived|install .*Caddyfile/));
    await edit(machine, 'etc/caddy/Caddyfile', (text) =>
      filled(text, [
        ['pay.example.com {', 'pay.example.com {\n\ttls /etc/caddy/pay.pem /etc/caddy/pay.key'],
      ]),
    );
    // Debian's package enables the unit.
    await machine.type(`systemctl enable caddy\n${linesOf(block, /restart caddy/)}`);
  }
}

/** Makes the host name lead to this address, and gives the authority's certificate to `CA`. */
export async function nameDoor(machine: GuideMachine, address: string, { ca }: Certificates) {
  // The machines have no DNS.
  await edit(machine, 'etc/hosts', (text) => `${text}\n${address} ${HOST_NAME}\n`);
  await mkdir(path.join(machine.root, 'etc/tapline'), { recursive: true });
  await edit(machine, 'etc/tapline/ca.pem', () => ca);
}

/** Lets a program trust that authority. */
export const CA = { NODE_EXTRA_CA_CERTS: '/etc/tapline/ca.pem' };

export async function putCertificate(machine: GuideMachine, certificate: string, key: string) {
  const folder = path.join(machine.root, 'etc/caddy');
  await writeFile(path.join(folder, 'pay.pem'), certificate);
  await writeFile(path.join(folder, 'pay.key'), key);
  await chmod(path.join(folder, 'pay.key'), 0o640);
  await machine.type('chown caddy /etc/caddy/pay.key');
}

/**
 * Runs step 10: the probe, Prometheus and Alertmanager, with pages and tickets sent to `pagerUrl`.
 */
export async function watchOver(
  { machines, first, backup, steps }: Cluster,
  {
    pagerUrl,
    probe,
  }: { readonly pagerUrl: string; readonly probe: Readonly<Record<string, string>> },
): Promise<void> {
  const block = blockOf(steps, 10);
  const targets = [
    ...machines.flatMap(({ address }) => [9464, 9465].map((port) => `${address}:${port}`)),
    `${first.address}:9466`,
  ];
  await backup.type(linesOf(block, /^(apt-get|install .*prometheus)/));
  // Debian's package starts the unit.
  for (const machine of machines) {
    await machine.type('systemctl enable --now prometheus-node-exporter');
  }
  const nodes = [...machines, backup].map(({ address }) => `"${address}:9100"`).join(', ');
  await edit(backup, 'etc/prometheus/prometheus.yml', (text) =>
    filled(text, [
      ['"127.0.0.1:9100"', nodes],
      ['"127.0.0.1:4243", "127.0.0.1:4244"', targets.map((one) => `"${one}"`).join(', ')],
    ]),
  );
  await edit(backup, 'etc/prometheus/alertmanager.yml', (text) =>
    filled(text, [
      ['https://pager.example.com/alertmanager', pagerUrl],
      // Sends tickets to the test, too.
      [
        'email_configs: [{ to: operators@example.com, send_resolved: true }]',
        `webhook_configs: [{ url: "${pagerUrl}", send_resolved: true }]`,
      ],
    ]),
  );
  await edit(backup, 'etc/tapline/probe.env', () =>
    Object.entries({ ...probe, ...CA })
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  );
  await backup.type('systemctl enable prometheus prometheus-alertmanager');
  await backup.type(linesOf(block, /^(systemctl|install .*probe)/));
}
