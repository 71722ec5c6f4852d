import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseEnv, promisify } from 'node:util';
import { waitUntil } from '#sandbox/processes.ts';

/**
 * A folder that stands in for a machine without the repository: commands of the guides run with
 * `/opt`, `/etc/tapline` and `/var/lib` inside it, and the units of the unpacked release as plain
 * processes of this user. Not covered: systemd itself.
 */

const TYPED_MS = 900_000;
const READY_MS = 180_000;
const OUTPUT_BYTES = 64 * 1024 * 1024;
const run = promisify(execFile);

export interface Unit {
  /** Returns its output so far. */
  logs(): string;
  stop(): Promise<void>;
}

export interface Machine {
  readonly root: string;
  /** Runs commands of a guide. @throws with their output if one fails. */
  type(commands: string, options?: { readonly cwd?: string }): Promise<string>;
  /** Starts a unit of the release behind /opt/tapline: `tapline@api`. */
  start(unit: string, env?: Readonly<Record<string, string>>): Promise<Unit>;
  /** The environment of what is typed. */
  readonly env: Readonly<Record<string, string>>;
  /** Makes its programs accept certificates of this authority. */
  trust(certificate: string): Promise<void>;
}

/** Returns the last value of each setting of a unit's [Service] section that this needs. */
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

export async function openMachine(
  root: string,
  endWithUs: (pid: number) => void,
): Promise<Machine> {
  for (const place of ['opt', 'etc/tapline', 'var/lib', 'home']) {
    await mkdir(path.join(root, place), { recursive: true, mode: 0o700 });
  }
  const { stdout: npm } = await run('sh', ['-c', 'dirname "$(command -v npm)"']);
  const trusted = path.join(root, 'etc/trusted.pem');
  await writeFile(trusted, '');
  const { NODE_EXTRA_CA_CERTS: others } = process.env;
  if (others !== undefined) await appendFile(trusted, await readFile(others));
  const env = {
    PATH: `${npm.trim()}:/usr/local/bin:/usr/bin:/bin`,
    HOME: path.join(root, 'home'),
    NODE_EXTRA_CA_CERTS: trusted,
  };
  const inside = (text: string) =>
    text.replaceAll(/(?<![\w.])\/(?=(?:opt|etc\/tapline|var\/lib)\b)/g, `${root}/`);
  const type: Machine['type'] = async (commands, { cwd = root } = {}) => {
    const args = ['--norc', '-euo', 'pipefail', '-c', inside(commands)];
    const { stdout } = await run('bash', args, {
      ...{ env, cwd, timeout: TYPED_MS, maxBuffer: OUTPUT_BYTES },
    });
    return stdout;
  };
  const settingsOf = async (files: readonly string[]) => {
    const found: Record<string, string | undefined> = {};
    for (const name of files) {
      const text = readFile(inside(name.replace(/^-/, '')), 'utf8');
      Object.assign(
        found,
        parseEnv(name.startsWith('-') ? await text.catch(() => '') : await text),
      );
    }
    return found;
  };
  const start: Machine['start'] = async (name, extra = {}) => {
    const [file = '', role = ''] = name.split('@');
    const release = path.join(root, 'opt/tapline/deploy/systemd');
    const place = path.join(release, role === '' ? `${file}.service` : `${file}@.service`);
    const unit = readUnit(await readFile(place, 'utf8'), role);
    const assigned = Object.fromEntries(unit.assigned.map((one) => inside(one).split('=')));
    const words = inside(unit.program)
      .split(' ')
      .filter((word) => word !== '');
    const settings = await settingsOf(unit.files);
    const [program = '', ...args] = words;
    const child = spawn(program, args, {
      cwd: inside(unit.folder),
      env: { ...env, ...settings, ...assigned, ...extra },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    if (child.pid !== undefined) endWithUs(child.pid);
    let text = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
    }
    if (role === '') assert.equal(await ended(child), 0, text);
    return {
      logs: () => text,
      stop: async () => {
        child.kill('SIGTERM');
        assert.equal(await ended(child), 0, text.slice(-3_000));
      },
    };
  };
  return { root, type, start, env, trust: (certificate) => appendFile(trusted, certificate) };
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
  assert(await waitUntil(isReady, READY_MS), unit.logs().slice(-3_000));
  return version;
}
