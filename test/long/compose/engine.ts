import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import { makeBaseFolder } from '../container/base.ts';
import { missingProgram, sh } from '../shell-commands.ts';

/**
 * A machine with only a container engine: a Docker daemon in its own network namespace, so that its
 * firewall and ports are isolated. It fetches no image: Debian's programs replace those that
 * compose.yaml names.
 */

const SPACE = 'tlcompose';
/** This machine's address in that network. Chains, a mail server and the registry run here. */
export const OUTSIDE = '10.97.0.1';
/** Address of the engine's machine. */
export const ADDRESS = '10.97.0.2';
const FOLDER = path.join(tmpdir(), 'tapline-compose-');
const CGROUPS = 'tapline-compose';
const STAND_INS = path.join(import.meta.dirname, 'images');
const UP_MS = 60_000;
const TYPED_MS = 900_000;
/** The first Compose version with `required: false`. Debian 13's package also runs on Debian 12. */
const OLDEST = [2, 24] as const;
const run = promisify(execFile);

export interface Engine {
  /** The engine's files, which `close` removes. */
  readonly folder: string;
  /** The daemon's address, for `DOCKER_HOST`. */
  readonly host: string;
  /** Runs commands in this folder. @throws with their output if one fails. */
  type(commands: string, options: { readonly cwd: string }): Promise<string>;
  /** Sends SIGKILL to the daemon and everything that it runs. */
  kill(): Promise<void>;
  boot(): Promise<void>;
  close(): Promise<void>;
}

/** Returns why the engine cannot run here, or `null`. */
export async function whyNoEngine(): Promise<string | null> {
  if (process.getuid?.() !== 0) return 'namespaces need root';
  const missing = await missingProgram(['dockerd', 'docker', 'debootstrap', 'iptables']);
  if (missing !== null) return `${missing} is missing (Debian: docker.io iptables debootstrap)`;
  const version = await sh('docker compose version --short').catch(() => '');
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return null;
  return `Compose ${OLDEST.join('.')} is missing: docker-compose of Debian 13`;
}

/** A virtual link to this machine, and through it to the package registries. */
const WIRES = [
  `ip netns add ${SPACE}`,
  `ip link add ${SPACE}0 type veth peer name eth0 netns ${SPACE}`,
  `ip addr add ${OUTSIDE}/24 dev ${SPACE}0`,
  `ip link set ${SPACE}0 up`,
  `ip -n ${SPACE} link set lo up`,
  `ip -n ${SPACE} addr add ${ADDRESS}/24 dev eth0`,
  `ip -n ${SPACE} link set eth0 up`,
  `ip -n ${SPACE} route add default via ${OUTSIDE}`,
  'echo 1 > /proc/sys/net/ipv4/ip_forward',
];
const OUTWARD = `POSTROUTING -s ${OUTSIDE}/24 ! -o ${SPACE}0 -j MASQUERADE`;

async function killContainers(): Promise<void> {
  // Cgroups of version 1 or 2.
  const files = ['pids/', ''].map((part) => `/sys/fs/cgroup/${part}${CGROUPS}/*/cgroup.procs`);
  await sh(`cat ${files.join(' ')} 2>/dev/null | xargs -r kill -9`).catch(() => {});
}

/** Unmounts the newest first, because some are mounted inside others. */
async function unmountAll(): Promise<void> {
  const mounts = (await sh('cut -d " " -f 2 /proc/self/mounts')).split('\n');
  const own = mounts.filter((place) => place.startsWith(FOLDER));
  for (const place of own.reverse()) await sh(`umount -l ${place}`).catch(() => {});
}

/** Removes the remains of this run and of killed ones. */
async function clean(): Promise<void> {
  await killContainers();
  await unmountAll();
  await sh(`iptables -t nat -D ${OUTWARD}`).catch(() => {});
  await sh(`ip link del ${SPACE}0`).catch(() => {});
  await sh(`ip netns del ${SPACE}`).catch(() => {});
}

/** Builds the images that compose.yaml would fetch from Debian's packages. */
async function makeImages(type: (command: string) => Promise<string>, folder: string) {
  const base = await makeBaseFolder(path.join(folder, 'base'));
  await type(`tar -C ${base} -c . | docker import - docker.io/library/node:24.22.3-bookworm-slim`);
  for (const [target, name] of [
    ['database', 'postgres:17'],
    ['requests', 'redis:7'],
    ['proxy', 'caddy:2'],
  ] as const) {
    await type(`docker build -q --target ${target} -t docker.io/library/${name} ${STAND_INS}`);
  }
}

interface Places {
  readonly socket: string;
  readonly data: string;
  readonly state: string;
  readonly pid: string;
  readonly log: string;
}

function startDaemon({ socket, data, state, pid, log }: Places): ChildProcess {
  const words = [
    ...['exec dockerd --data-root', data, '--exec-root', state, '--host', socket],
    ...['--pidfile', pid, '--cgroup-parent', CGROUPS, '--group root', '>>', log, '2>&1'],
  ].join(' ');
  const args = [`--net=/run/netns/${SPACE}`, 'sh', '-c', words];
  return spawn('nsenter', args, { stdio: 'ignore', detached: true });
}

async function killDaemon(daemon: ChildProcess, state: string): Promise<void> {
  if (daemon.pid !== undefined && daemon.exitCode === null && daemon.signalCode === null) {
    const ended = once(daemon, 'exit');
    // Kills its containerd, too, which is in the same process group.
    process.kill(-daemon.pid, 'SIGKILL');
    await ended;
  }
  await killContainers();
  await sh(`pkill -9 -f '^[^ ]*containerd.* ${state}'`).catch(() => {});
  await unmountAll();
}

function typist(socket: string): Engine['type'] {
  const env = { ...process.env, DOCKER_HOST: socket };
  return async (commands, { cwd }) => {
    const args = ['--norc', '-euo', 'pipefail', '-c', commands];
    const options = { env, cwd, timeout: TYPED_MS, maxBuffer: 1 << 26 };
    return (await run('bash', args, options)).stdout;
  };
}

export async function openEngine(): Promise<Engine> {
  await clean();
  const folder = await mkdtemp(FOLDER);
  for (const command of [...WIRES, `iptables -t nat -A ${OUTWARD}`]) await sh(command);
  const places = {
    socket: `unix://${folder}/docker.sock`,
    data: path.join(folder, 'data'),
    state: path.join(folder, 'state'),
    pid: path.join(folder, 'docker.pid'),
    log: path.join(folder, 'docker.log'),
  };
  const type = typist(places.socket);
  const typeHere = (command: string) => type(command, { cwd: folder });
  const answers = () =>
    typeHere('docker version').then(
      () => true,
      () => false,
    );
  let daemon = startDaemon(places);
  const untilUp = async () => {
    if (await waitUntil(answers, UP_MS)) return;
    throw new Error(`no engine:\n${(await readFile(places.log, 'utf8')).slice(-3_000)}`);
  };
  const kill = () => killDaemon(daemon, places.state);
  const boot = async () => {
    // Removes state that a real machine would lose with its memory.
    for (const place of [places.state, places.pid])
      await rm(place, { recursive: true, force: true });
    daemon = startDaemon(places);
    await untilUp();
  };
  const close = async () => {
    await kill();
    await clean();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    await untilUp();
    await makeImages(typeHere, folder);
  } catch (error) {
    await close();
    throw error;
  }
  return { folder, host: places.socket, type, kill, boot, close };
}
