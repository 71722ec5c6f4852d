import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { present } from '#core/assert.ts';
import type { SandboxFile } from '#sandbox/sandbox-file.ts';
import { SETTING_NAMES } from '#settings/setting-names.ts';
import { testDatabase } from '#testkit/fixtures/db/database.ts';

/** A whole network in its own process, started as `npm start` does. */
export interface SpawnedNetwork {
  readonly sandbox: SandboxFile;
  readonly dataDir: string;
  readonly process: ChildProcess;
  /** Returns what the process has written to stderr so far. */
  logs(): string;
  /**
   * Kills only the process itself, with SIGKILL. Its database and chains continue, as after a
   * crash.
   */
  kill(): Promise<void>;
  /**
   * Sends SIGTERM and waits until the process has ended.
   * @returns the exit code
   */
  stop(): Promise<number | null>;
}

export interface SpawnOptions {
  readonly dataDir: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** True to start it through npm, as operators do. npm forwards signals to it. */
  readonly throughNpm?: boolean;
  /** The folder of the release to run. Default: this working copy. */
  readonly root?: string;
}

/**
 * Time limit for a start. A first start takes 3 to 6 s on an idle machine; during long tests, one
 * has taken more than 90 s.
 */
const START_MS = 180_000;
const POLL_MS = 25;
const ROOT = path.join(import.meta.dirname, '../..');

/**
 * Creates a temporary folder for the data of one test.
 * @returns the path, and a function that removes the folder
 */
export async function temporaryDataDir(): Promise<{ path: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'tapline-test-'));
  return {
    path: folder,
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }),
  };
}

/**
 * Returns a clean environment, so that variables in the developer's shell do not affect a test's
 * network.
 */
function cleanEnv(extra: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const settings = new Set<string>(SETTING_NAMES);
  const kept = Object.entries(process.env).filter(
    ([name]) => !settings.has(name) && !name.startsWith('TAPLINE_'),
  );
  return { ...Object.fromEntries(kept), ...extra };
}

/** Starts the process but does not wait until it is ready, for tests of starts that must fail. */
export function spawnMain(options: SpawnOptions): { child: ChildProcess; logs(): string } {
  const root = options.root ?? ROOT;
  const program =
    options.throughNpm === true
      ? ['npm', 'start', '--']
      : [process.execPath, ...startFlags(), startProgram(root)];
  const [file = '', ...args] = [...program, ...(options.args ?? [])];
  const child = spawn(file, args, {
    cwd: root,
    env: cleanEnv({ TAPLINE_DATA_DIR: options.dataDir, PORT: '0', ...options.env }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  return { child, logs: () => text };
}

async function exited(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child.exitCode;
}

async function readSandbox(dataDir: string): Promise<SandboxFile | null> {
  try {
    return JSON.parse(await readFile(path.join(dataDir, 'sandbox.json'), 'utf8')) as SandboxFile;
  } catch {
    return null;
  }
}

/** Starts a network and waits until its sandbox.json exists. */
export async function spawnNetwork(options: SpawnOptions): Promise<SpawnedNetwork> {
  await rm(path.join(options.dataDir, 'sandbox.json'), { force: true });
  const { child, logs } = spawnMain(options);
  const deadline = performance.now() + START_MS;
  let sandbox: SandboxFile | null = null;
  while (sandbox === null) {
    if (child.exitCode !== null || child.signalCode !== null || performance.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error(`the network did not start:\n${logs()}`);
    }
    await sleep(POLL_MS);
    sandbox = await readSandbox(options.dataDir);
  }
  return {
    sandbox,
    dataDir: options.dataDir,
    process: child,
    logs,
    kill: async () => {
      child.kill('SIGKILL');
      await exited(child);
    },
    stop: async () => {
      child.kill('SIGTERM');
      return exited(child);
    },
  };
}

/** A network of a test's own, with a data folder of its own. */
export interface OwnNetwork extends SpawnedNetwork {
  /** Stops the network and removes its data. */
  close(): Promise<void>;
}

/**
 * Starts a real network, as `npm start` does. Unless `env` names a database, it uses one on the
 * test run's server, because creating and migrating a server takes half of the start.
 */
export async function startOwnNetwork({
  env = {},
  ...options
}: Omit<SpawnOptions, 'dataDir'> = {}): Promise<OwnNetwork> {
  const folder = await temporaryDataDir();
  const database = env.DATABASE_URL === undefined ? await testDatabase() : null;
  const ownUrl = database === null ? {} : { DATABASE_URL: database.url };
  const network = await spawnNetwork({
    ...options,
    dataDir: folder.path,
    env: { ...ownUrl, ...env },
  });
  return {
    ...network,
    close: async () => {
      await network.stop();
      await database?.close();
      await folder.remove();
    },
  };
}

/** Returns the words of a release's `start` script. */
function startWords(root: string): string[] {
  const { scripts } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  return present(scripts.start, 'start script').split(' ');
}

/**
 * Returns Node's flags in `npm start`, so that tests and benchmarks run as the service does. The
 * flags limit the garbage that a busy second leaves in memory.
 */
export function startFlags(): string[] {
  // Leaves out `--import` (prepare-node.mjs), because earlier releases do not have that file.
  return startWords(ROOT).filter((word) => word.startsWith('--') && word !== '--import');
}

/** Returns the file that `npm start` runs in a release. */
function startProgram(root: string): string {
  return path.join(root, present(startWords(root).at(-1), 'program'));
}
