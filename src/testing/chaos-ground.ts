import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { NETWORKS, type Network } from '#core/mode.ts';
import { type ChainNode, startChainNode } from '#sandbox/chain-node.ts';
import { prepareNetwork } from '#sandbox/deploy.ts';
import { connectRpc } from '#sandbox/json-rpc.ts';
import { type RunningPostgres, startPostgres } from '#sandbox/postgres.ts';
import { findByArgument, isRunning, signalProcess, waitUntil } from '#sandbox/processes.ts';
import { openTemporaryFolder, type TemporaryFolder } from '#sandbox/temporary-folder.ts';
import type { NetworkConfig } from '#settlement/networks.ts';

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
  putBack(name: string, how?: { readonly promote: boolean }): Promise<void>;
  /** A failover that loses nothing: the same log, on a new timeline. */
  failOver(): Promise<void>;
}

/** One chain of a chaos run. */
export interface ChaosChain {
  readonly config: NetworkConfig;
  /** kill -9: blocks since the last saved state are lost. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** The node hangs: connections stay open and nothing is answered. */
  freeze(): void;
  thaw(): void;
  /** Replaces the newest blocks by empty ones and forgets their transactions. */
  reorganise(blocks: number): Promise<void>;
  stop(): Promise<void>;
}

/** A database and two chains that outlive the product's processes, and the ways to strike them. */
export interface ChaosGround {
  /** Removed at the end; data folders of processes go below it. */
  readonly folder: string;
  readonly database: ChaosDatabase;
  readonly testnet: ChaosChain;
  readonly mainnet: ChaosChain;
  /** 32 bytes: the TAPLINE_SECRET of every process. */
  readonly secret: Buffer;
  /** Has a child ended when this process ends in any way. */
  endWithUs(pid: number): void;
  close(): Promise<void>;
}

const CHAIN_IDS: Readonly<Record<Network, number>> = { testnet: 31_337, mainnet: 31_338 };
const ENDED_MS = 10_000;
const run = promisify(execFile);
/** Starts that fail are tried again: a port or a lock of what was just killed may linger. */
const START_TRIES = 5;

async function persistently<T>(start: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await start();
    } catch (error) {
      if (tries === START_TRIES) throw error;
    }
  }
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
  // With its owner and its times, which may be another's than ours.
  const copyFiles = (from: string, to: string) => run('cp', ['-a', from, to]);
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
      await rm(cluster, { recursive: true });
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

async function openChainOf(
  temporary: TemporaryFolder,
  network: Network,
  secret: Buffer,
): Promise<ChaosChain> {
  const { folder } = temporary;
  const pids = () => findByArgument(path.join(folder.path, `chain-${network}.cache`));
  const start = async () => {
    const options = { folder, name: network, chainId: CHAIN_IDS[network], log: () => {} };
    const node = await startChainNode(options);
    for (const pid of pids()) temporary.endWithUs(pid);
    return node;
  };
  const signal = (name: NodeJS.Signals) => {
    for (const pid of pids()) signalProcess(pid, name);
  };
  let node: ChainNode = await start();
  return {
    config: await prepareNetwork(node, network, secret),
    kill: async () => {
      signal('SIGKILL');
      await waitUntil(() => pids().length === 0, ENDED_MS);
      // Ends the mining of the dead node; there is nothing left to save.
      await node.stop();
    },
    start: async () => {
      node = await persistently(start);
    },
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    reorganise: async (blocks) => {
      await connectRpc(node.rpcUrl)('anvil_reorg', [blocks, []]);
    },
    stop: () => node.stop(),
  };
}

export async function openChaosGround(): Promise<ChaosGround> {
  const temporary = await openTemporaryFolder('tapline-chaos');
  const secret = await temporary.folder.secret('service');
  const database = await openDatabaseOf(temporary);
  const [testnet, mainnet] = await Promise.all(
    NETWORKS.map((network) => openChainOf(temporary, network, secret)),
  );
  if (testnet === undefined || mainnet === undefined) throw new Error('two networks are needed');
  return {
    folder: temporary.folder.path,
    database,
    testnet,
    mainnet,
    secret,
    endWithUs: temporary.endWithUs,
    close: async () => {
      await Promise.all([testnet.stop(), mainnet.stop(), database.stop()]);
      await temporary.remove();
    },
  };
}
