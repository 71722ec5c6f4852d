import { readFile } from 'node:fs/promises';
import path from 'node:path';
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
    const server = await startPostgres({ folder, log: () => {} });
    temporary.endWithUs(await postmaster());
    return server;
  };
  let server: RunningPostgres = await start();
  return {
    url: server.url,
    kill: async () => {
      const pid = await postmaster();
      signalProcess(pid, 'SIGQUIT');
      await waitUntil(() => !isRunning(pid), ENDED_MS);
    },
    start: async () => {
      server = await persistently(start);
    },
    stop: () => server.stop(),
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
