import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import * as fs from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartError } from '#core/start-error.ts';
import { openOwnSync } from '#files/own-files.ts';

/** Poll interval for a process: short compared to any start or stop. */
const POLL_MS = 10;

/** A log file of this size is moved aside, so that a child cannot fill the disk. */
const LOG_BYTES_MAX = 8 * 1024 * 1024;

/** Interval of checks of a log's size. The fastest child writes a few MB in that time. */
const LOG_CHECK_MS = 10_000;

/** True if the process id is in use, even by a zombie. */
export function isListed(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    // EPERM: the process exists but belongs to another user.
    return cause instanceof Error && 'code' in cause && cause.code === 'EPERM';
  }
}

/**
 * A zombie (ended, but not yet reaped by its parent) does not count: it holds no file, port or
 * memory, although `kill -0` finds it.
 */
export function isRunning(pid: number): boolean {
  return isListed(pid) && !isZombie(pid);
}

function isZombie(pid: number): boolean {
  if (process.platform === 'linux') {
    const stat = readProc(pid, 'stat');
    if (stat === undefined) return true;
    // The state follows the command's name, which is in parentheses and may contain any characters.
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
  }
  return (
    spawnSync('ps', ['-o', 'stat=', '-p', String(pid)])
      .stdout?.toString()
      .trim()
      .startsWith('Z') ?? false
  );
}

/** Returns a running process's arguments; empty if the process has ended or hides them. */
export function commandLine(pid: number): string[] {
  if (process.platform === 'linux') {
    return readProc(pid, 'cmdline')?.split('\0').slice(0, -1) ?? [];
  }
  const line = spawnSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).stdout?.toString();
  return line?.trim().split(' ') ?? [];
}

/**
 * Returns the running processes that were started with exactly this argument. A path in our data
 * folder finds what a killed instance left running, and cannot match a reused process ID.
 */
export function findByArgument(argument: string): number[] {
  return allProcesses().filter(
    (pid) => pid !== process.pid && commandLine(pid).includes(argument) && isRunning(pid),
  );
}

/** Returns running processes whose working directory is this folder (on Linux; elsewhere none). */
export function findByWorkingFolder(folder: string): number[] {
  if (process.platform !== 'linux') return [];
  return allProcesses().filter((pid) => {
    try {
      return fs.readlinkSync(`/proc/${pid}/cwd`) === folder;
    } catch {
      return false;
    }
  });
}

function allProcesses(): number[] {
  if (process.platform === 'linux') {
    return fs
      .readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  }
  const listed = spawnSync('ps', ['-axo', 'pid=']).stdout?.toString() ?? '';
  return listed
    .split('\n')
    .map(Number)
    .filter((pid) => pid > 0);
}

function readProc(pid: number, file: string): string | undefined {
  try {
    return fs.readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return undefined;
  }
}

/** Waits until the condition is true. @returns false after `timeoutMs`. */
export async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  timeoutMs: number,
): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadline) return false;
    await sleep(POLL_MS);
  }
  return true;
}

/** Returns the promise's value, or undefined after the time-out. */
export async function within<T>(promise: Promise<T>, timeoutMs: number): Promise<T | undefined> {
  const timer = new AbortController();
  const late = sleep(timeoutMs, undefined, { signal: timer.signal }).catch(() => undefined);
  try {
    return await Promise.race([promise, late]);
  } finally {
    timer.abort();
  }
}

/** A signal, and the time that the process then gets to end. */
export interface StopStep {
  signal: NodeJS.Signals;
  waitMs: number;
}

/** The last step. On a busy machine, even a killed process can take seconds to end. */
export const KILL_STEP: StopStep = { signal: 'SIGKILL', waitMs: 10_000 };

/** Sends the signals in turn until the process has ended. The last signal should be SIGKILL. */
export async function stopProcess(pid: number, steps: readonly StopStep[]): Promise<void> {
  for (const { signal, waitMs } of steps) {
    if (!isRunning(pid)) return;
    signalProcess(pid, signal);
    if (await waitUntil(() => !isRunning(pid), waitMs)) return;
  }
  throw new Error(`Process ${pid} did not exit`);
}

/** A process that has already ended counts as success. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'ESRCH')) throw cause;
  }
}

/**
 * Ports below those that systems give to connections (from 32768 on Linux), so that no connection
 * takes the port of a server while the server restarts.
 */
const SERVER_PORTS = { from: 20_000, to: 32_000 } as const;
const DRAWS_MAX = 20;

/** Returns the preferred port of 127.0.0.1 if it is free, otherwise a random one. */
export async function freePort(preferred?: number): Promise<number> {
  const drawn = Array.from({ length: DRAWS_MAX }, () =>
    randomInt(SERVER_PORTS.from, SERVER_PORTS.to),
  );
  // The last resort is a port chosen by the system.
  for (const candidate of [...(preferred === undefined ? [] : [preferred]), ...drawn, 0]) {
    const port = await tryPort(candidate);
    if (port !== undefined) return port;
  }
  throw new Error('No free port on 127.0.0.1');
}

function tryPort(port: number): Promise<number | undefined> {
  return new Promise((settle) => {
    const server = createServer();
    server.once('error', () => settle(undefined));
    server.listen({ port, host: '127.0.0.1' }, () => {
      const address = server.address();
      const port = address !== null && typeof address === 'object' ? address.port : undefined;
      server.close(() => settle(port));
    });
  });
}

/** A file for a child's output, kept below twice `LOG_BYTES_MAX`. */
export interface ChildLog {
  readonly file: string;
  /** The file descriptor for the child, open for appending. */
  readonly fd: number;
  close(): void;
}

/**
 * Opens a child's log. It is a file rather than a pipe, because the child may outlive our process;
 * the next instance then adopts the child and limits the same file.
 */
export function openChildLog(file: string): ChildLog {
  const fd = openOwnSync(file, 'append');
  const bound = () => {
    if (fs.fstatSync(fd).size <= LOG_BYTES_MAX) return;
    // Copy and empty the file instead of renaming it, because the child keeps its descriptor.
    fs.rmSync(`${file}.1`, { force: true });
    fs.copyFileSync(file, `${file}.1`, fs.constants.COPYFILE_EXCL);
    fs.ftruncateSync(fd, 0);
  };
  bound();
  const timer = setInterval(bound, LOG_CHECK_MS).unref();
  return {
    file,
    fd,
    close: () => {
      clearInterval(timer);
      fs.closeSync(fd);
    },
  };
}

/** The fault of a part of the sandbox that was not ready within its time limit. */
export function startTimeout(what: string, limitMs: number, logFile: string): StartError {
  return new StartError(
    `${what} within ${Math.round(limitMs / 1000)} s. If this machine is slow or busy, set ` +
      `SANDBOX_START_SECONDS higher (see ${logFile})`,
  );
}

/** Returns the last non-empty line of a log, for a one-line error. */
export function lastLine(file: string): string {
  const text = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
  return text.trimEnd().split('\n').at(-1)?.trim() ?? '';
}
