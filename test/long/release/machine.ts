import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseEnv, promisify } from 'node:util';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';

/**
 * A folder that replaces a machine without the repository: commands of the guides run with `/opt`,
 * `/etc/tapline` and `/var/lib` inside it, and the units of the unpacked release run as plain
 * processes of this user. Not covered: systemd itself.
 */

const TYPED_MS = 900_000;
const READY_MS = 180_000;
const OUTPUT_BYTES = 64 * 1024 * 1024;
/** Length of a log's end in an error message. */
const LOG_LENGTH = 3_000;
const run = promisify(execFile);

export interface Unit {
  logs(): string;
  stop(): Promise<void>;
}

export interface Machine {
  readonly root: string;
  /** Runs commands of a guide. @throws with their output if one fails. */
  type(commands: string, options?: { readonly cwd?: string }): Promise<string>;
  /** Starts a unit of the release behind /opt/tapline: `tapline@api`. */
  start(unit: string, env?: Readonly<Record<string, string>>): Promise<Unit>;
  /** The environment of the typed commands. */
  readonly env: Readonly<Record<string, string>>;
  /** Makes the machine's programs accept certificates of this authority. */
  trust(certificate: string): Promise<void>;
}

/**
 * Returns the settings of a unit's [Service] section that `start` needs. If a setting is repeated,
 * its last value counts.
 */
function readUnit(text: string, role: string) {
  const whole = text.replaceAll(/ *\\\n\s*/g, ' ').replaceAll('%i', role);
  const all = (name: string) =>
    [...whole.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value);
  const [program = ''] = all('ExecStart');
  const [folder = ''] = all('WorkingDirectory');
  const assigned = all('Environment').flatMap((line) => line.split(' '));
  return { program, folder, assigned, files: all('EnvironmentFile') };
}

async function ended(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child.exitCode;
}

/** Returns this machine's environment: its own certificates, and a PATH with npm. */
async function makeEnv(root: string) {
  const { stdout: npm } = await run('sh', ['-c', 'dirname "$(command -v npm)"']);
  const trusted = path.join(root, 'etc/trusted.pem');
  const { NODE_EXTRA_CA_CERTS: others } = process.env;
  await writeFile(trusted, others === undefined ? '' : await readFile(others));
  return {
    PATH: `${npm.trim()}:/usr/local/bin:/usr/bin:/bin`,
    HOME: path.join(root, 'home'),
    NODE_EXTRA_CA_CERTS: trusted,
  };
}

type Inside = (text: string) => string;

async function readSettings(files: readonly string[], inside: Inside) {
  const found: Record<string, string | undefined> = {};
  for (const name of files) {
    const text = readFile(inside(name.replace(/^-/, '')), 'utf8');
    const known = name.startsWith('-') ? await text.catch(() => '') : await text;
    Object.assign(found, parseEnv(known));
  }
  return found;
}

interface Started extends Unit {
  readonly child: ChildProcess;
}

/** Starts a program and records its whole output. */
function startProgram(
  words: readonly string[],
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Started {
  const [program = '', ...args] = words;
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
  }
  const stop = async () => {
    child.kill('SIGTERM');
    assert.equal(await ended(child), 0, text.slice(-LOG_LENGTH));
  };
  return { child, logs: () => text, stop };
}

export async function openMachine(
  root: string,
  endWithUs: (pid: number) => void,
): Promise<Machine> {
  for (const place of ['opt', 'etc/tapline', 'var/lib', 'home']) {
    await mkdir(path.join(root, place), { recursive: true, mode: 0o700 });
  }
  const env = await makeEnv(root);
  const inside: Inside = (text) =>
    text.replaceAll(/(?<![\w.])\/(?=(?:opt|etc\/tapline|var\/lib)\b)/g, `${root}/`);
  return {
    root,
    env,
    type: async (commands, { cwd = root } = {}) => {
      const args = ['--norc', '-euo', 'pipefail', '-c', inside(commands)];
      const options = { env, cwd, timeout: TYPED_MS, maxBuffer: OUTPUT_BYTES };
      return (await run('bash', args, options)).stdout;
    },
    start: async (name, extra = {}) => {
      const [file = '', role] = name.split('@');
      const service = role === undefined ? `${file}.service` : `${file}@.service`;
      const place = path.join(root, 'opt/tapline/deploy/systemd', service);
      const unit = readUnit(await readFile(place, 'utf8'), role ?? '');
      const assigned = Object.fromEntries(unit.assigned.map((one) => inside(one).split('=')));
      const settings = await readSettings(unit.files, inside);
      const started = startProgram(inside(unit.program).split(/ +/), {
        cwd: inside(unit.folder),
        env: { ...env, ...settings, ...assigned, ...extra },
      });
      if (started.child.pid !== undefined) endWithUs(started.child.pid);
      // A unit without a role is a command.
      if (role === undefined) assert.equal(await ended(started.child), 0, started.logs());
      return started;
    },
    trust: (certificate) => appendFile(env.NODE_EXTRA_CA_CERTS, certificate),
  };
}

/** Waits until the process on this port is ready. @returns its release. */
export async function untilReady(port: number, unit: Unit): Promise<string> {
  let version = '';
  const isReady = async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null);
    if (answer?.ok !== true) return false;
    ({ version = '' } = (await answer.json()) as { readonly version?: string });
    return true;
  };
  assert(await waitUntil(isReady, READY_MS), unit.logs().slice(-LOG_LENGTH));
  return version;
}
