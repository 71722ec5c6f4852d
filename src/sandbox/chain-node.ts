import type { ChildProcess } from 'node:child_process';
import * as fs from 'node:fs/promises';
import { join } from 'node:path';
import { StartError } from '#core/start-error.ts';
import { type AnvilOptions, answersAs, anvilArguments, rpcUrlOf, startAnvil } from './anvil.ts';
import { createChainSaver, unpackChainState } from './chain-state.ts';
import type { DataFolder } from './data-folder.ts';
import {
  type ChildLog,
  commandLine,
  findByArgument,
  isRunning,
  KILL_STEP,
  openChildLog,
  signalProcess,
  stopProcess,
  within,
} from './find-and-stop-processes.ts';
import { connectRpc, type RpcCall } from './json-rpc.ts';
import { mineBlocks } from './mine-blocks.ts';

/** Time limit for the current block and save when the node is stopped. Both take milliseconds. */
const LAST_WORK_MS = 3000;

/** The node is killed after a second, because it has nothing to write. */
const STOP_STEPS = [{ signal: 'SIGTERM', waitMs: 1000 }, KILL_STEP] as const;

export interface ChainNodeOptions {
  folder: DataFolder;
  /** Used in the names of this chain's files: `testnet`, `mainnet`. */
  name: string;
  chainId: number;
  /**
   * Interval of blocks. Blocks within one second share its timestamp. If the interval is below a
   * second, empty blocks are still mined only once a second.
   */
  blockMs: number;
  /** Receives one line for each event of interest. */
  log: (line: string) => void;
  /** Time limit of the node's start. */
  readyMs?: number;
}

export interface ChainNode {
  readonly rpcUrl: string;
  readonly chainId: number;
  /** True if the chain was just created, with nothing deployed on it. */
  readonly fresh: boolean;
  /** Resolves with the reason if the node ends or stops making blocks without a call of `stop`. */
  readonly lost: Promise<string>;
  /** Saves the current state durably: it survives a kill -9 of all processes. */
  saveState(): Promise<void>;
  /** Saves the state and ends the node: usually within 0.05 s, at most 17 s. */
  stop(): Promise<void>;
}

/**
 * Starts an anvil chain with a block each `blockMs`. It continues from the saved state, or with the
 * node that a killed instance left running. If only our process is killed, nothing is lost, because
 * the next start adopts the node. If the node is killed, too, everything after the last save is
 * lost: about a second of transactions, more if the state is large. To the service, that loss looks
 * like a reorganization of the newest blocks.
 */
export async function startChainNode(options: ChainNodeOptions): Promise<ChainNode> {
  const site = chainSite(options);
  const record = readRecord(await options.folder.readJson(site.recordName));
  if (record !== undefined && record.chainId !== options.chainId) {
    throw new StartError(
      `The data folder ${options.folder.path} holds chain ${record.chainId} as ${options.name}, ` +
        `not ${options.chainId}; use the previous chain id or another TAPLINE_DATA_DIR.`,
    );
  }
  const log = openChildLog(site.logFile);
  try {
    const node = (await adoptOrphan(site)) ?? (await startNode(site, log, record?.port));
    return await keepRunning(site, log, node);
  } catch (cause) {
    log.close();
    throw cause;
  }
}

interface ChainSite extends ChainNodeOptions {
  anvil: AnvilOptions;
  recordName: string;
  stateFile: string;
  plainStateFile: string;
  logFile: string;
}

function chainSite(options: ChainNodeOptions): ChainSite {
  const { folder, name, chainId } = options;
  const file = (kind: string) => join(folder.path, `chain-${name}.${kind}`);
  return {
    ...options,
    anvil: { chainId, mining: { kind: 'on request' }, cacheFolder: file('cache') },
    recordName: `chain-${name}.json`,
    stateFile: file('state.gz'),
    plainStateFile: file('loading.json'),
    logFile: file('log'),
  };
}

