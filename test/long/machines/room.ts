import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

/**
 * Three machines on which a guide's commands can be typed as they are: each has a root of its own
 * (an overlay over this machine's, so what is installed here is installed there), the addresses of
 * the guide, and a `systemctl` that starts Debian's units. Their network is in a namespace of its
 * own, so nothing of this machine is reached or changed.
 */

const ROOT = path.join(import.meta.dirname, '../../..');
/** Where each machine finds this repository. */
const REPOSITORY = '/srv/tapline';
const ROOM = 'tlroom';
const DISK = '1500m';
const DEVICES = [...['null c 1 3', 'zero c 1 5', 'random c 1 8', 'urandom c 1 9', 'tty c 5 0']]
  .map((device) => `mknod -m 666 ${device}`)
  .join(' && ');
const run = promisify(execFile);

const sh = async (command: string) => (await run('sh', ['-c', command])).stdout.trim();

/** Why machines cannot be had here; null: they can. */
export async function whyNoMachines(packages: readonly string[]): Promise<string | null> {
  if (process.getuid?.() !== 0) return 'namespaces and overlays need root';
  const installed = await sh(`dpkg-query -W -f '\${Package} ' ${packages.join(' ')}`).catch(
    (error: { readonly stdout?: string }) => error.stdout ?? '',
  );
  const missing = packages.filter((name) => !installed.split(' ').includes(name));
  if (missing.length > 0) return `Debian: apt install ${missing.join(' ')}`;
  const made = await sh(`ip netns add ${ROOM}-try && ip netns del ${ROOM}-try`).catch(() => null);
  return made === null ? 'network namespaces are forbidden here' : null;
}

export interface GuideMachine {
  readonly name: string;
  readonly address: string;
  /** Its root, seen from here. */
  readonly root: string;
  /** Types commands as root, in the repository. @throws with what they wrote when one fails. */
  type(commands: string, env?: Readonly<Record<string, string>>): Promise<string>;
  /** SIGKILL to all that runs on it. */
  kill(): Promise<void>;
}

export interface Room {
  readonly machines: readonly GuideMachine[];
  close(): Promise<void>;
}

/** A root of its own, of which this machine's is the lower layer. */
async function openRoot(disk: string): Promise<string> {
  const root = path.join(disk, 'root');
  await mkdir(disk);
  await sh(`mount -t tmpfs -o size=${DISK},mode=0755 tmpfs ${disk}`);
  for (const part of ['upper', 'work', 'root']) await mkdir(path.join(disk, part));
  const layers = `lowerdir=/,upperdir=${disk}/upper,workdir=${disk}/work`;
  await sh(`mount -t overlay overlay -o ${layers} ${root}`);
  // Nothing of this machine is bound into it: what is removed afterwards is its own.
  await sh(`mount -t proc proc ${root}/proc && mount -t tmpfs -o mode=0755 tmpfs ${root}/dev`);
  const devices = `${DEVICES} && ln -s /proc/self/fd fd && mkdir shm`;
  await sh(`cd ${root}/dev && ${devices} && mount -t tmpfs tmpfs shm`);
  await sh(`mount -t tmpfs -o mode=0755 tmpfs ${root}/run && mkdir -m 1777 ${root}/run/lock`);
  await sh(`install -d -o postgres -g postgres -m 2775 ${root}/run/postgresql`);
  // A machine with a kernel of its own has udev.
  await sh(`mkdir -p ${root}/etc/udev/rules.d ${root}/etc/modules-load.d`);
  await sh(`mkdir -p ${root}${REPOSITORY} && cp -r ${ROOT}/deploy ${root}${REPOSITORY}/deploy`);
  await copyFile(
    path.join(import.meta.dirname, 'systemctl'),
    path.join(root, 'usr/local/bin/systemctl'),
  );
  await chmod(path.join(root, 'usr/local/bin/systemctl'), 0o755);
  return root;
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

async function openMachine(folder: string, number: number): Promise<GuideMachine> {
  const name = `db${number}`;
  const address = `10.0.0.1${number}`;
  const root = await openRoot(path.join(folder, name));
  const space = await connectWire(name, address);
  const type = async (commands: string, env: Readonly<Record<string, string>> = {}) => {
    const inside = `cd ${REPOSITORY}\n${commands}`;
    const args = [
      'netns',
      'exec',
      space,
      'chroot',
      root,
      'bash',
      '--norc',
      '-euo',
      'pipefail',
      '-c',
      inside,
    ];
    const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
    const own = { PATH, HOME: '/root', LC_ALL: 'C.UTF-8', DEBIAN_FRONTEND: 'noninteractive' };
    const { stdout } = await run('ip', args, { env: { ...own, ...env }, timeout: 180_000 });
    return stdout;
  };
  return {
    name,
    address,
    root,
    type,
    kill: async () => void (await sh(`ip netns pids ${space} | xargs -r kill -9`)),
  };
}

/** Removes what this run, or one that was killed, has left. */
async function clean(folder: string | null): Promise<void> {
  for (const name of ['db1', 'db2', 'db3']) {
    await sh(`ip netns pids ${ROOM}-${name} | xargs -r kill -9`).catch(() => {});
    await sh(`ip netns del ${ROOM}-${name}`).catch(() => {});
  }
  await sh(`ip netns del ${ROOM}`).catch(() => {});
  if (folder === null) return;
  const mounts = (await sh('cut -d " " -f 2 /proc/self/mounts')).split('\n');
  const own = mounts.filter((place) => place.startsWith(`${folder}/`));
  // The newest first: some are mounted inside of others.
  for (const place of own.reverse()) await sh(`umount -l ${place}`).catch(() => {});
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

export async function openRoom(): Promise<Room> {
  await clean(null);
  const folder = await mkdtemp(path.join(tmpdir(), 'tapline-room-'));
  await sh(`ip netns add ${ROOM} && ip -n ${ROOM} link add room type bridge`);
  await sh(`ip -n ${ROOM} link set room up`);
  const machines: GuideMachine[] = [];
  try {
    for (const number of [1, 2, 3]) machines.push(await openMachine(folder, number));
  } catch (error) {
    await clean(folder);
    throw error;
  }
  return { machines, close: () => clean(folder) };
}
