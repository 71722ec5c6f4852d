import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { NETWORKS } from '#core/mode.ts';
import type { ContractDelays } from '#sandbox/deploy-sandbox-network.ts';
import { isRunning, signalProcess, waitUntil } from '#sandbox/find-and-stop-processes.ts';
import { type RunningPostgres, startPostgres } from '#sandbox/start-postgres.ts';
import type { ProfileName } from '#settlement/chain-profiles.ts';
import { mountSmallDisk } from '#testkit/fixtures/core/small-disk.ts';
import {
  openTemporaryFolder,
  type TemporaryFolder,
} from '#testkit/fixtures/db/temporary-folder.ts';
import { openChaosChain, type Providers } from '#testkit/simulation/chaos/chaos-chain.ts';
import { ENDED_MS, persistently } from '#testkit/simulation/chaos/chaos-restart.ts';

interface PutBack {
  /**
   * True if the database continues on a new timeline, as a promoted replica does, instead of with
   * exactly the copied files.
   */
  readonly promote: boolean;
  /** Called while the database is stopped for the restore. */
  readonly whileAway?: () => void;
}

export type ChaosDatabase = Awaited<ReturnType<typeof openDatabaseOf>>;

/**
 * A database and two chains that run longer than the service's processes. Faults can be injected
 * into them.
 */
export type ChaosGround = Awaited<ReturnType<typeof openChaosGround>>;

const run = promisify(execFile);
/** The shortest contract delays that production accepts, in seconds. */
export const PRODUCTION_DELAYS: ContractDelays = {
  ...{ walletDelay: 86_400, payoutHold: 86_400, governanceDelay: 172_800 },
};
/** Longer than a response takes between two processes on this machine. */
const ANSWERS_MS = 300;
/**
 * Copies files with their timestamps and owner (possibly another user). Deletes the target first:
 * otherwise, cp would copy into a subfolder of it, and a later restore would use the older copy.
 */
async function copyFiles(from: string, to: string): Promise<void> {
  await rm(to, { recursive: true, force: true });
  await run('cp', ['-a', from, to]);
}

/** Starts a PostgreSQL server in this folder, with methods to inject faults. */
export async function openDatabaseOf(temporary: TemporaryFolder) {
  const { folder } = temporary;
  const postmaster = async () => {
    const file = path.join(folder.path, 'postgres/postmaster.pid');
    return Number((await readFile(file, 'utf8')).split('\n')[0]);
  };
  const start = async () => {
    // The settings of a primary that has a replica. Without them, PostgreSQL refuses to start a new
    // timeline.
    const settings = { wal_level: 'replica', restore_command: 'false' };
    const server = await startPostgres({ folder, log: () => {}, settings });
    temporary.endWithUs(await postmaster());
    return server;
  };
  let server: RunningPostgres = await start();
  const cluster = path.join(folder.path, 'postgres');
  /** Stops the server without a checkpoint, cutting every connection. */
  const kill = async () => {
    const pid = await postmaster();
    signalProcess(pid, 'SIGQUIT');
    await waitUntil(() => !isRunning(pid), ENDED_MS);
  };
  const restart = async () => {
    server = await persistently(start);
  };
  const promote = async () => {
    const [from, to] = ['PG_VERSION', 'recovery.signal'].map((name) => path.join(cluster, name));
    await run('cp', ['-a', from ?? '', to ?? '']);
  };
  return {
    url: server.url,
    kill,
    start: restart,
    stop: () => server.stop(),
    /** Stops the database and copies its files under this name. */
    copy: async (name: string) => {
      await server.stop();
      await copyFiles(cluster, `${cluster}.${name}`);
      await restart();
    },
    /** Restores a copy, so later writes are lost. */
    putBack: async (name: string, how: PutBack = { promote: false }) => {
      await kill();
      // Waits, because a response that is already on its way may contain data that the copy lacks.
      await sleep(ANSWERS_MS);
      how.whileAway?.();
      await copyFiles(`${cluster}.${name}`, cluster);
      if (how.promote) await promote();
      await restart();
    },
    /** Fails over without data loss. The log continues on a new timeline. */
    failOver: async () => {
      await kill();
      await promote();
      await restart();
    },
  };
}

export async function openChaosGround(
  options: {
    readonly providers: Providers;
    readonly blockMs?: number;
    readonly profile?: ProfileName;
    readonly delays?: ContractDelays;
    /** The size of a separate disk for the database. Omit it to use the machine's disk. */
    readonly diskMegabytes?: number;
  } = { providers: 'none' },
) {
  const { providers, blockMs = 1_000, profile = 'custom', delays, diskMegabytes } = options;
  const temporary = await openTemporaryFolder('tapline-chaos');
  const secret = await temporary.folder.secret('service');
  const disk = diskMegabytes === undefined ? null : await mountSmallDisk(diskMegabytes);
  const onDisk = disk === null ? null : await openTemporaryFolder('tapline-database', disk.path);
  const database = await openDatabaseOf(onDisk ?? temporary);
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
    /** Contains the processes' data folders. Removed at the end. */
    folder: temporary.folder.path,
    database,
    /** The database's own disk, which one of the faults fills; `null` if it has none. */
    disk,
    testnet,
    mainnet,
    chains: [testnet, mainnet],
    /** The TAPLINE_SECRET of every process, 32 bytes. */
    secret,
    /** Makes sure that a child process ends when this process ends, even by a crash. */
    endWithUs: temporary.endWithUs,
    close: async () => {
      await Promise.all([testnet.stop(), mainnet.stop(), database.stop()]);
      await onDisk?.remove();
      await disk?.unmount();
      await temporary.remove();
    },
  };
}
