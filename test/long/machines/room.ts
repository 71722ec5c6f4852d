import { chmod, copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { present } from '#core/assert.ts';
import { sh, typed, unmountBelow } from '../shell-commands.ts';
import { closeWires, openWires, type Wire, whyNoWires } from './wires.ts';

/**
 * Simulated machines on which a guide's commands run unchanged. Each has its own root (an overlay
 * on this machine's, which shares installed packages), its own disk for databases, the guide's
 * address (`wires.ts`), and a `systemctl` that starts the units.
 */

const ROOT = path.join(import.meta.dirname, '../../..');
/** The repository's path on each machine. */
const REPOSITORY = '/srv/tapline';
const FOLDER = path.join(tmpdir(), 'tapline-room-');
const MEMORY = '6g';
/** Database disk size, more than the WAL retained for standbys (`wal_keep_size`). */
const DISK = '3g';
const DATABASES = 'var/lib/postgresql';
const DEVICES = [...['null c 1 3', 'zero c 1 5', 'random c 1 8', 'urandom c 1 9', 'tty c 5 0']]
  .map((device) => `mknod -m 666 ${device}`)
  .join(' && ');

/** Returns why machines with these packages cannot be simulated here, or `null`. */
export async function whyNoMachines(packages: readonly string[]): Promise<string | null> {
  const installed = await sh(`dpkg-query -W -f '\${Package} ' ${packages.join(' ')}`).catch(
    (error: { readonly stdout?: string }) => error.stdout ?? '',
  );
  const missing = packages.filter((name) => !installed.split(' ').includes(name));
  return missing.length > 0 ? `Debian: apt install ${missing.join(' ')}` : whyNoWires();
}

export interface GuideMachine extends Pick<Wire, 'name' | 'address' | 'cutOff' | 'connect'> {
  /** Path of the machine's root directory on the host. */
  readonly root: string;
  /** Runs commands as root in the repository. @throws with their output if one fails. */
  type(commands: string, env?: Readonly<Record<string, string>>): Promise<string>;
  /**
   * Runs commands like `type`, with access to package registries, which the simulated network does
   * not reach.
   */
  typeOnline(commands: string): Promise<string>;
  /** Sends SIGKILL to every process on the machine. */
  kill(): Promise<void>;
  /** Starts every enabled unit. */
  boot(): Promise<void>;
  freeze(): Promise<void>;
  thaw(): Promise<void>;
  fillDisk(): Promise<void>;
  emptyDisk(): Promise<void>;
}

export interface Room {
  readonly machines: readonly GuideMachine[];
  readonly backup: GuideMachine;
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
async function openDisk(disk: string, route: string): Promise<void> {
  const image = path.join(disk, 'disk.img');
  const before = path.join(disk, 'before');
  await sh(`truncate -s ${DISK} ${image} && mkfs.ext4 -q -m 0 ${image}`);
  await sh(`cp -a ${route} ${before} && mount -o loop ${image} ${route}`);
  await sh(`cp -a ${before}/. ${route} && rm -r ${before}`);
}

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const OWN = { PATH, HOME: '/root', LC_ALL: 'C.UTF-8', DEBIAN_FRONTEND: 'noninteractive' };

/** Returns the settings that this machine needs to reach the registry. */
function online(): Record<string, string> {
  const settings = Object.entries(process.env).filter(([name]) =>
    /proxy|^npm_config_|CERT/i.test(name),
  );
  return Object.fromEntries(settings.map(([name, value]) => [name, value ?? '']));
}

async function openMachine(folder: string, wire: Wire): Promise<GuideMachine> {
  const { name, address, inside, signal, cutOff, connect } = wire;
  const root = await openRoot(path.join(folder, name));
  const typist = (before: readonly string[]) => (commands: string, env: NodeJS.ProcessEnv) =>
    typed(`cd ${REPOSITORY}\n${commands}`, { env: { ...OWN, ...env } }, [
      ...before,
      'chroot',
      root,
    ]);
  const type: GuideMachine['type'] = (commands, env = {}) => typist(inside)(commands, env);
  return {
    ...{ name, address, root, type, cutOff, connect },
    typeOnline: (commands) => typist([])(commands, online()),
    kill: async () => {
      await signal('KILL');
      // Removes state that a real machine would lose with its memory.
      await sh(`rm -rf ${root}/run/units ${root}/run/postgresql/.s.*`);
    },
    boot: async () => void (await type('systemctl start multi-user.target')),
    freeze: () => signal('STOP'),
    thaw: () => signal('CONT'),
    fillDisk: async () =>
      void (await sh(`dd if=/dev/zero of=${root}/${DATABASES}/full bs=1M status=none || true`)),
    emptyDisk: () => rm(path.join(root, DATABASES, 'full'), { force: true }),
  };
}

/** Removes the remains of this run and of killed ones. */
async function clean(): Promise<void> {
  await closeWires();
  const own = await unmountBelow(FOLDER);
  const folders = own.map((position) => position.split('/', FOLDER.split('/').length).join('/'));
  for (const folder of new Set(folders)) {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Opens machines with these names. They close with `undo`. */
export async function openMachines(
  names: readonly string[],
  undo: (() => unknown)[],
): Promise<GuideMachine[]> {
  await clean();
  undo.push(clean);
  const folder = await mkdtemp(FOLDER);
  const machines: GuideMachine[] = [];
  for (const wire of await openWires(names)) machines.push(await openMachine(folder, wire));
  return machines;
}

/** Opens the four machines of docs/ha.md. */
export async function openRoom(undo: (() => unknown)[]): Promise<Room> {
  const machines = await openMachines(['db1', 'db2', 'db3', 'backup'], undo);
  const backup = present(machines.pop(), 'machine of the backup');
  return { machines, backup };
}
