import { formatGwei } from 'viem';
import { assert, present } from '#core/assert.ts';
import type { Log } from '#core/log.ts';
import { StartError } from '#core/start-error.ts';
import { readCodeSize } from '#settlement/chain/code-size.ts';
import { createHeadComparison } from '#settlement/chain/compare-heads.ts';
import type { LogPortion } from '#settlement/chain/log-portion.ts';
import { readLogPortion } from '#settlement/chain/log-ranges.ts';
import {
  connectRpc,
  type ProbedAddress,
  type Rpc,
  type RpcAnswer,
  type RpcPriority,
  RpcRefusal,
  RpcUnavailable,
} from '#settlement/chain/rpc.ts';
import { createTokenRefresh, readToken } from '#settlement/chain/token.ts';
import { isPresentEdition } from '#settlement/contract/contract-edition.ts';
import type { RawLog } from '#settlement/contract/contract-events.ts';
import { type Contracts, contractsOf } from '#settlement/editions.ts';
import type { NetworkConfig, NetworkSettings } from '#settlement/networks.ts';
import type { Hex } from '#settlement/requests.ts';

export interface Block {
  readonly number: bigint;
  readonly hash: Hex;
  readonly parentHash: Hex;
  /** The chain's own time, to the second. */
  readonly time: Date;
  readonly baseFeePerGas: bigint;
  /** Hashes of its transactions. */
  readonly transactions: readonly Hex[];
}

export interface Receipt {
  readonly txHash: Hex;
  readonly succeeded: boolean;
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
  readonly from: Hex;
  readonly gasUsed: bigint;
  readonly logs: readonly RawLog[];
  /** The host of the address that gave it. */
  readonly host: string;
}

export type BlockTag = 'latest' | 'safe' | 'finalized' | bigint;

export type CallAnswer =
  | { readonly ok: true; readonly data: Hex }
  | { readonly ok: false; readonly revertData: unknown; readonly message: string };

/** One network's chain, through its nodes. Every method may throw RpcUnavailable. */
export interface Chain {
  readonly config: NetworkConfig;
  readonly rpc: Rpc;
  /** null: there is no such block (yet, or any more). */
  block(tag: BlockTag): Promise<Block | null>;
  newest(): Promise<Block>;
  /** The newest block, and in the same request what a node says of these transactions. */
  newestWith(hashes: readonly Hex[]): Promise<NewestWith>;
  /**
   * Asks all addresses for their heads; those whose head does not move are then asked after the
   * others.
   */
  compareHeads(): Promise<void>;
  /** undefined where no node gave an answer for this one. */
  blocks(numbers: readonly bigint[]): Promise<(Block | null | undefined)[]>;
  /** null where the transaction is not in a block, undefined where no node said so. */
  receipts(hashes: readonly Hex[]): Promise<(Receipt | null | undefined)[]>;
  /** `eth_call`s in one round trip. */
  calls(calls: readonly EthCall[], at?: BlockTag, priority?: RpcPriority): Promise<CallAnswer[]>;
  /** Transactions of these addresses that are in the chain, at a block or at the newest. */
  nonces(addresses: readonly Hex[], at?: BlockTag): Promise<bigint[]>;
  balances(addresses: readonly Hex[]): Promise<bigint[]>;
  /** All logs of a range, in as many questions as it takes. */
  logs(filter: LogFilter): Promise<RawLog[]>;
  /** The logs of a range in portions that nodes are willing to read, the newest first if asked. */
  logPortions(filter: LogFilter & { readonly newestFirst?: boolean }): AsyncGenerator<LogPortion>;
  /** What was read of it at most so long ago, for callers that ask often; else it is read now. */
  remember<T>(what: string, maxAgeMs: number, read: () => Promise<T>): Promise<T>;
  /** Reads the token's name and version again, if that was not done in the last half minute. */
  refreshToken(): Promise<void>;
  /** Whether its contracts were found to match the settings: until then nothing is signed. */
  isChecked(): boolean;
  /** Resolves with what is wrong when that was found only after the start. */
  readonly refuted: Promise<string>;
  close(): Promise<void>;
}

