import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { realpathSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';

const CLI = path.join(import.meta.dirname, '../../cli');
/** The command of this clone, which can also create and check a network's settings. */
export const IN_CLONE = path.join(CLI, 'bin/tapline.js');
/**
 * The command as it is published, which `npm test` has built. {@link IN_CLONE} spends half of its
 * start on checking whether its sources have changed.
 */
export const PROGRAM = path.join(realpathSync(path.join(CLI, 'dist')), '../bin/tapline.js');

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Standard output as JSON, one object per line. */
  readonly objects: readonly JsonObject[];
}

export interface JsonObject {
  readonly [field: string]: unknown;
}

export interface Running {
  readonly child: ChildProcess;
  /** Every object written so far. */
  readonly objects: JsonObject[];
  /** Waits until an object matches. */
  until(fits: (object: JsonObject) => boolean): Promise<JsonObject>;
  /** Sends Ctrl-C. @returns the exit code */
  stop(): Promise<number | null>;
}

export type Env = Readonly<Record<string, string | undefined>>;

interface Surroundings {
  /** Default: {@link PROGRAM}. */
  readonly program?: string;
  readonly input?: string;
  readonly cwd?: string;
  readonly uid?: number;
  /** JavaScript that runs before the command. */
  readonly preload?: string;
}

const { NODE_COMPILE_CACHE: cache } = process.env;

function start(
  args: readonly string[],
  env: Env,
  { program = PROGRAM, input = '', preload = '', uid, ...others }: Surroundings = {},
): ChildProcess {
  const code = `data:text/javascript,${encodeURIComponent(preload)}`;
  const flags = preload === '' ? [] : ['--import', code];
  const child = spawn(process.execPath, [...flags, program, ...args], {
    // Hides the test runner's environment from the command, except for Node's compile cache, which
    // makes its start cheaper.
    env: { PATH: process.env.PATH, HOME: '/nonexistent', NODE_COMPILE_CACHE: cache, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(uid === undefined ? {} : { uid, gid: uid }),
    ...others,
  });
  child.stdin?.end(input);
  return child;
}

export async function runCli(
  args: readonly string[],
  env: Env,
  around?: Surroundings,
): Promise<Ran> {
  const child = start(args, env, around);
  const text = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (chunk: string) => {
      text[name] += chunk;
    });
  }
  const [code] = (await once(child, 'close')) as [number | null];
  const lines = args.includes('--json') ? text.stdout.split('\n').filter(Boolean) : [];
  return { code, ...text, objects: lines.map((line) => JSON.parse(line)) };
}

/** Starts a long-running command, such as `listen`. */
export function startCli(args: readonly string[], env: Env): Running {
  const child = start([...args, '--json'], env);
  const objects: JsonObject[] = [];
  const waiting: (() => void)[] = [];
  if (child.stdout === null) throw new Error('no standard output');
  child.stderr?.resume();
  createInterface(child.stdout).on('line', (line) => {
    objects.push(JSON.parse(line));
    for (const wake of waiting.splice(0)) wake();
  });
  child.once('exit', () => {
    for (const wake of waiting.splice(0)) wake();
  });
  return {
    child,
    objects,
    until: async (fits) => {
      for (;;) {
        const found = objects.find(fits);
        if (found !== undefined) return found;
        if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`);
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGINT');
      const [code] = (await ended) as [number | null];
      return code;
    },
  };
}
