import { assert } from '#core/assert.ts';
import type { Log } from '#core/log.ts';
import { StartError } from '#core/start-error.ts';
import { isPresentEdition } from '#settlement/contract-edition.ts';
import type { RawLog } from '#settlement/contract-events.ts';
import type { NetworkConfig, NetworkSettings } from '#settlement/networks.ts';
import type { Hex } from '#settlement/requests.ts';
import { connectRpc, type Rpc, type RpcRefusal, RpcUnavailable } from '#settlement/rpc.ts';
import { readTokenDomain } from '#settlement/token.ts';

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
}

type BlockTag = 'latest' | 'finalized' | bigint;

export type CallAnswer =
  | { readonly ok: true; readonly data: Hex }
  | { readonly ok: false; readonly revertData: unknown; readonly message: string };

/** One network's chain, through its nodes. Every method may throw RpcUnavailable. */
export interface Chain {
  readonly config: NetworkConfig;
  readonly rpc: Rpc;
  /** null: there is no such block (yet, or any more). */
  block(tag: BlockTag): Promise<Block | null>;
  blocks(numbers: readonly bigint[]): Promise<(Block | null)[]>;
  /** null where the transaction is not in a block. */
  receipts(hashes: readonly Hex[]): Promise<(Receipt | null)[]>;
  /** `eth_call`s against one state, in one round trip. */
  calls(calls: readonly EthCall[], at?: BlockTag): Promise<CallAnswer[]>;
  /** Transactions of these addresses that are in the chain. */
  nonces(addresses: readonly Hex[]): Promise<bigint[]>;
  balances(addresses: readonly Hex[]): Promise<bigint[]>;
  logs(filter: LogFilter): Promise<RawLog[]>;
  close(): Promise<void>;
}

interface EthCall {
  readonly from?: Hex;
  readonly to: Hex;
  readonly data: Hex;
}

interface LogFilter {
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
  readonly topics?: readonly (Hex | null)[];
}

/** What Circle's contract says of itself on most chains, for a start without any node. */
const USUAL_DOMAIN = { name: 'USD Coin', version: '2' };

function withDomain(settings: NetworkSettings, told: NetworkConfig['usdcDomain']): NetworkConfig {
  const { name, version } = settings.usdcDomain;
  return {
    ...settings,
    usdcDomain: { name: name ?? told.name, version: version ?? told.version },
  };
}

/**
 * Opens the chain of a network. Nodes that cannot be reached now are used once they can.
 * @throws StartError when a node belongs to another chain, nothing is deployed at the addresses, or
 * the contracts there are not what the settings say.
 */
export async function openChain(config: NetworkSettings, log: Log): Promise<Chain> {
  const rpc = connectRpc({ urls: config.rpcUrls, chainId: config.chainId, log });
  const setting = `CHAIN_${config.network.toUpperCase()}_RPC_URL`;
  for (const { chainId } of await rpc.probe()) {
    if (chainId === null || chainId === config.chainId) continue;
    await rpc.close();
    throw new StartError(`${setting} leads to chain ${chainId}, but ${config.chainId} is expected`);
  }
  const chain = chainOver(withDomain(config, USUAL_DOMAIN), rpc);
  try {
    await requireContracts(chain, setting);
    return chainOver(withDomain(config, await readTokenDomain(chain, config)), rpc);
  } catch (error) {
    if (error instanceof RpcUnavailable) {
      log.warn('the chain cannot be reached yet', { network: config.network });
      return chain;
    }
    await rpc.close();
    throw error;
  }
}

async function requireContracts(chain: Chain, setting: string): Promise<void> {
  const { settlement, usdc } = chain.config;
  for (const address of [settlement, usdc]) {
    const code = await chain.rpc.call('eth_getCode', [address, 'latest']);
    if (code === '0x') {
      throw new StartError(`there is no contract at ${address} on the chain of ${setting}`);
    }
    if (address !== settlement || isPresentEdition(code as Hex)) continue;
    throw new StartError(
      `the contract at ${settlement} on the chain of ${setting} is no settlement contract of ` +
        'this release: deploy one with npm run chain -- deploy',
    );
  }
}

