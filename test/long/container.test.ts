import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { freePort, waitUntil } from '#sandbox/find-and-stop-processes.ts';
import { type ChaosGround, openChaosGround } from '#testkit/simulation/chaos/chaos-ground.ts';
import { chaosEnv } from '#testkit/simulation/chaos/chaos-process.ts';
import { makeBaseFolder } from './container/base.ts';
import { missingProgram } from './shell-commands.ts';

/**
 * Builds and starts the image with Debian's tools, as root: `apt install buildah debootstrap`. It
 * fetches no image: the base is a debootstrap Debian with Node.js from node_modules and npm.
 * Isolation is a chroot, so the read-only root and the limits of compose.yaml are not tested here.
 */

const ROOT = path.join(import.meta.dirname, '../..');
/** Size of Tapline on disk. With Debian and Node.js the download stays under 200 MB. */
const ABOVE_BASE_MB = 130;
const BUILD_MS = 900_000;
const START_MS = 180_000;
const run = promisify(execFile);
const PROGRAMS = ['buildah', 'debootstrap'];

let folder = '';
let why: string | null = null;
let ground: ChaosGround;
const children: ChildProcess[] = [];

const buildah = async (...args: readonly string[]) => {
  const env = { ...process.env, BUILDAH_ISOLATION: 'chroot', STORAGE_DRIVER: 'vfs' };
  const place = ['--root', path.join(folder, 'storage'), '--runroot', path.join(folder, 'run')];
  const options = { env, cwd: ROOT, timeout: BUILD_MS, maxBuffer: 1 << 26 };
  const { stdout } = await run('buildah', [...place, ...args], options);
  return stdout.trim();
};

async function missing(): Promise<string | null> {
  if (process.getuid?.() !== 0) return 'debootstrap needs root';
  const missing = await missingProgram(PROGRAMS);
  if (missing === null) return null;
  return `${missing} is not installed (Debian: apt install ${PROGRAMS.join(' ')})`;
}

async function makeBase(): Promise<void> {
  const rootFolder = await makeBaseFolder(path.join(folder, 'base'));
  const container = await buildah('from', 'scratch');
  await buildah('add', '-q', container, rootFolder, '/');
  await buildah('commit', '-q', container, 'localhost/base');
}

before(async () => {
  why = await missing();
  if (why !== null) return;
  folder = await mkdtemp(path.join(tmpdir(), 'tapline-image-'));
  ground = await openChaosGround();
  await makeBase();
});

/**
 * Unmounts the file systems that a killed container leaves, which block the removal of the folder.
 */
async function unmountAll(): Promise<void> {
  const mounts = await readFile('/proc/self/mounts', 'utf8');
  const places = mounts.split('\n').map((line) => line.split(' ')[1] ?? '');
  const below = places.filter((place) => place.startsWith(`${folder}/`));
  // Unmounts the newest first, because some are mounted inside others.
  for (const place of below.reverse()) await run('umount', ['-l', place]).catch(() => {});
}

after(async () => {
  if (why !== null) return;
  for (const child of children) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  await ground.close();
  await unmountAll();
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 500 });
});

/** Starts a container of the image with these settings, on this machine's network. */
async function startContainer(env: Readonly<Record<string, string>>, args: readonly string[]) {
  const container = await buildah('from', 'localhost/tapline');
  const place = ['--root', path.join(folder, 'storage'), '--runroot', path.join(folder, 'run')];
  const settings = Object.entries(env).map(([name, value]) => `--env=${name}=${value}`);
  const command = ['node', 'src/app/main.ts', ...args];
  const child = spawn('buildah', [...place, 'run', ...settings, container, '--', ...command], {
    env: { ...process.env, BUILDAH_ISOLATION: 'chroot', STORAGE_DRIVER: 'vfs' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
  }
  return { container, child, logs: () => text };
}

test('the image is built, is small, starts as the user nobody and serves', {
  timeout: BUILD_MS,
}, async (t) => {
  if (why !== null) return t.skip(why);
  const file = 'deploy/container/Dockerfile';
  const base = ['--build-arg', 'BASE=localhost/base'];
  await buildah(
    'build',
    '-q',
    '--format',
    'docker',
    ...base,
    '-f',
    file,
    '-t',
    'localhost/tapline',
    '.',
  );
  const container = await buildah('from', 'localhost/tapline');
  const sizes = await buildah('run', container, '--', 'sh', '-c', 'id -u; du -sm /app | cut -f1');
  const [user, megabytes] = sizes.split('\n').map(Number);
  assert.equal(user, 10_001);
  assert(Number(megabytes) < ABOVE_BASE_MB, `${megabytes} MB`);
  t.diagnostic(`image: ${megabytes} MB of Tapline above its base`);
  const write = buildah('run', container, '--', 'sh', '-c', 'echo x > /app/x');
  await assert.rejects(write, /Permission denied|cannot create/);

  const refused = await startContainer({}, []);
  await once(refused.child, 'close');
  assert.match(refused.logs(), /^tapline: NODE_ENV=production needs DATABASE_URL/m);

  const [port, ops] = [await freePort(), await freePort()];
  const env = { ...chaosEnv(ground), NODE_ENV: 'test', PORT: `${port}`, OPS_PORT: `${ops}` };
  const { child, logs } = await startContainer(env, ['--roles', 'api,worker']);
  const isReady = async () =>
    (await fetch(`http://127.0.0.1:${ops}/readyz`).catch(() => null))?.ok === true;
  assert(await waitUntil(isReady, START_MS), logs());
  const page = await fetch(`http://127.0.0.1:${port}/dashboard`);
  assert.equal(page.status, 200, 'the web apps are in the image');
  child.kill('SIGTERM');
  await once(child, 'exit');
});
