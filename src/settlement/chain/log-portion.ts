import type { RawLog } from '#settlement/contract/contract-events.ts';
import type { Hex } from '#settlement/requests.ts';

export interface LogQuestion {
  /** Of the contracts whose logs are wanted. */
  readonly addresses: readonly Hex[];
  readonly topics: readonly (Hex | null)[];
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
  /** The end to begin with. */
  readonly newestFirst: boolean;
}

/** What a node gave of a range in one answer. */
export interface LogPortion {
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
  readonly logs: readonly RawLog[];
}

/** That many blocks, from the end of the range that is wanted first. */
export function portionOf(question: LogQuestion, width: bigint): Omit<LogPortion, 'logs'> {
  const { fromBlock, toBlock, newestFirst } = question;
  if (toBlock - fromBlock < width) return { fromBlock, toBlock };
  return newestFirst
    ? { fromBlock: toBlock - width + 1n, toBlock }
    : { fromBlock, toBlock: fromBlock + width - 1n };
}
