import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { StartError } from '#core/start-error.ts';
import type { DataFolder } from './data-folder.ts';
import {
  type ChildLog,
  commandLine,
  findByWorkingFolder,
  freePort,
  isListed,
  isRunning,
  KILL_STEP,
  lastLine,
  openChildLog,
  signalProcess,
  startTimeout,
  stopProcess,
  waitUntil,
} from './find-and-stop-processes.ts';
import { endedWithoutSpace, hasRoom } from './full-disk.ts';
import {
  choosePostgresAccount,
  type PostgresAccount,
  postgresEnvironment,
} from './postgres-account.ts';
import {
  checkClusterVersion,
  clusterSettings,
  initializeCluster,
  type PostgresPrograms,
  postgresPrograms,
  programsVersion,
  SUPERUSER,
} from './postgres-cluster.ts';
import { ensureLibraryLinks } from './postgres-links.ts';

/** The service's role, and the name of its database. */
export const ROLE = 'tapline';

/**
 * Time limit of a start, which takes 50 ms; replaying the log after a crash under load takes
 * seconds, and an emulated or overloaded machine is ten times slower.
 */
const READY_MS = 120_000;

/**
 * Time limit for the remains of a killed server (processes, shared memory) to disappear, which
 * takes 1 to 2 s.
 */
const LEFTOVER_MS = 5000;

/**
 * Another program can take a free port before the server binds it, but three failures in a row have
 * another cause.
 */
const PORT_ATTEMPTS_MAX = 3;

/** Time for which a server that a full disk ended waits for room: long enough to delete files. */
const ROOM_MS = 10 * 60_000;
const ROOM_POLL_MS = 500;

/** Time limit of a sign-in, which takes 10 ms. */
const CONNECT_MS = 3000;

/** Fast shutdown, then immediate shutdown (the next start replays the log), then kill. */
const STOP_STEPS = [
  { signal: 'SIGINT', waitMs: 5000 },
  { signal: 'SIGQUIT', waitMs: 1500 },
  KILL_STEP,
] as const;

export interface PostgresOptions {
  folder: DataFolder;
  /** Receives one line for each event of interest. */
  log: (line: string) => void;
  /** True if a new cluster must survive a power cut at any time. Default: true. */
  durable?: boolean;
  /** Settings that replace the sandbox's own. */
  settings?: Readonly<Record<string, string>>;
  /** Time limit of the start. Default: two minutes. */
  readyMs?: number;
}

export interface RunningPostgres {
  /** Connection string of the service's role, which is not a superuser but may create databases. */
  readonly url: string;
  /** Resolves with the reason if the server ends without a call of `stop`. */
  readonly lost: Promise<string>;
  /** Stops the server within 17 s, usually within 0.1 s. */
  stop(): Promise<void>;
}

/**
 * Starts the PostgreSQL of this data folder. The first start creates the cluster; a later one
 * adopts a server that a killed instance left running. Works as root and as an ordinary user.
 * @throws StartError if it cannot be started.
 */
export async function startPostgres(options: PostgresOptions): Promise<RunningPostgres> {
  const site = await surveySite(options);
  const log = openChildLog(site.logFile);
  try {
    const server = (await adoptServer(site, options.log)) ?? (await startServer(site, log));
    await ensureDatabase(site, server.port);
    return keepRunning(site, server, { log, tell: options.log });
  } catch (cause) {
    log.close();
    throw cause;
  }
}

/** Data that stays the same when the server is replaced. */
interface Site {
  folder: DataFolder;
  cluster: string;
  logFile: string;
  programs: PostgresPrograms;
  superuserPassword: string;
  rolePassword: string;
  /**
   * Identifies the version and the settings. A server is adopted only if its signature is the same.
   */
  signature: string;
  durable: boolean;
  settings: Readonly<Record<string, string>>;
  readyMs: number;
}

async function surveySite(options: PostgresOptions): Promise<Site> {
  const { folder } = options;
  const programs = postgresPrograms();
  await ensureLibraryLinks(join(dirname(programs.postgres), '..', '..'));
  const version = await programsVersion(programs);
  const settings = JSON.stringify([version, clusterSettings(0)]);
  const digest = createHash('sha256').update(settings).digest('hex').slice(0, 12);
  return {
    folder,
    cluster: join(folder.path, 'postgres'),
    logFile: join(folder.path, 'postgres.log'),
    programs,
    superuserPassword: (await folder.secret('postgres-superuser')).toString('base64url'),
    rolePassword: (await folder.secret('postgres-role')).toString('base64url'),
    signature: `tapline-${digest}`,
    durable: options.durable ?? true,
    settings: options.settings ?? {},
    readyMs: options.readyMs ?? READY_MS,
  };
}

interface Server {
  pid: number;
  port: number;
  /** Undefined if an earlier process of ours started the server. */
  child?: ChildProcess;
}

