import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runLoad } from './child-processes.ts';

/** The speed of the benchmark's statements in PostgreSQL alone, without the service. */
export interface Floor {
  readonly perSecond: number;
  readonly latencyMs: number;
}

export interface FloorOf {
  readonly databaseUrl: string;
  readonly script: string;
  readonly clients: number;
  readonly seconds: number;
  readonly variables?: Readonly<Record<string, string>>;
}

const DEBIAN = '/usr/lib/postgresql';

/**
 * Finds pgbench at `PGBENCH`, in the search path, or where Debian installs it. @returns `null` if
 * it is not installed or if `PGBENCH=none`.
 */
export function findPgbench(): string | null {
  if (process.env.PGBENCH === 'none') return null;
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).toSorted().reverse() : [];
  const places = [
    process.env.PGBENCH ?? '',
    'pgbench',
    ...versions.map((version) => join(DEBIAN, version, 'bin/pgbench')),
  ];
  const works = (path: string) =>
    path !== '' && spawnSync(path, ['--version'], { stdio: 'ignore' }).status === 0;
  return places.find(works) ?? null;
}

/**
 * Measures the floor by running the script with pgbench. Without pgbench, uses the slower clients
 * in bench/floor-clients.ts.
 */
export function runFloor(pgbench: string | null, load: FloorOf): Promise<Floor> {
  return pgbench === null ? runLoad('floor-clients.ts', load) : runPgbench(pgbench, load);
}

/** Runs the script in pgbench with prepared statements over TCP. */
export async function runPgbench(pgbench: string, load: FloorOf): Promise<Floor> {
  const folder = mkdtempSync(join(tmpdir(), 'tapline-pgbench-'));
  const file = join(folder, 'script.sql');
  writeFileSync(file, load.script);
  const url = new URL(load.databaseUrl);
  const args = [
    ...['-n', '-M', 'prepared', '-j', '1', '-f', file],
    ...['-c', String(load.clients), '-T', String(load.seconds)],
    ...['-h', url.hostname, '-p', url.port, '-U', url.username],
    ...Object.entries(load.variables ?? {}).flatMap(([name, value]) => ['-D', `${name}=${value}`]),
    url.pathname.slice(1),
  ];
  try {
    const env = { ...process.env, PGPASSWORD: decodeURIComponent(url.password) };
    const { stdout } = await promisify(execFile)(pgbench, args, { env });
    const perSecond = Number(/tps = ([\d.]+)/.exec(stdout)?.[1]);
    const latencyMs = Number(/latency average = ([\d.]+)/.exec(stdout)?.[1]);
    return { perSecond, latencyMs };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
