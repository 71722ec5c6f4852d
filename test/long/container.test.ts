import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { freePort, waitUntil } from '#sandbox/find-and-stop-processes.ts';
import { chaosEnv } from '#testkit/simulation/chaos/chaos-process.ts';
import { makeBaseFolder } from './machines/base.ts';
import { Rig } from './machines/rig.ts';
import { missingProgram, unmountBelow } from './shell-commands.ts';

/**
 * Builds and starts the image with Debian's tools, as root: `apt install buildah debootstrap`. It
 * fetches no image: the base is a debootstrap Debian with Node.js from node_modules and npm.
 * Isolation is a chroot, so the read-only root and the limits of compose.yaml are not tested here.
 */

const ROOT = path.join(import.meta.dirname, '../..');
/** Size on disk, of which the download is a quarter. It includes the fonts of PDF receipts. */
const ABOVE_BASE_MB = 160;
const BUILD_MS = 900_000;
const START_MS = 180_000;
const run = promisify(execFile);
const PROGRAMS = ['buildah', 'debootstrap'];

let folder = '';

const buildah = async (...args: readonly string[]) => {
  const env = { ...process.env, BUILDAH_ISOLATION: 'chroot', STORAGE_DRIVER: 'vfs' };
  const target = ['--root', path.join(folder, 'storage'), '--runroot', path.join(folder, 'run')];
  const options = { env, cwd: ROOT, timeout: BUILD_MS, maxBuffer: 1 << 26 };
  const { stdout } = await run('buildah', [...target, ...args], options);
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

const rig = new Rig(async ({ undo }) => {
  const why = await missing();
  if (why !== null) return why;
  folder = await mkdtemp(path.join(tmpdir(), 'tapline-image-'));
  undo.push(async () => {
    // A killed container leaves its file systems.
    await unmountBelow(`${folder}/`);
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 500 });
  });
  await rig.openGround(null);
  await makeBase();
  return null;
});

/** Starts a container of the image with these settings, on this machine's network. */
async function startContainer(env: Readonly<Record<string, string>>, args: readonly string[]) {
  const container = await buildah('from', 'localhost/tapline');
  const target = ['--root', path.join(folder, 'storage'), '--runroot', path.join(folder, 'run')];
  const settings = Object.entries(env).map(([name, value]) => `--env=${name}=${value}`);
  const command = ['node', 'src/app/main.ts', ...args];
  const child = spawn('buildah', [...target, 'run', ...settings, container, '--', ...command], {
    env: { ...process.env, BUILDAH_ISOLATION: 'chroot', STORAGE_DRIVER: 'vfs' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  rig.undo.push(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
  }
  return { container, child, logs: () => text };
}

async function serve(): Promise<string> {
  const base = ['--format', 'docker', '--build-arg', 'BASE=localhost/base'];
  const file = ['-f', 'deploy/container/Dockerfile', '-t', 'localhost/tapline', '.'];
  await buildah('build', '-q', ...base, ...file);
  const container = await buildah('from', 'localhost/tapline');
  const sizes = await buildah('run', container, '--', 'sh', '-c', 'id -u; du -sm /app | cut -f1');
  const [user, megabytes] = sizes.split('\n').map(Number);
  assert.equal(user, 10_001);
  assert(Number(megabytes) < ABOVE_BASE_MB, `${megabytes} MB`);
  const write = buildah('run', container, '--', 'sh', '-c', 'echo x > /app/x');
  await assert.rejects(write, /Permission denied|cannot create/);

  const refused = await startContainer({}, []);
  await once(refused.child, 'close');
  assert.match(refused.logs(), /^tapline: NODE_ENV=production needs DATABASE_URL/m);

  const [port, ops] = [await freePort(), await freePort()];
  const env = { ...chaosEnv(rig.ground), NODE_ENV: 'test', PORT: `${port}`, OPS_PORT: `${ops}` };
  const { child, logs } = await startContainer(env, ['--roles', 'api,worker']);
  const isReady = async () =>
    (await fetch(`http://127.0.0.1:${ops}/readyz`).catch(() => null))?.ok === true;
  assert(await waitUntil(isReady, START_MS), logs());
  const page = await fetch(`http://127.0.0.1:${port}/dashboard`);
  assert.equal(page.status, 200, 'the web apps are in the image');
  child.kill('SIGTERM');
  await once(child, 'exit');
  return `image: ${megabytes} MB of Tapline above its base`;
}

rig.check('the image is built, is small, starts as the user nobody and serves', serve, {
  timeout: BUILD_MS,
});