interface NewestWith {
  readonly block: Block;
  /** As those of `receipts`. */
  readonly receipts: readonly (Receipt | null | undefined)[];
}

export interface EthCall {
  readonly from?: Hex;
  readonly to: Hex;
  readonly data: Hex;
  /**
   * 32-byte words that the answer must have: a node that gives another number is faulty. `any`: the
   * length varies, and nothing may depend on it.
   */
  readonly words: number | 'any';
}

interface LogFilter {
  /** All settlement contracts of the network, unless it says another address. */
  readonly address?: Hex;
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
  readonly topics?: readonly (Hex | null)[];
}

/** The name and version of Circle's contract on most chains, for a start without any node. */
const USUAL_DOMAIN = { name: 'USD Coin', version: '2' };

/** Objects of this chain alone: what is read later is written into them. */
function withToken(settings: NetworkSettings, told: NetworkConfig['usdcDomain']): NetworkConfig {
  const { name, version } = settings.usdcDomain;
  return {
    ...settings,
    usdcDomain: { name: name ?? told.name, version: version ?? told.version },
    token: { hasPermit: settings.profile.usdc?.permit !== false, domainProblem: null },
  };
}

/** How often to try a chain that could not be reached at the start. */
const CHECK_MS = 1_000;

/**
 * Opens the chain of a network. Nodes that cannot be reached now are used as soon as they can be,
 * after the same checks.
 * @throws StartError when a node belongs to another chain, nothing is deployed at the addresses, or
 * the contracts there are not what the settings say.
 */
export async function openChain(config: NetworkSettings, log: Log): Promise<Chain> {
  const { rpcUrls: urls, chainId, rpcHeaders: headers, rpcTimeoutsMs: timeoutsMs } = config;
  const perSecond = config.rpcPerSecond;
  const rpc = connectRpc({ urls, chainId, headers, timeoutsMs, perSecond, log });
  const setting = `CHAIN_${config.network.toUpperCase()}_RPC_URL`;
  const { network } = config;
  const later = openLater();
  const reads = chainOver({ config: withToken(config, USUAL_DOMAIN), rpc, later }, log);
  const chain = { ...reads, refreshToken: createTokenRefresh(reads, config, log) };
  const check = async () => {
    await requireContracts(chain, setting);
    await requireFee(chain);
    // The code that reads these already holds the objects.
    const { domain, hasPermit } = await readToken(chain, config, USUAL_DOMAIN);
    for (const { settlement } of config.formerSettlements) {
      await readToken(chain, { ...config, settlement }, USUAL_DOMAIN);
    }
    Object.assign(chain.config.usdcDomain, domain);
    Object.assign(chain.config.token, { hasPermit });
    if (!hasPermit)
      log.info('the token has no permit: payers approve by a transaction', { network });
    later.isChecked = true;
  };
  try {
    const probed = await rpc.probe();
    requireChainId(probed, setting, chainId);
    tellUnreachable(probed, setting, log);
    await check();
  } catch (error) {
    if (!(error instanceof RpcUnavailable)) {
      await rpc.close();
      throw error;
    }
    log.warn('the chain cannot be reached yet', { network: config.network });
    checkLater(later, check);
  }
  return chain;
}

/** The checks that are still due for a chain that could not be reached at the start. */
interface Later {
  isChecked: boolean;
  readonly refuted: Promise<string>;
  readonly refute: (why: string) => void;
  timer: NodeJS.Timeout | undefined;
}

function openLater(): Later {
  const { promise, resolve } = Promise.withResolvers<string>();
  return { isChecked: false, refuted: promise, refute: resolve, timer: undefined };
}