function readRecord(value: unknown): { chainId: number; port: number } | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (!('chainId' in value && typeof value.chainId === 'number')) return undefined;
  if (!('port' in value && typeof value.port === 'number')) return undefined;
  return { chainId: value.chainId, port: value.port };
}

interface RunningNode {
  pid: number;
  port: number;
  call: RpcCall;
  fresh: boolean;
  /** Undefined if an earlier process of ours started the node. */
  child?: ChildProcess;
}

/**
 * Adopts the healthy node that a killed instance left running, and ends all other leftover nodes.
 */
async function adoptOrphan(site: ChainSite): Promise<RunningNode | undefined> {
  let adopted: RunningNode | undefined;
  for (const pid of findByArgument(site.anvil.cacheFolder)) {
    const line = commandLine(pid);
    // The program's path comes first, and before it an emulator's.
    const given = line.slice(line.indexOf('--host'));
    const port = Number(given[given.indexOf('--port') + 1]);
    const expected = anvilArguments(site.anvil, port);
    const same = given.slice(0, expected.length).join('\0') === expected.join('\0');
    const call = connectRpc(rpcUrlOf(port));
    if (adopted === undefined && same && (await answersAs(call, site.chainId))) {
      site.log(`chain ${site.name}: adopted the node of an earlier run (process ${pid})`);
      adopted = { pid, port, call, fresh: false };
      continue;
    }
    site.log(`chain ${site.name}: ended a node of an earlier run (process ${pid})`);
    await stopProcess(pid, STOP_STEPS);
  }
  return adopted;
}

async function startNode(
  site: ChainSite,
  log: ChildLog,
  wantedPort: number | undefined,
): Promise<RunningNode> {
  const saved = await unpackChainState(site.stateFile, site.plainStateFile);
  const loadState = saved ? site.plainStateFile : undefined;
  const { readyMs } = site;
  const launch = { folder: site.folder.path, log, port: wantedPort, loadState, readyMs };
  const node = await startAnvil(site.anvil, launch);
  await fs.rm(site.plainStateFile, { force: true });
  await site.folder.writeJson(site.recordName, { chainId: site.chainId, port: node.port });
  return { ...node, fresh: !saved };
}

/** Mines and saves until stopped. */
async function keepRunning(site: ChainSite, log: ChildLog, node: RunningNode): Promise<ChainNode> {
  const endWithUs = () => signalProcess(node.pid, 'SIGTERM');
  process.once('exit', endWithUs);
  const lost = Promise.withResolvers<string>();
  const stopping = new AbortController();
  node.child?.once('exit', (code, signal) => {
    if (stopping.signal.aborted) return;
    lost.resolve(`the node of ${site.name} ended (${signal ?? code}); see ${site.logFile}`);
  });
  const saver = createChainSaver(node.call, site.stateFile, (line) =>
    site.log(`chain ${site.name}: ${line}`),
  );
  await saver.save();
  const miner = { call: node.call, rpcUrl: rpcUrlOf(node.port), blockMs: site.blockMs };
  const mined = mineBlocks(miner, saver, stopping.signal);
  const mining = mined.catch((cause: unknown) => {
    lost.resolve(`the node of ${site.name} makes no blocks: ${String(cause)}`);
  });
  const stop = async () => {
    stopping.abort();
    await within(mining, LAST_WORK_MS);
    const save = isRunning(node.pid) ? saver.save().then(() => true) : Promise.resolve(false);
    if (
      (await within(
        save.catch(() => false),
        LAST_WORK_MS,
      )) !== true
    ) {
      site.log(`chain ${site.name}: its newest state could not be saved; an earlier one is kept`);
    }
    await stopProcess(node.pid, STOP_STEPS);
    process.off('exit', endWithUs);
    log.close();
  };
  let stopped: Promise<void> | undefined;
  return {
    rpcUrl: rpcUrlOf(node.port),
    chainId: site.chainId,
    fresh: node.fresh,
    lost: lost.promise,
    saveState: saver.save,
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
  };
}
