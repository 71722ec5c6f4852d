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
import type { ProfileName } from '#settlement/profiles.ts';
import { type ChaosChain, openChaosChain, type Providers } from '#testing/chaos/chaos-chain.ts';
import { ENDED_MS, persistently } from '#testing/chaos/chaos-restart.ts';

interface PutBack {
  readonly promote: boolean;
  /** Called while no database answers. */
  readonly whileAway?: () => void;
}

/** The database of a chaos run. */
export interface ChaosDatabase {
  readonly url: string;
  /** `pg_ctl stop -m immediate`: no checkpoint, every connection cut. */
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Keeps a copy of its files under this name; it is away meanwhile. */
  copy(name: string): Promise<void>;
  /**
   * Goes on with the copy instead of what it has: everything since is lost. `promote`: as a replica
   * does that takes over, on a new timeline; else as when files are put back.
   */
  putBack(name: string, how?: PutBack): Promise<void>;
  /** A failover that loses nothing: the same log, on a new timeline. */
  failOver(): Promise<void>;
}

/** A database and two chains that outlive the product's processes, and the ways to strike them. */
export interface ChaosGround {
  /** Removed at the end; data folders of processes go below it. */
  readonly folder: string;
  readonly database: ChaosDatabase;
  readonly testnet: ChaosChain;
  readonly mainnet: ChaosChain;
  /** Both. */
  readonly chains: readonly ChaosChain[];
  /** 32 bytes: the TAPLINE_SECRET of every process. */
  readonly secret: Buffer;
  /** Has a child ended when this process ends in any way. */
  endWithUs(pid: number): void;
  close(): Promise<void>;
}

const run = promisify(execFile);
/** Longer than an answer takes from one process of this machine to another. */
const ANSWERS_MS = 300;
/**
 * With its owner and its times, which may be another's than ours. Into a folder that is there, cp
 * would put it below: an older copy would be put back.
 */
async function copyFiles(from: string, to: string): Promise<void> {
  await rm(to, { recursive: true, force: true });
  await run('cp', ['-a', from, to]);
}

/** A PostgreSQL in this folder that can be struck. */
export async function openDatabaseOf(temporary: TemporaryFolder): Promise<ChaosDatabase> {
  const { folder } = temporary;
  const postmaster = async () => {
    const file = path.join(folder.path, 'postgres/postmaster.pid');
    return Number((await readFile(file, 'utf8')).split('\n')[0]);
  };
  const start = async () => {
    // What a replica could follow: with less PostgreSQL refuses to begin a new timeline.
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
      // An answer that was on its way told of what the copy may lack.
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
  } = { providers: 'none' },
): Promise<ChaosGround> {
  const { providers, blockMs = 1_000, profile = 'custom', delays } = wanted;
  const temporary = await openTemporaryFolder('tapline-chaos');
  const secret = await temporary.folder.secret('service');
  const database = await openDatabaseOf(temporary);
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
    testnet,
    mainnet,
    chains: [testnet, mainnet],
    secret,
    endWithUs: temporary.endWithUs,
    close: async () => {
      await Promise.all([testnet.stop(), mainnet.stop(), database.stop()]);
      await temporary.remove();
    },
  };
}
