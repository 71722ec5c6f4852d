import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { NETWORKS } from '#core/mode.ts';
import type { ContractDelays } from '#sandbox/deploy.ts';
import { type RunningPostgres, startPostgres } from '#sandbox/postgres.ts';
import { isRunning, signalProcess, waitUntil } from '#sandbox/processes.ts';
import { openTemporaryFolder, type TemporaryFolder } from '#sandbox/temporary-folder.ts';
import type { ProfileName } from '#settlement/chain-profiles.ts';
import { type ChaosChain, openChaosChain, type Providers } from '#testing/chaos/chaos-chain.ts';
import { ENDED_MS, persistently } from '#testing/chaos/chaos-restart.ts';
import { mountSmallDisk, type SmallDisk } from '#testing/small-disk.ts';

interface PutBack {
  readonly promote: boolean;
  /** Called while the database is down. */
  readonly whileAway?: () => void;
}

/** The database of a chaos run. */
export interface ChaosDatabase {
  readonly url: string;
  /** `pg_ctl stop -m immediate`: no checkpoint, every connection cut. */
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Copies its files under this name while the database is stopped. */
  copy(name: string): Promise<void>;
  /**
   * Restores the copy, which loses everything since. `promote` continues on a new timeline, like a
   * promoted replica; otherwise files are restored.
   */
  putBack(name: string, how?: PutBack): Promise<void>;
  /** Fails over without loss: the same log, on a new timeline. */
  failOver(): Promise<void>;
}

/** A database and two chains that outlive the service's processes, with faults to inject. */
export interface ChaosGround {
  /** Removed at the end; contains the data folders of processes. */
  readonly folder: string;
  readonly database: ChaosDatabase;
  /** The database's disk, which a fault fills; `null` if it shares this machine's. */
  readonly disk: SmallDisk | null;
  readonly testnet: ChaosChain;
  readonly mainnet: ChaosChain;
  /** Test network and live network. */
  readonly chains: readonly ChaosChain[];
  /** 32 bytes: the TAPLINE_SECRET of every process. */
  readonly secret: Buffer;
  /** Ends a child process when this process ends, however it ends. */
  endWithUs(pid: number): void;
  close(): Promise<void>;
}

const run = promisify(execFile);
/** The shortest delays that production accepts. */
export const PRODUCTION_DELAYS: ContractDelays = {
  ...{ walletDelay: 86_400, payoutHold: 86_400, governanceDelay: 172_800 },
};
/** Longer than an answer takes between two processes of this machine. */
const ANSWERS_MS = 300;
/**
 * Copies files with their owner, which may be another user, and their times. Into an existing
 * folder, cp would copy a subfolder, so that an older copy would be restored.
 */
async function copyFiles(from: string, to: string): Promise<void> {
  await rm(to, { recursive: true, force: true });
  await run('cp', ['-a', from, to]);
}

/** Starts a PostgreSQL server in this folder, with faults to inject. */
export async function openDatabaseOf(temporary: TemporaryFolder): Promise<ChaosDatabase> {
  const { folder } = temporary;
  const postmaster = async () => {
    const file = path.join(folder.path, 'postgres/postmaster.pid');
    return Number((await readFile(file, 'utf8')).split('\n')[0]);
  };
  const start = async () => {
    // Settings that a replica could follow; otherwise PostgreSQL refuses to begin a new timeline.
    const settings = { wal_level: 'replica', restore_command: 'false' };
    const server = await startPostgres({ folder, log: () => {}, settings });
    temporary.endWithUs(await postmaster());
    return server;
  };
  let server: RunningPostgres = await start();
  const cluster = path.join(folder.path, 'postgres');
  const kill = async () => {
    const pid = await postmaster();
    signalProcess(pid, 'SIGQUIT');
    await waitUntil(() => !isRunning(pid), ENDED_MS);
  };
  const restart = async () => {
    server = await persistently(start);
  };
  const promote = async () => {
    await run('cp', [
      '-a',
      path.join(cluster, 'PG_VERSION'),
      path.join(cluster, 'recovery.signal'),
    ]);
  };
  return {
    url: server.url,
    kill,
    start: restart,
    stop: () => server.stop(),
    copy: async (name) => {
      await server.stop();
      await copyFiles(cluster, `${cluster}.${name}`);
      await restart();
    },
    putBack: async (name, how = { promote: false }) => {
      await kill();
      // Waits, because a response in flight may contain data that the copy lacks.
      await sleep(ANSWERS_MS);
      how.whileAway?.();
      await copyFiles(`${cluster}.${name}`, cluster);
      if (how.promote) await promote();
      await restart();
    },
    failOver: async () => {
      await kill();
      await promote();
      await restart();
    },
  };
}

export async function openChaosGround(
  wanted: {
    readonly providers: Providers;
    readonly blockMs?: number;
    readonly profile?: ProfileName;
    readonly delays?: ContractDelays;
    /** The size of a separate disk for the database. */
    readonly diskMegabytes?: number;
  } = { providers: 'none' },
): Promise<ChaosGround> {
  const { providers, blockMs = 1_000, profile = 'custom', delays, diskMegabytes } = wanted;
  const temporary = await openTemporaryFolder('tapline-chaos');
  const secret = await temporary.folder.secret('service');
  const disk = diskMegabytes === undefined ? null : await mountSmallDisk(diskMegabytes);
  const place = disk === null ? null : await openTemporaryFolder('tapline-database', disk.path);
  const database = await openDatabaseOf(place ?? temporary);
  const [testnet, mainnet] = await Promise.all(
    NETWORKS.map((network) =>
      openChaosChain(temporary, {
        ...{ network, secret, providers, blockMs, profile },
        ...(delays === undefined ? {} : { delays }),
      }),
    ),
  );
  if (testnet === undefined || mainnet === undefined) throw new Error('two networks are needed');
  return {
    folder: temporary.folder.path,
    database,
    disk,
    testnet,
    mainnet,
    chains: [testnet, mainnet],
    secret,
    endWithUs: temporary.endWithUs,
    close: async () => {
      await Promise.all([testnet.stop(), mainnet.stop(), database.stop()]);
      await place?.remove();
      await disk?.unmount();
      await temporary.remove();
    },
  };
}
