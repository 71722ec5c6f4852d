import { type ChildProcess, spawn } from 'node:child_process';
import * as fs from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartError } from '#core/start-error.ts';
import { saveChainState, unpackChainState } from './chain-state.ts';
import type { DataFolder } from './data-folder.ts';
import { connectRpc, type RpcCall } from './json-rpc.ts';
import {
  type ChildLog,
  commandLine,
  findByArgument,
  freePort,
  isRunning,
  lastLine,
  openChildLog,
  signalProcess,
  stopProcess,
  waitUntil,
} from './processes.ts';

/** Gas of one block: what Ethereum had for years, and room for a hundred batches. */
const BLOCK_GAS_LIMIT = 30_000_000;

/**
 * Blocks whose full state stays readable. Each costs a copy of all accounts and slots; the node's
 * own interval mining keeps 1,500 of them whatever it is told (2 GB at 3,000 slots, against 230 MB
 * here), which is why blocks are asked for from outside.
 */
const STATES_KEPT = 128;

/** Time between two blocks. */
const BLOCK_MS = 1000;

/** A start takes 0.1 s, and 2 s with a state of 100 MB. */
const READY_MS = 20_000;

/** The state is saved this often when blocks were empty: nothing but their number would be lost. */
const IDLE_SAVE_MS = 15_000;

/** After a save that kept the node busy for t, wait at least this many t: 2 % of its time. */
const SAVE_REST_FACTOR = 50;

/** Blocks in a row that may fail before the chain counts as lost. */
const FAILED_BLOCKS_MAX = 10;

/** The node keeps nothing on disk by itself, so that it needs no time to end. */
const STOP_STEPS = [
  { signal: 'SIGTERM', waitMs: 2000 },
  { signal: 'SIGKILL', waitMs: 2000 },
] as const;

export interface ChainNodeOptions {
  folder: DataFolder;
  /** Tells this chain's files from those of the others in the folder: `testnet`, `mainnet`. */
  name: string;
  chainId: number;
  /** Receives one line for whatever a person may want to know. */
  log: (line: string) => void;
}

export interface ChainNode {
  readonly rpcUrl: string;
  readonly chainId: number;
  /** Whether the chain began now, with nothing deployed. */
  readonly fresh: boolean;
  /** Resolves with the reason when the node ends without being asked to. */
  readonly lost: Promise<string>;
  /** Makes the present state durable: after it, not even kill -9 of everything loses it. */
  saveState(): Promise<void>;
  /** Saves the state and ends the node, within about 5 s. */
  stop(): Promise<void>;
}

/**
 * Starts an anvil chain with a block per second, which goes on where it was: from the saved state,
 * or with the very node that a killed instance left running.
 *
 * Nothing is lost by kill -9 of our process alone, because the node outlives it and is adopted. If
 * the node dies too, what came after the last save is gone: at most about a second of transactions
 * while the state is small. That looks like a reorganisation of the newest blocks.
 *
 * No account is funded and no key is known to the node; `anvil_setBalance` funds what is needed.
 *
 * @throws StartError when the node cannot be started or its folder belongs to another chain id.
 */
export async function startChainNode(options: ChainNodeOptions): Promise<ChainNode> {
  const files = chainFiles(options);
  const record = readRecord(await options.folder.readJson(files.recordName));
  if (record !== undefined && record.chainId !== options.chainId) {
    throw new StartError(
      `The data folder ${options.folder.path} holds chain ${record.chainId} as ${options.name}, ` +
        `not ${options.chainId}; use the former chain id or another TAPLINE_DATA_DIR.`,
    );
  }
  const log = openChildLog(files.log);
  try {
    const orphan = record && (await adoptOrphan(options, files, record.port));
    const running = orphan ?? (await launch(options, files, log, record?.port));
    return await keepRunning(options, files, log, running);
  } catch (cause) {
    log.close();
    throw cause;
  }
}

interface ChainFiles {
  recordName: string;
  state: string;
  plainState: string;
  log: string;
  /** Only given to us: an argument by which a node of this chain is found in the process list. */
  marker: string;
}

