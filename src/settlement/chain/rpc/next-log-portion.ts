import type { Hex } from '#settlement/chain-requests.ts';
import type { RawLog } from '#settlement/contract/contract-events.ts';

export interface LogQuestion {
  readonly addresses: readonly Hex[];
  readonly topics: readonly (Hex | null)[];
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
  readonly newestFirst: boolean;
}

/** The part of a range that a node returned in one response. */
export interface LogPortion {
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
  readonly logs: readonly RawLog[];
}

/** Returns the part of the range to request next: `width` blocks from its beginning or its end. */
export function portionOf(question: LogQuestion, width: bigint): Omit<LogPortion, 'logs'> {
  const { fromBlock, toBlock, newestFirst } = question;
  if (toBlock - fromBlock < width) return { fromBlock, toBlock };
  return newestFirst
    ? { fromBlock: toBlock - width + 1n, toBlock }
    : { fromBlock, toBlock: fromBlock + width - 1n };
}