function chainOver(config: NetworkConfig, rpc: Rpc): Chain {
  const batch = async (method: string, params: readonly (readonly unknown[])[]) => {
    const answers = await rpc.batch(params.map((one) => ({ method, params: one })));
    return answers.map((answer) => {
      if (answer.ok) return answer.result;
      throw answer.refusal;
    });
  };
  const blocks = async (tags: readonly BlockTag[]) => {
    const found = await batch(
      'eth_getBlockByNumber',
      tags.map((tag) => [tagText(tag), false]),
    );
    return found.map((raw) => (raw === null ? null : toBlock(raw as RawBlock)));
  };
  return {
    config,
    rpc,
    blocks,
    block: async (tag) => (await blocks([tag]))[0] ?? null,
    receipts: async (hashes) => {
      const found = await batch(
        'eth_getTransactionReceipt',
        hashes.map((hash) => [hash]),
      );
      return found.map((raw) => (raw === null ? null : toReceipt(raw as RawReceipt)));
    },
    calls: async (calls, at = 'latest') => {
      const requests = calls.map((call) => ({ method: 'eth_call', params: [call, tagText(at)] }));
      return (await rpc.batch(requests)).map((answer) =>
        answer.ok ? { ok: true, data: answer.result as Hex } : toRevert(answer.refusal),
      );
    },
    nonces: async (addresses) => {
      const params = addresses.map((address) => [address, 'latest']);
      return (await batch('eth_getTransactionCount', params)).map((raw) => BigInt(raw as Hex));
    },
    balances: async (addresses) => {
      const params = addresses.map((address) => [address, 'latest']);
      return (await batch('eth_getBalance', params)).map((raw) => BigInt(raw as Hex));
    },
    logs: async ({ fromBlock, toBlock, topics = [] }) => {
      const range = { fromBlock: quantity(fromBlock), toBlock: quantity(toBlock) };
      const filter = { ...range, address: config.settlement, topics };
      // A node that lags behind answers with too few logs and says nothing: ask it for the last
      // block as well.
      const [logs, last] = await rpc.batch([
        { method: 'eth_getLogs', params: [filter] },
        { method: 'eth_getBlockByNumber', params: [range.toBlock, false] },
      ]);
      if (logs?.ok === false) throw logs.refusal;
      if (logs === undefined || last?.ok !== true || last.result === null) {
        throw new RpcUnavailable('the node has not reached the last block asked for');
      }
      return logs.result as RawLog[];
    },
    close: () => rpc.close(),
  };
}

/** An answer with a revert is an answer about the call; everything else says nothing about it. */
export function toRevert(refusal: RpcRefusal): CallAnswer & { ok: false } {
  const reverted = refusal.code === 3 || /revert/i.test(refusal.message);
  if (!reverted) throw new RpcUnavailable('the node could not run a call', { cause: refusal });
  return { ok: false, revertData: revertDataOf(refusal.data), message: refusal.message };
}

/** Nodes differ in where they put it. */
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

interface RawReceipt {
  transactionHash: Hex;
  status: Hex;
  blockNumber: Hex;
  blockHash: Hex;
  from: Hex;
  gasUsed: Hex;
  logs: RawLog[];
}

function toReceipt(raw: RawReceipt): Receipt | null {
  if (raw.blockNumber === null) return null;
  return {
    txHash: raw.transactionHash,
    succeeded: BigInt(raw.status) === 1n,
    blockNumber: BigInt(raw.blockNumber),
    blockHash: raw.blockHash,
    from: raw.from,
    gasUsed: BigInt(raw.gasUsed),
    logs: raw.logs,
  };
}