function chainFiles({ folder, name }: ChainNodeOptions): ChainFiles {
  return {
    recordName: `chain-${name}.json`,
    state: join(folder.path, `chain-${name}.state.gz`),
    plainState: join(folder.path, `chain-${name}.loading.json`),
    log: join(folder.path, `chain-${name}.log`),
    marker: join(folder.path, `chain-${name}.cache`),
  };
}

function readRecord(value: unknown): { chainId: number; port: number } | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (!('chainId' in value && typeof value.chainId === 'number')) return undefined;
  if (!('port' in value && typeof value.port === 'number')) return undefined;
  return { chainId: value.chainId, port: value.port };
}

/** A node that answers, ours to stop; `child` is missing when an earlier process started it. */
interface RunningNode {
  pid: number;
  port: number;
  call: RpcCall;
  fresh: boolean;
  child?: ChildProcess;
}

/** Takes over the healthy node that a killed instance left, and ends every other one. */
async function adoptOrphan(
  options: ChainNodeOptions,
  files: ChainFiles,
  port: number,
): Promise<RunningNode | undefined> {
  let adopted: RunningNode | undefined;
  for (const pid of findByArgument(files.marker)) {
    const call = connectRpc(rpcUrlOf(port));
    const wanted = nodeArguments({ chainId: options.chainId, port, marker: files.marker });
    const argv = commandLine(pid).slice(1, 1 + wanted.length);
    const same = argv.join('\0') === wanted.join('\0');
    if (adopted === undefined && same && (await answersAs(call, options.chainId))) {
      options.log(`chain ${options.name}: adopted the node of an earlier run (process ${pid})`);
      adopted = { pid, port, call, fresh: false };
      continue;
    }
    options.log(`chain ${options.name}: ended a node of an earlier run (process ${pid})`);
    await stopProcess(pid, STOP_STEPS);
  }
  return adopted;
}

async function answersAs(call: RpcCall, chainId: number): Promise<boolean> {
  try {
    return Number(await call('eth_chainId')) === chainId;
  } catch {
    return false;
  }
}

function rpcUrlOf(port: number): string {
  return `http://127.0.0.1:${port}`;
}

/** The path of the program itself: the package's own wrapper would be a second process. */
export function anvilProgram(): string {
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  try {
    const outer = createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json');
    const platform = `@foundry-rs/anvil-${process.platform}-${arch}`;
    return createRequire(outer).resolve(`${platform}/bin/anvil`);
  } catch (cause) {
    throw new StartError(
      `No anvil for ${process.platform} ${process.arch} in node_modules: run npm ci again with ` +
        'optional packages, or set CHAIN_TESTNET_RPC_URL and CHAIN_MAINNET_RPC_URL.',
      { cause },
    );
  }
}

function nodeArguments(node: { chainId: number; port: number; marker: string }): string[] {
  return [
    ...['--host', '127.0.0.1', '--port', String(node.port), '--chain-id', String(node.chainId)],
    // No known keys with money, and no web page may read our answers.
    ...['--accounts', '0', '--no-cors', '--quiet'],
    // EIP-7825: a transaction above 2^24 gas is refused, as on a real network.
    ...['--gas-limit', String(BLOCK_GAS_LIMIT), '--enable-tx-gas-limit'],
    ...['--no-mining', '--prune-history', String(STATES_KEPT), '--cache-path', node.marker],
  ];
}