/** Parses `postmaster.pid`, whose lines PostgreSQL defines. */
export async function readServerFile(
  cluster: string,
): Promise<{ pid: number; port: number; ready: boolean } | undefined> {
  const text = await fs.readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const lines = text.split('\n').map((line) => line.trim());
  return { pid: Number(lines[0]), port: Number(lines[3]), ready: lines[7] === 'ready' };
}

/** Adopts a healthy server that has our settings; stops any other, and removes its remains. */
async function adoptServer(site: Site, log: PostgresOptions['log']): Promise<Server | undefined> {
  const left = await readServerFile(site.cluster);
  if (left === undefined) return undefined;
  if (commandLine(left.pid).includes(site.cluster) && isRunning(left.pid)) {
    if (await hasSignature(site, left.port)) {
      log(`postgres: adopted the server of an earlier run (process ${left.pid})`);
      return left;
    }
    log(`postgres: ended the server of an earlier run (process ${left.pid})`);
    await stopProcess(left.pid, STOP_STEPS);
  }
  await clearLeftovers(site.cluster, left.pid);
  return undefined;
}

async function hasSignature(site: Site, port: number): Promise<boolean> {
  const client = connectAs(site, { user: ROLE, database: ROLE, port });
  try {
    await client.connect();
    const { rows } = await client.query('show cluster_name');
    return rows[0]?.cluster_name === site.signature;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/**
 * Removes the remains of a killed server: processes that still use its files, and a
 * `postmaster.pid` whose ID may now belong to a foreign process or a zombie. That file prevents two
 * servers on one cluster, so it is deleted only if PostgreSQL would misread it (PostgreSQL itself
 * detects an unused ID) and no process is left in the folder.
 */
async function clearLeftovers(cluster: string, namedPid: number): Promise<void> {
  const gone = () => findByWorkingFolder(cluster).length === 0;
  if (!(await waitUntil(gone, LEFTOVER_MS))) {
    for (const pid of findByWorkingFolder(cluster)) signalProcess(pid, 'SIGQUIT');
    if (!(await waitUntil(gone, LEFTOVER_MS))) {
      throw new StartError(
        `An earlier PostgreSQL still uses ${cluster}; stop its processes first.`,
      );
    }
  }
  if (isListed(namedPid)) await fs.rm(join(cluster, 'postmaster.pid'), { force: true });
}

async function startServer(site: Site, log: ChildLog): Promise<Server> {
  const account = await ensureCluster(site);
  const remembered = recordedPort(await site.folder.readJson('postgres.json'));
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort(attempt === 1 ? remembered : undefined);
    const server = await launch(site, { account, port, log });
    if (server !== undefined) {
      await site.folder.writeJson('postgres.json', { port });
      return server;
    }
    const reason = lastLine(site.logFile);
    if (/could not create any TCP/i.test(reason) && attempt < PORT_ATTEMPTS_MAX) continue;
    throw new StartError(`PostgreSQL did not start: ${reason} (see ${site.logFile})`);
  }
}

async function launch(
  site: Site,
  { account, port, log }: { account: PostgresAccount; port: number; log: ChildLog },
): Promise<Server | undefined> {
  const settings = { ...clusterSettings(port), ...site.settings, cluster_name: site.signature };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const [file, ...args] = [...account.wrapper, site.programs.postgres, '-D', site.cluster];
  // Detached, so that Ctrl-C reaches only our process, and the database outlives the processes that
  // still write to it.
  const child = spawn(file ?? '', [...args, ...flags], {
    ...account.switchTo,
    cwd: '/',
    detached: true,
    env: postgresEnvironment(),
    stdio: ['ignore', log.fd, log.fd],
  });
  child.once('error', () => undefined);
  // Unreferenced, so that a running server does not keep our process alive.
  child.unref();
  const ended = () => child.pid === undefined || child.exitCode !== null;
  const ready = async () => {
    const server = await readServerFile(site.cluster);
    return server?.ready === true && server.pid === child.pid;
  };
  const settled = await waitUntil(async () => ended() || (await ready()), site.readyMs);
  if (settled && !ended() && child.pid !== undefined) return { pid: child.pid, port, child };
  child.kill('SIGQUIT');
  if (!settled) throw startTimeout('PostgreSQL was not ready', site.readyMs, site.logFile);
  return undefined;
}

function recordedPort(record: unknown): number | undefined {
  if (typeof record !== 'object' || record === null || !('port' in record)) return undefined;
  return typeof record.port === 'number' ? record.port : undefined;
}

/** The rename comes last, so that a partial cluster is never used. */
async function ensureCluster(site: Site): Promise<PostgresAccount> {
  const exists = await fs.stat(site.cluster).then(
    () => true,
    () => false,
  );
  if (exists) {
    await checkClusterVersion(site.cluster, site.programs);
    return choosePostgresAccount(site.programs.postgres, site.cluster);
  }
  const draft = `${site.cluster}.draft`;
  await fs.rm(draft, { recursive: true, force: true });
  await fs.mkdir(draft, { mode: 0o700 });
  const account = choosePostgresAccount(site.programs.postgres, draft);
  await initializeCluster({ ...site, account, folder: draft });
  await fs.rename(draft, site.cluster);
  return account;
}

function connectAs(
  site: Site,
  { user, database, port }: { user: string; database: string; port: number },
): pg.Client {
  const password = user === SUPERUSER ? site.superuserPassword : site.rolePassword;
  const client = new pg.Client({
    ...{ host: '127.0.0.1', port, user, database, password },
    ssl: false,
    connectionTimeoutMillis: CONNECT_MS,
  });
  client.on('error', () => undefined);
  return client;
}

/**
 * Creates the role and the database unless they exist. After an interruption, the next start
 * completes the work.
 */
async function ensureDatabase(site: Site, port: number): Promise<void> {
  if (await hasSignature(site, port)) return;
  const client = await signIn(site, port);
  try {
    const roles = await client.query('select 1 from pg_roles where rolname = $1', [ROLE]);
    // The password is base64url and needs no escaping; role statements accept no parameters.
    const command = roles.rows.length === 0 ? 'create' : 'alter';
    // The role may create roles with fewer rights, such as the service's in docs/operate.md.
    const rights = `login createdb createrole password '${site.rolePassword}'`;
    await client.query(`${command} role ${ROLE} ${rights}`);
    await client.query(`grant pg_monitor, pg_checkpoint to ${ROLE}`);
    const result = await client.query('select 1 from pg_database where datname = $1', [ROLE]);
    if (result.rows.length === 0) await client.query(`create database ${ROLE} owner ${ROLE}`);
  } finally {
    await client.end();
  }
}

/** A busy machine may need several attempts. @throws StartError */
async function signIn(site: Site, port: number): Promise<pg.Client> {
  const deadline = performance.now() + site.readyMs;
  for (;;) {
    const client = connectAs(site, { user: SUPERUSER, database: 'postgres', port });
    try {
      await client.connect();
      return client;
    } catch (cause) {
      await client.end().catch(() => undefined);
      if (performance.now() < deadline && isTimeout(cause)) continue;
      if (!isTimeout(cause)) throw cause;
      throw startTimeout('PostgreSQL accepted no sign-in', site.readyMs, site.logFile);
    }
  }
}

/** The messages of `pg` for a connection that took longer than its limit. */
function isTimeout(cause: unknown): boolean {
  return cause instanceof Error && /timeout expired|connection timeout/i.test(cause.message);
}

/** Watches the server until `stop`. Starts it again if a full disk ended it. */
function keepRunning(site: Site, first: Server, sink: Sink): RunningPostgres {
  let server = first;
  const endWithUs = () => signalProcess(server.pid, 'SIGINT');
  process.once('exit', endWithUs);
  const lost = Promise.withResolvers<string>();
  let stopped: Promise<void> | undefined;
  let restarting: Promise<void> = Promise.resolve();
  const restart = async (reason: string) => {
    const next = await startOnceThereIsRoom(site, { ...sink, port: server.port }, () => !stopped);
    if (next === undefined) return lost.resolve(reason);
    server = next;
    watch();
  };
  const watch = () => {
    server.child?.once('exit', (code, signal) => {
      if (stopped !== undefined) return;
      const reason = `PostgreSQL ended (${signal ?? code}); see ${site.logFile}`;
      // A restart that fails is a loss. It must not end the process before the other parts stop.
      restarting = restart(reason).catch((cause) => lost.resolve(`${reason}: ${String(cause)}`));
    });
  };
  watch();
  const stop = async () => {
    await restarting;
    await stopProcess(server.pid, STOP_STEPS);
    process.off('exit', endWithUs);
    sink.log.close();
  };
  return {
    url: `postgres://${ROLE}:${site.rolePassword}@127.0.0.1:${first.port}/${ROLE}`,
    lost: lost.promise,
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
  };
}

/** The log file of the server, and the recipient of lines about it. */
interface Sink {
  log: ChildLog;
  tell: PostgresOptions['log'];
}

/**
 * Starts the server again once its disk has room. Its log replays what it acknowledged.
 * @returns undefined if the disk was not full, or did not get room in time.
 */
async function startOnceThereIsRoom(
  site: Site,
  { log, tell, port }: Sink & { port: number },
  isWanted: () => boolean,
): Promise<Server | undefined> {
  const folder = site.folder.path;
  const isFull = !(await hasRoom(folder)) || (await endedWithoutSpace(site.logFile));
  if (!isFull) return undefined;
  tell(`postgres: ended because the disk of ${folder} is full; starts again once there is room`);
  const account = choosePostgresAccount(site.programs.postgres, site.cluster);
  let server: Server | undefined;
  const isOver = async () => {
    await sleep(ROOM_POLL_MS);
    if (isWanted() && (await hasRoom(folder))) {
      server = await launch(site, { account, port, log });
    }
    return server !== undefined || !isWanted();
  };
  await waitUntil(isOver, ROOM_MS);
  if (server !== undefined) tell('postgres: started again, the disk has room');
  return server;
}
