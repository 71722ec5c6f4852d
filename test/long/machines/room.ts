import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { present } from '#core/assert.ts';
import type { Machine } from '../ha/machines.ts';
import { sh } from '../shell-commands.ts';

/**
 * Four simulated machines on which a guide's commands run unchanged. Each has its own root (an
 * overlay on this machine's, which shares installed packages), the guide's addresses, and a
 * `systemctl` that starts the units. Their network is a namespace with one link to this machine,
 * which is `OUTSIDE` there and runs clients and chains.
 */

const ROOT = path.join(import.meta.dirname, '../../..');
/** The repository's path on each machine. */
const REPOSITORY = '/srv/tapline';
const ROOM = 'tlroom';
/** This machine's address as seen from the simulated machines. */
export const OUTSIDE = '10.0.0.1';
const FOLDER = path.join(tmpdir(), 'tapline-room-');
const NAMES = ['db1', 'db2', 'db3', 'backup'] as const;
const MEMORY = '6g';
/** Database disk size, more than the WAL retained for standbys (`wal_keep_size`). */
const DISK = '3g';
const DATABASES = 'var/lib/postgresql';
const DEVICES = [...['null c 1 3', 'zero c 1 5', 'random c 1 8', 'urandom c 1 9', 'tty c 5 0']]
  .map((device) => `mknod -m 666 ${device}`)
  .join(' && ');
const run = promisify(execFile);

/** Returns why machines cannot be simulated here, or `null`. */
export async function whyNoMachines(packages: readonly string[]): Promise<string | null> {
  if (process.getuid?.() !== 0) return 'namespaces and overlays need root';
  const installed = await sh(`dpkg-query -W -f '\${Package} ' ${packages.join(' ')}`).catch(
    (error: { readonly stdout?: string }) => error.stdout ?? '',
  );
  const missing = packages.filter((name) => !installed.split(' ').includes(name));
  if (missing.length > 0) return `Debian: apt install ${missing.join(' ')}`;
  const made = await sh(`ip netns add ${ROOM}-try && ip netns del ${ROOM}-try`).catch(() => null);
  if (made === null) return 'network namespaces are forbidden here';
  const taken = await sh(`ip route show root ${OUTSIDE}/24 | grep -v ${ROOM}0 || true`);
  return taken === '' ? null : `the addresses of the guide are in use here: ${taken}`;
}

export interface GuideMachine extends Omit<Machine, 'start' | 'killServer'> {
  /** Path of the machine's root directory on the host. */
  readonly root: string;
  /** Runs commands as root in the repository. @throws with their output if one fails. */
  type(commands: string, env?: Readonly<Record<string, string>>): Promise<string>;
  /**
   * Runs commands like `type`, with access to package registries, which the simulated network does
   * not reach.
   */
  typeOnline(commands: string): Promise<string>;
  /** Starts every enabled unit. */
  boot(): Promise<void>;
}

export interface Room {
  readonly machines: readonly GuideMachine[];
  readonly backup: GuideMachine;
  close(): Promise<void>;
}

/** Creates a root for the machine, with this machine's root as the lower layer. */
async function openRoot(disk: string): Promise<string> {
  const root = path.join(disk, 'root');
  await mkdir(disk);
  await sh(`mount -t tmpfs -o size=${MEMORY},mode=0755 tmpfs ${disk}`);
  for (const part of ['upper', 'work', 'root']) await mkdir(path.join(disk, part));
  const layers = `lowerdir=/,upperdir=${disk}/upper,workdir=${disk}/work`;
  await sh(`mount -t overlay overlay -o ${layers} ${root}`);
  await openDisk(disk, path.join(root, DATABASES));
  // Binds no mount of this machine, so the removal afterwards is safe.
  await sh(`mount -t proc proc ${root}/proc && mount -t tmpfs -o mode=0755 tmpfs ${root}/dev`);
  // Fakes this entry, because node_exporter reads the mounts of process 1.
  await sh(`echo '/dev/vda /${DATABASES} ext4 rw 0 0' > ${disk}/mounts`);
  await sh(`mount --bind ${disk}/mounts ${root}/proc/1/mounts`);
  const devices = `${DEVICES} && ln -s /proc/self/fd fd && mkdir shm`;
  await sh(`cd ${root}/dev && ${devices} && mount -t tmpfs tmpfs shm`);
  await sh(`mount -t tmpfs -o mode=0755 tmpfs ${root}/run && mkdir -m 1777 ${root}/run/lock`);
  await sh(`install -d -o postgres -g postgres -m 2775 ${root}/run/postgresql`);
  // Creates udev's folders, because a machine with its own kernel has udev.
  await sh(`mkdir -p ${root}/etc/udev/rules.d ${root}/etc/modules-load.d`);
  await sh(`mkdir -p ${root}${REPOSITORY} && cp -r ${ROOT}/deploy ${root}${REPOSITORY}/deploy`);
  // Removes enabled units, so that only those that the guide enables are enabled.
  await sh(`rm -rf ${root}/etc/systemd/system/*.wants`);
  await copyFile(
    path.join(import.meta.dirname, 'systemctl'),
    path.join(root, 'usr/local/bin/systemctl'),
  );
  await chmod(path.join(root, 'usr/local/bin/systemctl'), 0o755);
  return root;
}

/**
 * Creates a separate file system, because node_exporter ignores overlays and memory file systems.
 */