function checkLater(later: Later, check: () => Promise<void>): void {
  const again = async () => {
    try {
      await check();
    } catch (error) {
      if (error instanceof StartError) later.refute(error.message);
      else checkLater(later, check);
    }
  };
  later.timer = setTimeout(() => void again(), CHECK_MS).unref();
}

/** @throws StartError: an address that names another chain would never be used. */
function requireChainId(probed: readonly ProbedAddress[], setting: string, chainId: number): void {
  const wrong = probed.findIndex((one) => one.chainId !== null && one.chainId !== chainId);
  if (wrong < 0) return;
  const which = probed.length > 1 ? ` (address ${wrong + 1}, ${probed[wrong]?.host})` : '';
  const told = `${setting}${which} leads to chain ${probed[wrong]?.chainId}`;
  throw new StartError(`${told}, but ${chainId} is expected`);
}

/**
 * A profile's own ceiling may be exceeded for a while: then its lanes wait. One that a person has
 * set too low would never be noticed.
 * @throws StartError: the chain takes no transaction at that price.
 */
async function requireFee(chain: Chain): Promise<void> {
  const { network, isFeeSet, maxFeePerGasCeiling } = chain.config;
  if (!isFeeSet) return;
  const { baseFeePerGas } = await chain.newest();
  if (baseFeePerGas <= maxFeePerGasCeiling) return;
  const [set, asked] = [maxFeePerGasCeiling, baseFeePerGas].map((wei) => formatGwei(wei));
  const name = `CHAIN_${network.toUpperCase()}_MAX_FEE_GWEI`;
  throw new StartError(`${name}=${set} is below the base fee of the chain, ${asked} gwei now`);
}

function tellUnreachable(probed: readonly ProbedAddress[], setting: string, log: Log): void {
  probed.forEach(({ host, chainId, error }, index) => {
    if (chainId !== null) return;
    log.warn(`address ${index + 1} of ${setting} (${host}) cannot be used yet: ${error}`);
  });
}

function chainOver(
  { config, rpc, later }: { config: NetworkConfig; rpc: Rpc; later: Later },
  log: Log,
): Omit<Chain, 'refreshToken'> {
  const block = (tag: BlockTag) => readBlock(rpc, tag);
  const portions: Chain['logPortions'] = (filter) => readPortions(rpc, config, filter);
  const quantities = async (method: string, addresses: readonly Hex[], at: BlockTag) => {
    const calls = addresses.map((address) => ({ method, params: [address, tagText(at)] }));
    return (await rpc.batch(calls)).map((answer) => {
      if (answer.ok) return BigInt(answer.result as Hex);
      throw unavailable(answer.refusal);
    });
  };
  return {
    config,
    rpc,
    block,
    newest: async () => present(await block('latest'), 'newest block'),
    newestWith: (hashes) => readNewestWith(rpc, hashes),
    compareHeads: createHeadComparison({ rpc, config }, log),
    blocks: (numbers) => {
      const params = numbers.map((number) => [quantity(number), false]);
      return readEach(rpc, 'eth_getBlockByNumber', params, (raw) => toBlock(raw as RawBlock));
    },
    receipts: async (hashes) => readReceipts(await rpc.batch(receiptCalls(hashes))),
    calls: async (calls, at = 'latest', priority = {}) => {
      const requests = calls.map((call) => toCall(call, at));
      return (await rpc.batch(requests, priority)).map((answer) =>
        answer.ok ? { ok: true, data: answer.result as Hex } : toRevert(answer.refusal),
      );
    },
    nonces: (addresses, at = 'latest') => quantities('eth_getTransactionCount', addresses, at),
    balances: (addresses) => quantities('eth_getBalance', addresses, 'latest'),
    logs: async (filter) => {
      const logs: RawLog[] = [];
      for await (const portion of portions(filter)) logs.push(...portion.logs);
      return logs;
    },
    logPortions: portions,
    remember: createMemory(),
    isChecked: () => later.isChecked,
    refuted: later.refuted,
    close: () => {
      clearTimeout(later.timer);
      return rpc.close();
    },
  };
}

