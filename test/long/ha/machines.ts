import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import { missingProgram, sh } from '../shell-commands.ts';
import { startProxy } from './proxy.ts';

/**
 * Three machines simulated on one: each is a network namespace with its own address and a small
 * disk (tmpfs), running Debian's etcd, Patroni and PostgreSQL with the files of deploy/ha. Each can
 * be cut off, killed or frozen like a machine.
 */

const HA = path.join(import.meta.dirname, '../../../deploy/ha');
const PROGRAMS = ['ip', 'patroni', 'etcd', 'haproxy', 'setpriv', 'mount'];
const PACKAGES = 'patroni python3-etcd etcd-server haproxy postgresql';
const SUBNET = '10.98.42';
const BRIDGE = 'tlha';
/** Room for an hour's WAL in addition to the retained WAL. */
const DISK = '3g';
const LOG_KEPT = '512MB';
/** A cluster takes about 20 s to start on a busy machine. */
const UP_MS = 180_000;

/** Returns why the cluster cannot run here, or `null`. */
export async function whyNot(): Promise<string | null> {
  if (process.getuid?.() !== 0) return 'network namespaces need root';
  const missing = await missingProgram(PROGRAMS);
  if (missing !== null) return `${missing} is not installed (Debian: apt install ${PACKAGES})`;
  if ((await sh('ls -d /usr/lib/postgresql/*/bin').catch(() => '')) === '') {
    return `PostgreSQL is not installed (Debian: apt install ${PACKAGES})`;
  }
  const made = await sh('ip netns add tlha-try && ip netns del tlha-try').catch(() => null);
  return made === null ? 'network namespaces are forbidden here' : null;
}

export interface Machine {
  readonly name: string;
  readonly address: string;
  /** Sends SIGKILL to every process on the machine. */
  kill(): Promise<void>;
  /** Starts etcd and Patroni (again). */
  start(): Promise<void>;
  freeze(): Promise<void>;
  thaw(): Promise<void>;
  /** Cuts the network in both directions. */
  cutOff(): Promise<void>;
  connect(): Promise<void>;
  fillDisk(): Promise<void>;
  emptyDisk(): Promise<void>;
  /** Kills PostgreSQL only, so that Patroni notices. */
  killServer(): Promise<void>;
}

export interface Cluster {
  readonly machines: readonly Machine[];
  /** The primary, through HAProxy. */
  readonly url: string;
  /** The standbys, through HAProxy. */
  readonly readUrl: string;
  /** The primary according to Patroni; `null` while there is none. */
  primary(): Promise<Machine | null>;
  /** The database's timeline, which grows with each failover. */
  timeline(): Promise<number>;
  /** Waits until one machine leads and the others follow. */
  whole(): Promise<void>;
  close(): Promise<void>;
}

interface Secrets {
  readonly superuser: string;
  readonly replication: string;
}

/** Parses `NAME=value` lines. */
function parse(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => /^[A-Z]/.test(line));
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
}

/**
 * Settings to leave out, because one bridge on one machine needs no certificates and no etcd users.
 */
const OF_TLS = /CERT|KEY_FILE|CA_FILE|PATRONI_ETCD_(PROTOCOL|CACERT|CERT|KEY|USERNAME|PASSWORD)$/;

/** Returns the settings of an example file with this cluster's addresses and names. */
async function settingsOf(file: string, number: number): Promise<Record<string, string>> {
  const text = await readFile(path.join(HA, file), 'utf8');
  const moved = text
    .replaceAll('10.0.0.1', `${SUBNET}.1`)
    .replace(/^(\w*NAME)=db1$/m, `$1=db${number}`)
    .replaceAll(/^(\w+)=(.*)$/gm, (line, name: string) =>
      /HOSTS$|INITIAL_CLUSTER$/.test(name) ? line : line.replaceAll('.11:', `.1${number}:`),
    );
  const settings = Object.entries(parse(moved.replaceAll('https://', 'http://')));
  return Object.fromEntries(settings.filter(([name]) => !OF_TLS.test(name)));
}