async function launch(
  options: ChainNodeOptions,
  files: ChainFiles,
  log: ChildLog,
  wantedPort: number | undefined,
): Promise<RunningNode> {
  const saved = await unpackChainState(files.state, files.plainState);
  const port = await freePort(wantedPort);
  await options.folder.writeJson(files.recordName, { chainId: options.chainId, port });
  const args = nodeArguments({ chainId: options.chainId, port, marker: files.marker });
  if (saved) args.push('--load-state', files.plainState);
  // Detached: Ctrl-C reaches us alone, so that the state is saved before the node ends.
  const child = spawn(anvilProgram(), args, {
    detached: true,
    cwd: options.folder.path,
    stdio: ['ignore', log.fd, log.fd],
  });
  const call = connectRpc(rpcUrlOf(port));
  const answered = await waitUntil(
    async () => child.exitCode !== null || (await answersAs(call, options.chainId)),
    READY_MS,
  );
  await fs.rm(files.plainState, { force: true });
  if (!answered || child.exitCode !== null || child.pid === undefined) {
    child.kill('SIGKILL');
    throw new StartError(
      `The chain node for ${options.name} does not start: ${lastLine(files.log)} (see ${files.log})`,
    );
  }
  return { pid: child.pid, port, call, fresh: !saved, child };
}

/** Mines and saves until stopped. */
async function keepRunning(
  options: ChainNodeOptions,
  files: ChainFiles,
  log: ChildLog,
  node: RunningNode,
): Promise<ChainNode> {
  const endWithUs = () => signalProcess(node.pid, 'SIGTERM');
  process.once('exit', endWithUs);
  const lost = Promise.withResolvers<string>();
  const stopping = new AbortController();
  node.child?.once('exit', (code, signal) => {
    if (stopping.signal.aborted) return;
    lost.resolve(`the chain node for ${options.name} ended (${signal ?? code}); see ${files.log}`);
  });
  const saver = createSaver(node.call, files.state);
  await saver.save();
  const mining = mineBlocks(node.call, saver, stopping.signal).catch((cause: unknown) => {
    lost.resolve(`the chain node for ${options.name} makes no blocks: ${String(cause)}`);
  });
  return {
    rpcUrl: rpcUrlOf(node.port),
    chainId: options.chainId,
    fresh: node.fresh,
    lost: lost.promise,
    saveState: saver.save,
    stop: async () => {
      if (stopping.signal.aborted) return;
      stopping.abort();
      await mining;
      if (isRunning(node.pid)) await saver.save();
      process.off('exit', endWithUs);
      await stopProcess(node.pid, STOP_STEPS);
      log.close();
    },
  };
}

interface Saver {
  /** Saves now, or after the save that runs: what was true at the call is in the file. */
  save(): Promise<void>;
  /** Saves when it is time to, given whether transactions came since the last call. */
  saveWhenDue(sawTransactions: boolean): Promise<void>;
}

function createSaver(call: RpcCall, file: string): Saver {
  let last: Promise<void> = Promise.resolve();
  let savedAt = performance.now();
  let restMs = 0;
  let dirty = false;
  const save = () => {
    const run = async () => {
      dirty = false;
      const busyMs = await saveChainState(call, file);
      savedAt = performance.now();
      restMs = busyMs * SAVE_REST_FACTOR;
    };
    const mine = last.then(run);
    last = mine.catch(() => undefined);
    return mine;
  };
  return {
    save,
    saveWhenDue: async (sawTransactions) => {
      dirty ||= sawTransactions;
      const sinceMs = performance.now() - savedAt;
      if (sinceMs > (dirty ? restMs : Math.max(restMs, IDLE_SAVE_MS))) await save();
    },
  };
}

/** One block per second, whether transactions wait or not, until the signal. */
async function mineBlocks(call: RpcCall, saver: Saver, signal: AbortSignal): Promise<void> {
  let nextAt = performance.now();
  let failures = 0;
  while (!signal.aborted) {
    try {
      await call('evm_mine');
      const count = await call('eth_getBlockTransactionCountByNumber', ['latest']);
      await saver.saveWhenDue(Number(count) > 0);
      failures = 0;
    } catch (cause) {
      failures += 1;
      if (failures === FAILED_BLOCKS_MAX) throw cause;
    }
    // Late blocks are not made up for: a burst after a pause would be no block per second either.
    nextAt = Math.max(nextAt + BLOCK_MS, performance.now());
    await sleep(nextAt - performance.now(), undefined, { signal, ref: false }).catch(() => {});
  }
}
