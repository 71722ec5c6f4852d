import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { present } from '#core/assert.ts';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import { missingProgram, sh, typed, unmountBelow } from '../shell-commands.ts';
import { makeBaseFolder } from './base.ts';
import type { Undo } from './rig.ts';
import { closeWires, OUTSIDE, openWires, type Wire, whyNoWires } from './wires.ts';

/**
 * A machine with only a container engine: a Docker daemon in its own network namespace, so that its
 * firewall and ports are isolated. It has this machine's root, and fetches no image: Debian's
 * programs replace those that compose.yaml names.
 */

const FOLDER = path.join(tmpdir(), 'tapline-compose-');
const CGROUPS = 'tapline-compose';
const STAND_INS = path.join(import.meta.dirname, 'images');
const UP_MS = 60_000;
/** The first Compose version with `required: false`. Debian 13's package also runs on Debian 12. */
const OLDEST = [2, 24] as const;

export interface Engine {
  /** The engine's files, which `close` removes. */
  readonly folder: string;
  readonly address: string;
  /** The daemon's address, for `DOCKER_HOST`. */
  readonly host: string;
  /** Runs commands in this folder. @throws with their output if one fails. */
  type(commands: string, options: { readonly cwd: string }): Promise<string>;
  /** Sends SIGKILL to the daemon and everything that it runs. */
  kill(): Promise<void>;
  boot(): Promise<void>;
}

/** Returns why the engine cannot run here, or `null`. */
export async function whyNoEngine(): Promise<string | null> {
  const missing = await missingProgram(['dockerd', 'docker', 'debootstrap', 'iptables']);
  if (missing !== null) return `${missing} is missing (Debian: docker.io iptables debootstrap)`;
  const version = await sh('docker compose version --short').catch(() => '');
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return whyNoWires();
  return `Compose ${OLDEST.join('.')} is missing: docker-compose of Debian 13`;
}

/** Leads from the machine through this one to the package registries. */
const OUTWARD = `POSTROUTING -s ${OUTSIDE}/24 ! -d ${OUTSIDE}/24 -j MASQUERADE`;

async function killContainers(): Promise<void> {
  // Cgroups of version 1 or 2.
  const files = ['pids/', ''].map((part) => `/sys/fs/cgroup/${part}${CGROUPS}/*/cgroup.procs`);
  await sh(`cat ${files.join(' ')} 2>/dev/null | xargs -r kill -9`).catch(() => {});
}

/** Removes the remains of this run and of killed ones. */
async function clean(): Promise<void> {
  await killContainers();
  await unmountBelow(FOLDER);
  await sh(`iptables -t nat -D ${OUTWARD}`).catch(() => {});
  await closeWires();
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

function startDaemon({ inside }: Wire, places: Places): ChildProcess {
  const { socket, data, state, pid, log } = places;
  const words = [
    ...['exec dockerd --data-root', data, '--exec-root', state, '--host', socket],
    ...['--pidfile', pid, '--cgroup-parent', CGROUPS, '--group root', '>>', log, '2>&1'],
  ].join(' ');
  const [program = '', ...args] = [...inside, 'sh', '-c', words];
  return spawn(program, args, { stdio: 'ignore', detached: true });
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
  await unmountBelow(FOLDER);
}

export async function openEngine(undo: Undo): Promise<Engine> {
  await clean();
  const folder = await mkdtemp(FOLDER);
  const places = {
    socket: `unix://${folder}/docker.sock`,
    data: path.join(folder, 'data'),
    state: path.join(folder, 'state'),
    pid: path.join(folder, 'docker.pid'),
    log: path.join(folder, 'docker.log'),
  };
  const wire = present((await openWires(['engine']))[0], 'wire of the engine');
  await sh(`set -e
    ${wire.inside.join(' ')} ip route add default via ${OUTSIDE}
    echo 1 > /proc/sys/net/ipv4/ip_forward
    iptables -t nat -A ${OUTWARD}`);
  const env = { ...process.env, DOCKER_HOST: places.socket };
  const type: Engine['type'] = (commands, { cwd }) => typed(commands, { env, cwd });
  const typeHere = (command: string) => type(command, { cwd: folder });
  const answers = () =>
    typeHere('docker version').then(
      () => true,
      () => false,
    );
  let daemon = startDaemon(wire, places);
  const untilUp = async () => {
    if (await waitUntil(answers, UP_MS)) return;
    throw new Error(`no engine:\n${(await readFile(places.log, 'utf8')).slice(-3_000)}`);
  };
  const kill = () => killDaemon(daemon, places.state);
  const boot = async () => {
    // Removes state that a real machine would lose with its memory.
    for (const place of [places.state, places.pid])
      await rm(place, { recursive: true, force: true });
    daemon = startDaemon(wire, places);
    await untilUp();
  };
  undo.push(async () => {
    await kill();
    await clean();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  await untilUp();
  await makeImages(typeHere, folder);
  return { folder, address: wire.address, host: places.socket, type, kill, boot };
}
