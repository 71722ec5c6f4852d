import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { freePort, waitUntil } from '#sandbox/find-and-stop-processes.ts';
import type { Undo } from './rig.ts';

/** A PgBouncer with the files of deploy/pgbouncer in front of a test database. */

const FILES = path.join(import.meta.dirname, '../../../deploy/pgbouncer');
/** The first version with prepared statements in transaction mode. */
const OLDEST = [1, 21] as const;
const UP_MS = 20_000;
/** A user other than root, because PgBouncer refuses to run as root. */
const NOBODY = 65_534;
/** `PGBOUNCER` overrides the program found in the PATH. */
export const PROGRAM = process.env.PGBOUNCER ?? 'pgbouncer';

/** Returns why PgBouncer cannot run here, or `null`. */
export async function whyNoPooler(): Promise<string | null> {
  const ran = await promisify(execFile)(PROGRAM, ['--version']).catch(() => null);
  if (ran === null) return 'PgBouncer is not installed (Debian: apt install pgbouncer)';
  const [, version = ''] = /PgBouncer (\S+)/.exec(ran.stdout) ?? [];
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return null;
  return `PgBouncer ${version} is older than ${OLDEST.join('.')}: PGBOUNCER names another`;
}

/** Returns the statements of role.sql for this role. */
export async function roleStatements(role: string): Promise<string> {
  const text = await readFile(path.join(FILES, 'role.sql'), 'utf8');
  return text.replaceAll(':"role"', role);
}

async function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: '127.0.0.1', port });
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

/** @returns the database's URL through the pooler. */
export async function openPooler(databaseUrl: string, undo: Undo): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'tapline-pooler-'));
  const to = new URL(databaseUrl);
  const port = await freePort();
  const name = to.pathname.slice(1);
  const users = path.join(folder, 'userlist.txt');
  const shipped = await readFile(path.join(FILES, 'pgbouncer.ini'), 'utf8');
  const text = shipped
    .replace(/^tapline = .*$/m, `${name} = host=${to.hostname} port=${to.port} dbname=${name}`)
    .replace('listen_addr = 0.0.0.0', 'listen_addr = 127.0.0.1')
    .replace('listen_port = 6432', `listen_port = ${port}\nunix_socket_dir =`)
    .replace('/etc/pgbouncer/userlist.txt', users);
  const file = path.join(folder, 'pgbouncer.ini');
  await writeFile(file, text);
  await writeFile(users, `"${to.username}" "${decodeURIComponent(to.password)}"\n`);
  await chmod(folder, 0o755);
  const who = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const stdio = ['ignore', 'pipe', 'pipe'] as const;
  const child: ChildProcess = spawn(PROGRAM, [file], { ...who, stdio: [...stdio] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk;
    });
  }
  undo.push(async () => {
    child.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  });
  if (!(await waitUntil(() => answers(port), UP_MS))) throw new Error(`no PgBouncer:\n${said}`);
  to.port = String(port);
  return to.toString();
}