function createMemory(): Chain['remember'] {
  const readings = new Map<string, { readonly at: number; readonly value: Promise<unknown> }>();
  return <T>(what: string, maxAgeMs: number, read: () => Promise<T>) => {
    const last = readings.get(what);
    if (last !== undefined && performance.now() - last.at < maxAgeMs)
      return last.value as Promise<T>;
    const value = read();
    readings.set(what, { at: performance.now(), value });
    value.catch(() => readings.delete(what));
    return value;
  };
}

/** What one node leaves out or refuses does not affect the other answers: it is undefined. */
async function readEach<T>(
  rpc: Rpc,
  method: string,
  params: readonly (readonly unknown[])[],
  read: (raw: unknown, host: string) => T | null,
): Promise<(T | null | undefined)[]> {
  const answers = await rpc.batch(params.map((one) => ({ method, params: one })));
  return answers.map((answer) => readOne(answer, read));
}

function readOne<T>(
  answer: RpcAnswer,
  read: (raw: unknown, host: string) => T | null,
): T | null | undefined {
  if (!answer.ok) return undefined;
  return answer.result === null ? null : read(answer.result, answer.host);
}

function receiptCalls(hashes: readonly Hex[]) {
  return hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] }));
}

function readReceipts(answers: readonly RpcAnswer[]): (Receipt | null | undefined)[] {
  return answers.map((answer) =>
    readOne(answer, (raw, host) => toReceipt(raw as RawReceipt, host)),
  );
}

function blockCall(tag: BlockTag) {
  return { method: 'eth_getBlockByNumber', params: [tagText(tag), false] };
}

async function readNewestWith(rpc: Rpc, hashes: readonly Hex[]): Promise<NewestWith> {
  const [newest, ...rest] = await rpc.batch([blockCall('latest'), ...receiptCalls(hashes)]);
  if (newest?.ok !== true) throw unavailable(newest?.refusal ?? new RpcUnavailable('no answer'));
  const block = present(newest.result, 'newest block');
  return { block: toBlock(block as RawBlock), receipts: readReceipts(rest) };
}

async function readBlock(rpc: Rpc, tag: BlockTag): Promise<Block | null> {
  const [answer] = await rpc.batch([blockCall(tag)]);
  if (answer?.ok === true) {
    return answer.result === null ? null : toBlock(answer.result as RawBlock);
  }
  // Chains without finality refuse the tag.
  const isOfFinality = tag === 'finalized' || tag === 'safe';
  if (isOfFinality && answer?.refusal instanceof RpcRefusal) return null;
  throw unavailable(answer?.refusal ?? new RpcUnavailable('no answer'));
}

async function* readPortions(
  rpc: Rpc,
  contracts: Contracts,
  filter: Parameters<Chain['logPortions']>[0],
): AsyncGenerator<LogPortion> {
  const { topics = [], newestFirst = false } = filter;
  const addresses =
    filter.address === undefined
      ? contractsOf(contracts).map(({ settlement }) => settlement)
      : [filter.address];
  let { fromBlock, toBlock } = filter;
  while (fromBlock <= toBlock) {
    const range = { fromBlock, toBlock, newestFirst };
    const portion = await readLogPortion(rpc, { addresses, topics, ...range });
    yield portion;
    if (newestFirst) toBlock = portion.fromBlock - 1n;
    else fromBlock = portion.toBlock + 1n;
  }
}

function toCall({ words, ...call }: EthCall, at: BlockTag) {
  const isLong = (result: unknown) =>
    typeof result === 'string' && (words === 'any' || result.length === 2 + words * WORD_DIGITS);
  return { method: 'eth_call', params: [call, tagText(at)], accepts: isLong };
}

const WORD_DIGITS = 64;

