import type { Hex } from '#settlement/chain-requests.ts';
import type { RawLog } from '#settlement/contract/contract-events.ts';

export interface LogQuestion {
  readonly addresses: readonly Hex[];
  readonly topics: readonly (Hex | null)[];
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
  readonly newestFirst: boolean;
  /** Maximum number of blocks requested at once; default: `LOG_WIDTH`. */
  readonly width?: bigint;
}

export interface BlockRange {
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
}

/** The part of a range that a node returned in one response. */
export interface LogPortion extends BlockRange {
  readonly logs: readonly RawLog[];
  /** The number of calls that this took, refused ones included. */
  readonly requests: number;
}

/** Returns the part of the range to request next: `width` blocks from its beginning or its end. */
export function portionOf(question: LogQuestion, width: bigint): BlockRange {
  const { fromBlock, toBlock, newestFirst } = question;
  if (toBlock - fromBlock < width) return { fromBlock, toBlock };
  return newestFirst
    ? { fromBlock: toBlock - width + 1n, toBlock }
    : { fromBlock, toBlock: fromBlock + width - 1n };
}
