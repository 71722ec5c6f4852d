import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort, waitUntil } from '#sandbox/find-and-stop-processes.ts';
import { missingProgram, sh } from '../shell-commands.ts';

/**
 * A Debian PostgreSQL with pgBackRest and the configuration of deploy/backup, which the drill can
 * destroy.
 */
export interface Archived {
  readonly url: string;
  backUp(): Promise<void>;
  /** Returns the database's time, as a restore target. */
  now(): Promise<string>;
  /** Destroys server and files. */
  lose(): Promise<void>;
  /** Restores the archive at that time, on a new timeline. */
  restore(to: string): Promise<void>;
  close(): Promise<void>;
}

const CONFIG = path.join(import.meta.dirname, '../../../deploy/backup/pgbackrest.conf');
const UP_MS = 120_000;
const AS_POSTGRES = ['--reuid=postgres', '--regid=postgres', '--clear-groups'];
const IN_RECOVERY = `'select pg_is_in_recovery()'`;

/** Returns why the drill cannot run here, or `null`. */
export async function whyNot(): Promise<string | null> {
  if (process.getuid?.() !== 0) return 'it starts PostgreSQL as another user, which needs root';
  const missing = await missingProgram(['pgbackrest', 'setpriv']);
  if (missing !== null) return `${missing} is not installed (Debian: apt install pgbackrest)`;
  const server = await sh('ls -d /usr/lib/postgresql/*/bin | tail -1').catch(() => '');
  return server === '' ? 'PostgreSQL is not installed (Debian: apt install postgresql)' : null;
}

/** Writes the shipped configuration with this test's paths. */
async function configure(folder: string, port: number): Promise<string> {
  const shipped = await readFile(CONFIG, 'utf8');
  const places = [`lock-path=${folder}/lock`, `spool-path=${folder}/spool`];
  const text = shipped
    .replace(/^repo1-path=.*$/m, [`repo1-path=${folder}/repository`, ...places].join('\n'))
    .replace('CHANGE-ME', 'a passphrase of the drill')
    .replace(
      /^pg1-path=.*$/m,
      [`pg1-path=${folder}/data`, `pg1-socket-path=${folder}`, `pg1-port=${port}`].join('\n'),
    );
  const file = path.join(folder, 'pgbackrest.conf');
  await writeFile(file, text);
  return file;
}

interface Place {
  readonly folder: string;
  readonly bin: string;
  readonly port: number;
  readonly config: string;
}

/**
 * Starts the server and waits until it accepts writes. @returns a psql command line to which a
 * statement is added.
 */
async function startServer({ folder, bin, port, config }: Place): Promise<string> {
  const settings = [
    ...[`port=${port}`, 'listen_addresses=127.0.0.1', `unix_socket_directories=${folder}`],
    ...['archive_mode=on', 'archive_timeout=5', 'wal_level=replica', 'max_connections=200'],
    `archive_command=pgbackrest --config=${config} --stanza=tapline archive-push %p`,
  ];
  const options = settings.flatMap((setting) => ['-c', setting]);
  const args = [...AS_POSTGRES, `${bin}/postgres`, '-D', `${folder}/data`, ...options];
  spawn('setpriv', args, { cwd: folder, stdio: 'ignore', detached: true }).unref();
  const psql = `${bin}/psql -h ${folder} -p ${port} -U postgres -Atc`;
  const isUp = async () => {
    const said = sh(`cd ${folder} && setpriv ${AS_POSTGRES.join(' ')} ${psql} ${IN_RECOVERY}`);
    return (await said.catch(() => 't')) === 'f';
  };
  if (!(await waitUntil(isUp, UP_MS))) throw new Error('PostgreSQL did not start');
  return psql;
}

export async function openArchived(): Promise<Archived> {
  const folder = await mkdtemp(path.join(tmpdir(), 'tapline-drill-'));
  const bin = await sh('ls -d /usr/lib/postgresql/*/bin | tail -1');
  for (const name of ['repository', 'lock', 'spool']) await mkdir(path.join(folder, name));
  const port = await freePort();
  const config = await configure(folder, port);
  await sh(`chown -R postgres:postgres ${folder} && chmod 755 ${folder}`);
  const asPostgres = (command: string) =>
    sh(`cd ${folder} && setpriv ${AS_POSTGRES.join(' ')} ${command}`);
  const backrest = (command: string) =>
    asPostgres(`pgbackrest --config=${config} --stanza=tapline ${command}`);
  const start = () => startServer({ folder, bin, port, config });
  await asPostgres(`${bin}/initdb -D ${folder}/data -U postgres -A trust -E UTF8 -k`);
  const psql = await start();
  await backrest('stanza-create');
  const kill = async () => {
    const [pid = ''] = (await readFile(`${folder}/data/postmaster.pid`, 'utf8')).split('\n');
    await sh(`kill -9 ${pid}; pkill -9 -P ${pid} || true`).catch(() => {});
    await waitUntil(
      () =>
        sh(`kill -0 ${pid}`).then(
          () => false,
          () => true,
        ),
      UP_MS,
    );
  };
  return {
    url: `postgresql://postgres@127.0.0.1:${port}/postgres`,
    backUp: async () => void (await backrest('--type=full backup')),
    now: () => asPostgres(`${psql} 'select clock_timestamp()'`),
    lose: async () => {
      await kill();
      await rm(`${folder}/data`, { recursive: true });
    },
    restore: async (to) => {
      await mkdir(`${folder}/data`, { mode: 0o700 });
      await sh(`chown postgres:postgres ${folder}/data`);
      await backrest(`--type=time '--target=${to}' --target-action=promote restore`);
      await start();
    },
    close: async () => {
      await kill().catch(() => {});
      await rm(folder, { recursive: true, force: true });
    },
  };
}
