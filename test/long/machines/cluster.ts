import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { copyFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import { blockOf, type Steps, stepsOf } from './guide.ts';
import type { Undo } from './rig.ts';
import { type GuideMachine, openRoom, type Room, whyNoMachines } from './room.ts';
import { edit, prepareRepository } from './service.ts';
import { filled } from './settings.ts';

/** The cluster of docs/ha.md, steps 1 to 6: PostgreSQL under Patroni, etcd and HAProxy. */

const UP_MS = 240_000;
/** Time limit until writes resume. The guide promises ten seconds; this machine is busier. */
export const BACK_MS = 60_000;
const word = () => randomBytes(12).toString('hex');
export const SECRETS = { root: word(), patroni: word(), superuser: word(), rest: word() };
const ETCD_ENV = { ROOT_PASSWORD: SECRETS.root, PATRONI_ETCD_PASSWORD: SECRETS.patroni };
const PATRONI = {
  PATRONI_ETCD_PASSWORD: SECRETS.patroni,
  PATRONI_SUPERUSER_PASSWORD: SECRETS.superuser,
  PATRONI_REPLICATION_PASSWORD: SECRETS.superuser,
  PATRONI_RESTAPI_PASSWORD: SECRETS.rest,
};
/** `patronictl` needs Patroni's settings. */
export const READ_SETTINGS = 'set -a; . /etc/patroni_env.conf; set +a';
export const PATRONICTL = `${READ_SETTINGS}; patronictl -c /etc/patroni/config.yml`;
const SQL = 'psql -h 127.0.0.1 -p 6500 -U postgres -d postgres -v ON_ERROR_STOP=1 -tAc';

export interface Cluster extends Room {
  /** The machine on which the guide's commands run that name `db1`. */
  readonly first: GuideMachine;
  readonly steps: Steps;
}

/**
 * Opens the guide's machines, on which nothing has been installed.
 * @returns why that is impossible here, or the cluster
 */
export async function openCluster(undo: Undo, others: readonly string[] = []) {
  const steps = await stepsOf('ha.md');
  const [, packages = ''] = /apt-get install -y ([\s\S]*?[^\\])\n/.exec(blockOf(steps, 1)) ?? [];
  assert.match(packages, /patroni/);
  const why = await whyNoMachines([...packages.split(/[\s\\]+/), ...others]);
  if (why !== null) return why;
  const room = await openRoom(undo);
  const [first] = room.machines;
  assert(first !== undefined);
  return { ...room, first, steps };
}

export const everywhere = (
  { machines }: Pick<Room, 'machines'>,
  work: (machine: GuideMachine) => Promise<unknown>,
) => Promise.all(machines.map(work));

/** Replaces the example's first machine with this one where the file means its own machine. */
function asOwn({ name, address }: GuideMachine, text: string): string {
  return text.replaceAll(/^(\w+)=(.*)$/gm, (line, setting: string, value: string) => {
    if (/HOSTS$|INITIAL_CLUSTER$|^HA_/.test(setting)) return line;
    if (setting.endsWith('NAME') && value === 'db1') return `${setting}=${name}`;
    return `${setting}=${value.replaceAll('10.0.0.11', address)}`;
  });
}

async function installPackages(cluster: Cluster): Promise<void> {
  await everywhere(cluster, async ({ type }) => {
    await type(blockOf(cluster.steps, 1));
    const lines = blockOf(cluster.steps, 2).split('\n');
    // Skips `modprobe`, because no kernel module can be loaded here.
    await type(lines.filter((line) => !/modprobe softdog|^ls /.test(line)).join('\n'));
  });
}

async function giveCertificates(cluster: Cluster): Promise<void> {
  await cluster.first.type(blockOf(cluster.steps, 3));
  const tls = path.join(cluster.first.root, 'root/tls');
  await everywhere(cluster, async ({ name, root, type }) => {
    for (const [folder, owner] of [
      ['etc/etcd/tls', 'etcd'],
      ['etc/patroni/tls', 'postgres'],
    ] as const) {
      await type(`install -d -m 0750 -o ${owner} /${folder}`);
      for (const [from, to] of [
        ['ca.pem', 'ca.pem'],
        [`${name}.pem`, 'machine.pem'],
        [`${name}.key`, 'machine.key'],
      ] as const) {
        await copyFile(path.join(tls, from), path.join(root, folder, to));
        await type(`chown ${owner} /${folder}/${to} && chmod 0600 /${folder}/${to}`);
      }
    }
  });
}

async function startEtcd(cluster: Cluster): Promise<void> {
  const { first, steps } = cluster;
  await everywhere(cluster, async (machine) => {
    await machine.type('install -m 0644 deploy/ha/etcd.env.example /etc/default/etcd');
    await edit(machine, 'etc/default/etcd', (text) => asOwn(machine, text));
  });
  await everywhere(cluster, (machine) => machine.type(blockOf(steps, 4, 0)));
  await sleep(5_000);
  const said = await first.type(blockOf(steps, 4, 1), ETCD_ENV);
  assert.match(said, /cluster is healthy/);
  const setUp = blockOf(steps, 4, 1).split('\n').slice(0, 2).join('\n');
  await assert.rejects(first.type(`${setUp}\netcdctl ls /`), /auth|credentials|permission/i);
  const asPatroni = `etcdctl --username patroni:${SECRETS.patroni} set /tapline/try yes`;
  assert.match(await first.type(`${setUp}\n${asPatroni}`), /yes/);
}

async function startPatroni(cluster: Cluster): Promise<void> {
  await prepareRepository(cluster);
  const lines = blockOf(cluster.steps, 5).split('\n');
  const begins = lines.findIndex((line) => line.startsWith('systemctl'));
  await everywhere(cluster, async (machine) => {
    await machine.type(lines.slice(0, begins).join('\n'));
    await edit(machine, 'etc/patroni_env.conf', (text) => filled(asOwn(machine, text), PATRONI));
    // Switches off the watchdog, which this machine lacks; the rest of the file is unchanged.
    const off = (text: string) => text.replace('mode: required', 'mode: "off"');
    await edit(machine, 'etc/patroni/config.yml', off);
    await machine.type(lines[begins] ?? '');
  });
  await untilWhole(cluster);
  const look = lines.slice(begins + 1).join('\n');
  assert.match(
    await cluster.first.type(look),
    /Leader[\s\S]*Sync Standby|Sync Standby[\s\S]*Leader/,
  );
}

async function startProxies(cluster: Cluster): Promise<void> {
  await everywhere(cluster, async ({ name, type }) => {
    await type(blockOf(cluster.steps, 6));
    // Before its first checks, HAProxy treats every server as the primary.
    await sleep(2_000);
    const ask = `timeout 8 ${SQL} "select not pg_is_in_recovery()"`;
    const sees = () =>
      type(ask, { PGPASSWORD: SECRETS.superuser }).then(
        (text) => text.trim() === 't',
        () => false,
      );
    assert(await waitUntil(sees, BACK_MS), name);
  });
}

/** The guide's steps in order, each with the promise that it keeps. */
export const CLUSTER_STEPS = [
  ['steps 1 and 2: packages, and what is needed at boot', installPackages],
  ['step 3: certificates', giveCertificates],
  ['step 4: etcd with TLS and users refuses clients without a password', startEtcd],
  ['step 5: Patroni makes one cluster of them', startPatroni],
  ['step 6: HAProxy leads to the primary from each machine', startProxies],
] as const;

interface Member {
  readonly Member: string;
  readonly Role: string;
  readonly State: string;
  /** The database's timeline, which grows with each failover. */
  readonly TL?: number;
}

/** Returns the machines' roles according to Patroni. */
async function membersOf({ machines: [first] }: Pick<Room, 'machines'>): Promise<Member[]> {
  const said = await first?.type(`${PATRONICTL} list -f json`);
  return JSON.parse(said ?? '[]') as Member[];
}

/** Waits for one leader and two followers, of which commits wait for one. */
export async function untilWhole(cluster: Pick<Room, 'machines'>): Promise<void> {
  let said = '';
  const isWhole = async () => {
    const members = await membersOf(cluster).catch((error) => {
      said = String(error.stderr ?? error);
      return [];
    });
    if (members.length > 0) said = JSON.stringify(members);
    const following = members.filter(({ State }) => /^(running|streaming)$/.test(State));
    const roles = following.map(({ Role }) => Role).sort();
    return roles.join() === 'Leader,Replica,Sync Standby';
  };
  assert(await waitUntil(isWhole, UP_MS), said);
}

/** Waits for a leader. @returns its machine and the timeline of its database. */
export async function leaderOf(cluster: Pick<Room, 'machines'>) {
  let leader: Member | undefined;
  const isLed = async () => {
    const members = await membersOf(cluster).catch(() => []);
    leader = members.find(({ Role, State }) => Role === 'Leader' && State === 'running');
    return leader !== undefined;
  };
  await waitUntil(isLed, BACK_MS);
  const machine = cluster.machines.find(({ name }) => name === leader?.Member);
  assert(machine !== undefined, 'the cluster has no leader');
  return { machine, timeline: leader?.TL ?? 0 };
}