/** Reads what a view of a contract returned. @throws RpcUnavailable: it reverted, or is no ABI. */
export function decodeView<T>(answer: CallAnswer | undefined, decode: (data: Hex) => T): T {
  if (answer?.ok !== true) {
    throw new RpcUnavailable(`a view of the contract reverted: ${answer?.message}`);
  }
  try {
    return decode(answer.data);
  } catch (cause) {
    throw new RpcUnavailable('a node answered what no view returns', { cause });
  }
}

/** A question that always has an answer: a refusal means that the nodes cannot answer. */
function unavailable(refusal: RpcRefusal | RpcUnavailable): RpcUnavailable {
  if (refusal instanceof RpcUnavailable) return refusal;
  return new RpcUnavailable('no node of the chain answers', { cause: refusal });
}

/** A revert is an answer about the call; everything else says nothing about it. */
export function toRevert(refusal: RpcRefusal | RpcUnavailable): CallAnswer & { ok: false } {
  if (refusal instanceof RpcUnavailable) throw refusal;
  const reverted = refusal.code === 3 || /revert/i.test(refusal.message);
  if (!reverted) throw new RpcUnavailable('the node could not run a call', { cause: refusal });
  return { ok: false, revertData: revertDataOf(refusal.data), message: refusal.message };
}

/** Nodes put it in different fields. */
function revertDataOf(data: unknown): unknown {
  if (typeof data === 'object' && data !== null && 'data' in data) return data.data;
  return data;
}

export function quantity(value: bigint): Hex {
  return `0x${value.toString(16)}`;
}

function tagText(tag: BlockTag): string {
  return typeof tag === 'bigint' ? quantity(tag) : tag;
}

interface RawBlock {
  number: Hex;
  hash: Hex;
  parentHash: Hex;
  timestamp: Hex;
  baseFeePerGas?: Hex;
  transactions?: Hex[];
}

function toBlock(raw: RawBlock): Block {
  assert(raw.number !== null && raw.hash !== null, 'a pending block was answered');
  return {
    number: BigInt(raw.number),
    hash: raw.hash,
    parentHash: raw.parentHash,
    time: new Date(Number(raw.timestamp) * 1000),
    baseFeePerGas: BigInt(raw.baseFeePerGas ?? '0x0'),
    transactions: raw.transactions ?? [],
  };
}

export interface RawReceipt {
  transactionHash: Hex;
  status: Hex;
  blockNumber: Hex;
  blockHash: Hex;
  from: Hex;
  gasUsed: Hex;
  logs: RawLog[];
}

export function toReceipt(raw: RawReceipt, host: string): Receipt | null {
  if (raw.blockNumber === null) return null;
  return {
    txHash: raw.transactionHash,
    succeeded: BigInt(raw.status) === 1n,
    blockNumber: BigInt(raw.blockNumber),
    blockHash: raw.blockHash,
    from: raw.from,
    gasUsed: BigInt(raw.gasUsed),
    logs: raw.logs,
    host,
  };
}

/** @throws StartError: nothing, or another contract, is at an address. @throws RpcUnavailable */
async function requireContracts(
  { config, rpc }: { readonly config: NetworkConfig; readonly rpc: Rpc },
  setting: string,
): Promise<void> {
  const settlements = contractsOf(config).map(({ settlement }) => settlement);
  for (const address of [...settlements, config.usdc]) {
    const code = await rpc.call('eth_getCode', [address, 'latest']);
    if (code === '0x') {
      if ((await readCodeSize(rpc, address)) > 0n) {
        throw new RpcUnavailable('a node does not give the code of a contract that is there');
      }
      throw new StartError(`there is no contract at ${address} on the chain of ${setting}`);
    }
    if (!settlements.includes(address) || isPresentEdition(code as Hex)) continue;
    throw new StartError(
      `the contract at ${address} on the chain of ${setting} is no settlement contract of ` +
        'this release: deploy one with npm run chain -- deploy',
    );
  }
}
