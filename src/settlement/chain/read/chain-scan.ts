import type { Chain } from '#settlement/chain/chain.ts';
import type { LogPortion } from '#settlement/chain/rpc/next-log-portion.ts';
import { RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import { readEvents, type SettlementEvent } from '#settlement/contract/contract-events.ts';

export interface ScannedRange {
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
  readonly events: readonly SettlementEvent[];
  /** Timestamps of the blocks that contain the events. */
  readonly times: ReadonlyMap<bigint, Date>;
}

/**
 * Yields all events of the contracts in a range of blocks, in portions that nodes are willing to
 * return.
 */
export async function* scanEvents(
  chain: Chain,
  from: bigint,
  to: bigint,
): AsyncGenerator<ScannedRange> {
  for await (const portion of chain.logPortions({ fromBlock: from, toBlock: to })) {
    yield await withTimes(chain, portion);
  }
}

async function withTimes(chain: Chain, portion: LogPortion): Promise<ScannedRange> {
  const { fromBlock, toBlock, logs } = portion;
  const events = readEvents(chain.config, logs);
  const numbers = [...new Set(events.map((event) => event.blockNumber))];
  const blocks = await chain.blocks(numbers);
  const times = new Map<bigint, Date>();
  for (const block of blocks) {
    if (block) times.set(block.number, block.time);
  }
  if (times.size < numbers.length)
    throw new RpcUnavailable('blocks were reorganized while they were read');
  return { fromBlock, toBlock, events, times };
}
