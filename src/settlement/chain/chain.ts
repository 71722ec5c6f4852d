import type { LogPortion } from '#settlement/chain/log-portion.ts';
import type { Rpc, RpcPriority } from '#settlement/chain/rpc.ts';
import type { RawLog } from '#settlement/contract/contract-events.ts';
import type { NetworkConfig } from '#settlement/networks.ts';
import type { Hex } from '#settlement/requests.ts';

// `open-chain.ts` opens a chain, `read-chain.ts` asks its nodes, `decode.ts` reads their answers.

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
  /** `null` if there is no such block (yet, or any more). */
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

export interface NewestWith {
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

export interface LogFilter {
  /** All settlement contracts of the network, unless it says another address. */
  readonly address?: Hex;
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
  readonly topics?: readonly (Hex | null)[];
}