async function openDisk(disk: string, place: string): Promise<void> {
  const image = path.join(disk, 'disk.img');
  const before = path.join(disk, 'before');
  await sh(`truncate -s ${DISK} ${image} && mkfs.ext4 -q -m 0 ${image}`);
  await sh(`cp -a ${place} ${before} && mount -o loop ${image} ${place}`);
  await sh(`cp -a ${before}/. ${place} && rm -r ${before}`);
}

async function connectWire(name: string, address: string): Promise<string> {
  const space = `${ROOM}-${name}`;
  await sh(
    [
      `ip netns add ${space}`,
      `ip -n ${ROOM} link add ${name} type veth peer name eth0 netns ${space}`,
      `ip -n ${ROOM} link set ${name} master room up`,
      `ip -n ${space} link set lo up`,
      `ip -n ${space} addr add ${address}/24 dev eth0`,
      `ip -n ${space} link set eth0 up`,
    ].join(' && '),
  );
  return space;
}

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const OWN = { PATH, HOME: '/root', LC_ALL: 'C.UTF-8', DEBIAN_FRONTEND: 'noninteractive' };
const TYPED_MS = 300_000;

/** Returns the settings that this machine needs to reach the registry. */
function online(): Record<string, string> {
  const settings = Object.entries(process.env).filter(([name]) =>
    /proxy|^npm_config_|CERT/i.test(name),
  );
  return Object.fromEntries(settings.map(([name, value]) => [name, value ?? '']));
}

function typist(root: string, before: readonly string[]) {
  return async (commands: string, env: Readonly<Record<string, string>> = {}) => {
    const shell = ['bash', '--norc', '-euo', 'pipefail', '-c', `cd ${REPOSITORY}\n${commands}`];
    const [program = '', ...args] = [...before, 'chroot', root, ...shell];
    const { stdout } = await run(program, args, {
      env: { ...OWN, ...env },
      timeout: TYPED_MS,
      maxBuffer: 16_777_216,
    });
    return stdout;
  };
}

async function openMachine(folder: string, name: string, number: number): Promise<GuideMachine> {
  const address = `10.0.0.1${number}`;
  const disk = path.join(folder, name);
  const root = await openRoot(disk);
  const space = await connectWire(name, address);
  const type = typist(root, ['ip', 'netns', 'exec', space]);
  // Some processes have already ended.
  const signal = (which: string) =>
    sh(`ip netns pids ${space} | xargs -r kill -${which} 2>/dev/null || true`);
  return {
    name,
    address,
    root,
    type,
    typeOnline: (commands) => typist(root, [])(commands, online()),
    kill: async () => {
      await signal('KILL');
      // Removes state that a real machine would lose with its memory.
      await rm(path.join(root, 'run/units'), { recursive: true, force: true });
    },
    boot: async () => void (await type('systemctl start multi-user.target')),
    freeze: async () => void (await signal('STOP')),
    thaw: async () => void (await signal('CONT')),
    cutOff: async () => void (await sh(`ip -n ${ROOM} link set ${name} down`)),
    connect: async () => void (await sh(`ip -n ${ROOM} link set ${name} up`)),
    fillDisk: async () =>
      void (await sh(`dd if=/dev/zero of=${root}/${DATABASES}/full bs=1M status=none || true`)),
    emptyDisk: () => rm(path.join(root, DATABASES, 'full'), { force: true }),
  };
}

/** Removes the remains of this run and of killed ones. */
async function clean(): Promise<void> {
  for (const name of NAMES) {
    await sh(`ip netns pids ${ROOM}-${name} | xargs -r kill -9`).catch(() => {});
    await sh(`ip netns del ${ROOM}-${name}`).catch(() => {});
  }
  await sh(`ip netns del ${ROOM}`).catch(() => {});
  await sh(`ip link del ${ROOM}0`).catch(() => {});
  const mounts = (await sh('cut -d " " -f 2 /proc/self/mounts')).split('\n');
  const own = mounts.filter((place) => place.startsWith(FOLDER));
  // Unmounts the newest first, because some are mounted inside others.
  for (const place of own.reverse()) await sh(`umount -l ${place}`).catch(() => {});
  const folders = own.map((place) => place.split('/', FOLDER.split('/').length).join('/'));
  for (const folder of new Set(folders)) {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Creates a network of the four machines, with one link to this machine. */
async function openNetwork(): Promise<void> {
  await sh(
    [
      `ip netns add ${ROOM}`,
      `ip -n ${ROOM} link add room type bridge`,
      `ip -n ${ROOM} link set room up`,
      `ip link add ${ROOM}0 type veth peer name outside netns ${ROOM}`,
      `ip -n ${ROOM} link set outside master room up`,
      `ip addr add ${OUTSIDE}/24 dev ${ROOM}0`,
      `ip link set ${ROOM}0 up`,
    ].join(' && '),
  );
}

export async function openPolls(): Promise<Room> {
  await clean();
  const folder = await mkdtemp(FOLDER);
  const machines: GuideMachine[] = [];
  try {
    await openNetwork();
    for (const [index, name] of NAMES.entries()) {
      machines.push(await openMachine(folder, name, index + 1));
    }
  } catch (error) {
    await clean();
    throw error;
  }
  const backup = present(machines.pop(), 'machine of the backup');
  return { machines, backup, close: clean };
}