async function prepareFolder(root: string, name: string): Promise<string> {
  const folder = path.join(root, name);
  await mkdir(path.join(folder, 'disk'), { recursive: true });
  await sh(`mount -t tmpfs -o size=${DISK},mode=0755 tmpfs ${folder}/disk`);
  await mkdir(path.join(folder, 'run'));
  await mkdir(path.join(folder, 'etcd'), { mode: 0o700 });
  const config = (await readFile(path.join(HA, 'patroni.yml'), 'utf8'))
    .replace(
      'unix_socket_directories: /var/run/postgresql',
      `unix_socket_directories: ${folder}/run`,
    )
    .replace('pgpass: /tmp/pgpass-patroni', `pgpass: ${folder}/run/pgpass`)
    .replace('wal_keep_size: 2GB', `wal_keep_size: ${LOG_KEPT}`)
    // Off, because this cluster has no backup repository.
    .replace('archive_mode: "on"', 'archive_mode: "off"')
    // Off, because there is no watchdog here; the test measures the loss without one.
    .replace('mode: required', 'mode: "off"');
  await writeFile(path.join(folder, 'patroni.yml'), config);
  await sh(`chown -R postgres:postgres ${folder}`);
  return folder;
}

interface Wire {
  readonly namespace: string;
  readonly outside: string;
}

async function connectWire(name: string, address: string): Promise<Wire> {
  const wire = { namespace: `tlha-${name}`, outside: `tlha${name}` };
  const { namespace, outside } = wire;
  await sh(
    [
      `ip netns add ${namespace}`,
      `ip link add ${outside} type veth peer name eth0 netns ${namespace}`,
      `ip link set ${outside} master ${BRIDGE} up`,
      `ip netns exec ${namespace} ip link set lo up`,
      `ip netns exec ${namespace} ip addr add ${address}/24 dev eth0`,
      `ip netns exec ${namespace} ip link set eth0 up`,
    ].join(' && '),
  );
  return wire;
}

async function openMachine(root: string, number: number, secrets: Secrets): Promise<Machine> {
  const name = `db${number}`;
  const address = `${SUBNET}.1${number}`;
  const folder = await prepareFolder(root, name);
  const { namespace, outside } = await connectWire(name, address);
  const etcd = await settingsOf('etcd.env.example', number);
  const patroni = await settingsOf('machine.env.example', number);
  const bin = (await sh('ls -d /usr/lib/postgresql/*/bin | tail -1')).trim();
  const env = {
    PATH: process.env.PATH ?? '',
    LC_ALL: 'C.UTF-8',
    ...etcd,
    ...patroni,
    ETCD_DATA_DIR: path.join(folder, 'etcd'),
    PATRONI_POSTGRESQL_DATA_DIR: path.join(folder, 'disk/data'),
    PATRONI_POSTGRESQL_BIN_DIR: bin,
    PATRONI_SUPERUSER_PASSWORD: secrets.superuser,
    PATRONI_REPLICATION_PASSWORD: secrets.replication,
    PATRONI_RESTAPI_PASSWORD: secrets.superuser,
  };
  const launch = async (program: string, args: readonly string[]) => {
    const log = await open(path.join(folder, `${program}.log`), 'a');
    const as = ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups'];
    const command = ['netns', 'exec', namespace, ...as, program, ...args];
    const options = { env, cwd: folder, detached: true } as const;
    const child = spawn('ip', command, { ...options, stdio: ['ignore', log.fd, log.fd] });
    child.unref();
    await log.close();
  };
  const pids = async () => (await sh(`ip netns pids ${namespace}`)).split('\n').filter(Boolean);
  const signal = async (which: string, chosen: readonly string[]) => {
    if (chosen.length > 0) await sh(`kill -${which} ${chosen.join(' ')} 2>/dev/null || true`);
  };
  return {
    name,
    address,
    kill: async () => signal('KILL', await pids()),
    start: async () => {
      await launch('etcd', []);
      await launch('patroni', [path.join(folder, 'patroni.yml')]);
    },
    freeze: async () => signal('STOP', await pids()),
    thaw: async () => signal('CONT', await pids()),
    cutOff: async () => void (await sh(`ip link set ${outside} down`)),
    connect: async () => void (await sh(`ip link set ${outside} up`)),
    fillDisk: async () =>
      void (await sh(`dd if=/dev/zero of=${folder}/disk/full bs=1M status=none || true`)),
    emptyDisk: async () => rm(path.join(folder, 'disk/full'), { force: true }),
    killServer: async () => {
      const file = path.join(folder, 'disk/data/postmaster.pid');
      const [pid = ''] = (await readFile(file, 'utf8')).split('\n');
      await signal('KILL', [pid]);
    },
  };
}

