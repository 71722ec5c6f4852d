import type { LogPortion } from '#settlement/chain/rpc/next-log-portion.ts';
import type { Rpc, RpcPriority } from '#settlement/chain/rpc/rpc.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import type { RawLog } from '#settlement/contract/contract-events.ts';
import type { NetworkConfig } from '#settlement/network-config.ts';

// `open-chain.ts` opens a chain, `read-chain.ts` queries its nodes, and `decode-call-answers.ts`
// parses their responses.

export interface Block {
  readonly number: bigint;
  readonly hash: Hex;
  readonly parentHash: Hex;
  /** The block's timestamp, in whole seconds. */
  readonly time: Date;
  readonly baseFeePerGas: bigint;
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
  /** The host of the provider that returned the receipt. */
  readonly host: string;
}

export type BlockTag = 'latest' | 'safe' | 'finalized' | bigint;

export type CallAnswer =
  | { readonly ok: true; readonly data: Hex }
  | { readonly ok: false; readonly revertData: unknown; readonly message: string };

/** The chain of one network, as its nodes report it. Every method may throw RpcUnavailable. */
export interface Chain {
  readonly config: NetworkConfig;
  readonly rpc: Rpc;
  /** Returns a block; `null` if it does not exist yet, or no longer exists. */
  block(tag: BlockTag): Promise<Block | null>;
  newest(): Promise<Block>;
  /** Returns the newest block and the receipts of these transactions, from one request. */
  newestWith(hashes: readonly Hex[]): Promise<NewestWith>;
  /** Polls the heads of all providers. Providers whose head advances are then preferred. */
  compareHeads(): Promise<void>;
  /** Returns blocks in the given order; `undefined` for those that no node returned. */
  blocks(numbers: readonly bigint[]): Promise<(Block | null | undefined)[]>;
  /**
   * Returns receipts in the given order: `null` if the transaction is in no block, `undefined` if
   * no node answered.
   */
  receipts(hashes: readonly Hex[]): Promise<(Receipt | null | undefined)[]>;
  /** Makes `eth_call`s in one round trip. */
  calls(calls: readonly EthCall[], at?: BlockTag, priority?: RpcPriority): Promise<CallAnswer[]>;
  /** Returns how many transactions each address has sent, up to a block or the newest one. */
  nonces(addresses: readonly Hex[], at?: BlockTag): Promise<bigint[]>;
  balances(addresses: readonly Hex[]): Promise<bigint[]>;
  /** Returns all logs of a range, with as many requests as necessary. */
  logs(filter: LogFilter): Promise<RawLog[]>;
  /**
   * Yields the logs of a range in portions that nodes are willing to return, the newest first if
   * requested.
   */
  logPortions(filter: LogFilter & { readonly newestFirst?: boolean }): AsyncGenerator<LogPortion>;
  /** Returns the cached value if it is at most `maxAgeMs` old; otherwise reads it. */
  remember<T>(what: string, maxAgeMs: number, read: () => Promise<T>): Promise<T>;
  /** Reads the token's name and version again, unless they were read in the last half minute. */
  refreshToken(): Promise<void>;
  /**
   * Runs a check of the start. If no node answers, the check is repeated until one does.
   * @throws StartError if the check fails now; if it fails later, `refuted` resolves.
   */
  checkAtStart(check: () => Promise<void>): Promise<void>;
  /** True once all checks of the start have passed. Until then, the relayer signs nothing. */
  isChecked(): boolean;
  /** Resolves with the reason if a check fails after startup. */
  readonly refuted: Promise<string>;
  close(): Promise<void>;
}

/** The same chain, for work at whose end no customer waits: its calls let urgent ones go first. */
export function withoutUrgency(chain: Chain): Chain {
  const rpc: Rpc = {
    ...chain.rpc,
    call: (method, params) => chain.rpc.call(method, params),
    batch: (calls) => chain.rpc.batch(calls),
  };
  return { ...chain, rpc, calls: (calls, at) => chain.calls(calls, at) };
}

export interface NewestWith {
  readonly block: Block;
  /** Receipts in the given order, as {@link Chain.receipts} returns them. */
  readonly receipts: readonly (Receipt | null | undefined)[];
}

export interface EthCall {
  readonly from?: Hex;
  readonly to: Hex;
  readonly data: Hex;
  /**
   * The number of 32-byte words in a response; a node that returns another number is faulty. `any`:
   * the length varies, and nothing may depend on it.
   */
  readonly words: number | 'any';
}

export interface LogFilter {
  /** Default: all settlement contracts of the network. */
  readonly address?: Hex | readonly Hex[];
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
  readonly topics?: readonly (Hex | null)[];
  /** Maximum number of blocks requested at once; default: `LOG_WIDTH`. */
  readonly width?: bigint;
}
