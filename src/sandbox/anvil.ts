import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { StartError } from '#core/start-error.ts';
import {
  type ChildLog,
  freePort,
  lastLine,
  startTimeout,
  waitUntil,
  within,
} from './find-and-stop-processes.ts';
import { connectRpc, type RpcCall } from './json-rpc.ts';

/** Gas limit of a block, as on Ethereum for years: room for a hundred batches. */
const BLOCK_GAS_LIMIT = 30_000_000;

/**
 * Number of blocks whose full state stays readable; each costs a copy of all accounts and slots.
 * With the node's own interval mining it keeps 1,500 (2 GB at 3,000 slots, instead of 230 MB), so
 * the sandbox requests each block itself.
 */
const STATES_KEPT = 128;

/** Time limit of a start, which takes 0.1 s, or 2 s with a state of 100 MB. */
const READY_MS = 20_000;

/**
 * Time limit of a probe. A healthy node answers in a millisecond, or in 2 s while it dumps a state
 * of 100 MB.
 */
const PROBE_MS = 3000;

/**
 * Another program can take a free port before the node binds it, but three failures in a row have
 * another cause.
 */
const PORT_ATTEMPTS_MAX = 3;

/** The node's mining mode. */
export type Mining =
  | { kind: 'on request' }
  | { kind: 'every transaction' }
  | { kind: 'interval'; seconds: number };

export interface AnvilOptions {
  chainId: number;
  mining: Mining;
  /**
   * The folder for old states. The node writes none into it, but the path identifies the process;
   * without this option, the node could write gigabytes into the home folder.
   */
  cacheFolder: string;
}

export interface AnvilProcess {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly port: number;
  readonly call: RpcCall;
}

export function rpcUrlOf(port: number): string {
  return `http://127.0.0.1:${port}`;
}

/** Returns all arguments except the one that names the state to load. */
export function anvilArguments(options: AnvilOptions, port: number): string[] {
  return [
    ...['--host', '127.0.0.1', '--port', String(port), '--chain-id', String(options.chainId)],
    // Creates no well-known accounts with money, and lets no web page read responses.
    ...['--accounts', '0', '--no-cors', '--quiet'],
    // EIP-7825: a transaction above 2^24 gas is refused, as on a real network.
    ...['--gas-limit', String(BLOCK_GAS_LIMIT), '--enable-tx-gas-limit'],
    ...['--prune-history', String(STATES_KEPT), '--cache-path', options.cacheFolder],
    ...miningArguments(options.mining),
  ];
}

function miningArguments(mining: Mining): string[] {
  switch (mining.kind) {
    case 'on request':
      return ['--no-mining'];
    case 'every transaction':
      return [];
    case 'interval':
      return ['--block-time', String(mining.seconds)];
  }
}

/** True if a node with this chain id answers in time. */
export async function answersAs(call: RpcCall, chainId: number): Promise<boolean> {
  const answer = call('eth_chainId').catch(() => undefined);
  return Number(await within(answer, PROBE_MS)) === chainId;
}

/**
 * Starts a node on the preferred port, or on another one if that port is taken.
 * @throws StartError if the node does not answer; the message names the log file.
 */
export async function startAnvil(
  options: AnvilOptions,
  launch: {
    folder: string;
    log: ChildLog;
    port?: number | undefined;
    loadState?: string | undefined;
    readyMs?: number | undefined;
  },
): Promise<AnvilProcess> {
  const readyMs = launch.readyMs ?? READY_MS;
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort(attempt === 1 ? launch.port : undefined);
    const args = anvilArguments(options, port);
    if (launch.loadState !== undefined) args.push('--load-state', launch.loadState);
    // Detached, so that Ctrl-C reaches only our process, which saves the state before it stops the
    // node.
    const child = spawn(anvilProgram(), args, {
      detached: true,
      cwd: launch.folder,
      stdio: ['ignore', launch.log.fd, launch.log.fd],
    });
    child.once('error', () => undefined);
    // Unreferenced, so that a running node does not keep our process alive.
    child.unref();
    const call = connectRpc(rpcUrlOf(port));
    const ended = () => child.pid === undefined || child.exitCode !== null;
    const settled = await waitUntil(
      async () => ended() || (await answersAs(call, options.chainId)),
      readyMs,
    );
    if (settled && !ended() && child.pid !== undefined)
      return { child, pid: child.pid, port, call };
    child.kill('SIGKILL');
    if (!settled) {
      throw startTimeout(`Chain ${options.chainId} did not answer`, readyMs, launch.log.file);
    }
    const reason = lastLine(launch.log.file);
    if (/in use/i.test(reason) && attempt < PORT_ATTEMPTS_MAX) continue;
    throw new StartError(
      `The node of chain ${options.chainId} did not start: ${reason} (see ${launch.log.file})`,
    );
  }
}

/** The package's wrapper would be one more process. */
function anvilProgram(): string {
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