/** Removes the remains of earlier runs and killed tests. */
async function clean(root: string | null): Promise<void> {
  for (const number of [1, 2, 3]) {
    const namespace = `tlha-db${number}`;
    await sh(`ip netns pids ${namespace} | xargs -r kill -9`).catch(() => {});
    await sh(`ip netns del ${namespace}`).catch(() => {});
    await sh(`ip link del tlhadb${number}`).catch(() => {});
    if (root !== null) await sh(`umount -l ${root}/db${number}/disk`).catch(() => {});
  }
  await sh(`ip link del ${BRIDGE}`).catch(() => {});
  if (root !== null) await rm(root, { recursive: true, force: true });
}

/** Returns the response of the machine's Patroni, or `null` if it did not arrive in time. */
async function askPatroni({ address }: Machine, about: string) {
  try {
    const signal = AbortSignal.timeout(3_000);
    const answer = await fetch(`http://${address}:8008/${about}`, { signal });
    return { ok: answer.ok, text: await answer.text() };
  } catch {
    return null;
  }
}

async function isPrimary(machine: Machine): Promise<boolean> {
  return (await askPatroni(machine, 'primary'))?.ok === true;
}

interface Member {
  readonly role: string;
  readonly state: string;
  readonly timeline?: number;
}

async function membersOf(machine: Machine): Promise<Member[]> {
  const answer = await askPatroni(machine, 'cluster');
  return answer === null ? [] : ((JSON.parse(answer.text) as { members?: Member[] }).members ?? []);
}

/** Returns the last lines of each machine's Patroni log. */
async function newestLogs(root: string): Promise<string> {
  return sh(`tail -n 15 ${root}/db*/patroni.log | cut -c1-200`).catch(String);
}

export async function openCluster(): Promise<Cluster> {
  await clean(null);
  const root = await mkdtemp(path.join(tmpdir(), 'tapline-ha-'));
  await sh(`chmod 755 ${root}`);
  await sh(`ip link add ${BRIDGE} type bridge && ip addr add ${SUBNET}.1/24 dev ${BRIDGE}`);
  await sh(`ip link set ${BRIDGE} up`);
  const word = () => randomBytes(12).toString('hex');
  const secrets = { superuser: word(), replication: word() };
  const machines: Machine[] = [];
  for (const number of [1, 2, 3]) machines.push(await openMachine(root, number, secrets));
  const proxy = await startProxy(SUBNET);
  const primary = async () => {
    const answers = await Promise.all(machines.map(isPrimary));
    return machines.find((_, index) => answers[index]) ?? null;
  };
  const whole = async () => {
    const isWhole = async () => {
      const leader = await primary();
      if (leader === null) return false;
      const members = await membersOf(leader);
      const following = members.filter(({ state }) => /^(running|streaming)$/.test(state));
      return following.length === 3 && members.some(({ role }) => role === 'sync_standby');
    };
    if (await waitUntil(isWhole, UP_MS)) return;
    throw new Error(`no whole cluster:\n${await newestLogs(root)}`);
  };
  const timeline = async () => {
    const leader = await primary();
    const members = leader === null ? [] : await membersOf(leader);
    return Math.max(...members.map((member) => member.timeline ?? 0));
  };
  const close = async () => {
    proxy.process.kill('SIGKILL');
    await clean(root);
  };
  try {
    for (const machine of machines) await machine.start();
    await whole();
  } catch (error) {
    await close();
    throw error;
  }
  const url = (port: number) =>
    `postgresql://postgres:${secrets.superuser}@127.0.0.1:${port}/postgres`;
  return {
    machines,
    url: url(proxy.primary),
    readUrl: url(proxy.standby),
    primary,
    timeline,
    whole,
    close,
  };
}
