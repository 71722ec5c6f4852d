import type { Chain } from '#settlement/chain.ts';
import { readEvents, type SettlementEvent } from '#settlement/contract-events.ts';
import { RpcRefusal, RpcUnavailable } from '#settlement/rpc.ts';

export interface WalkedRange {
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
  readonly events: readonly SettlementEvent[];
  /** Times of the blocks that hold the events. */
  readonly times: ReadonlyMap<bigint, Date>;
}

/** Most providers answer this much; where one refuses, the range is halved. */
const WALK_BLOCKS = 2_000n;

/** All events of the contract between two blocks, in ranges that nodes are willing to read. */
export async function* walkEvents(
  chain: Chain,
  from: bigint,
  to: bigint,
): AsyncGenerator<WalkedRange> {
  let width = WALK_BLOCKS;
  let fromBlock = from;
  while (fromBlock <= to) {
    const end = fromBlock + width - 1n;
    const toBlock = end < to ? end : to;
    try {
      yield await readRange(chain, fromBlock, toBlock);
      fromBlock = toBlock + 1n;
    } catch (error) {
      if (!(error instanceof RpcRefusal) || width === 1n) throw error;
      width /= 2n;
    }
  }
}

async function readRange(chain: Chain, fromBlock: bigint, toBlock: bigint): Promise<WalkedRange> {
  const logs = await chain.logs({ fromBlock, toBlock });
  const events = readEvents(chain.config.settlement, logs);
  const numbers = [...new Set(events.map((event) => event.blockNumber))];
  const blocks = await chain.blocks(numbers);
  const times = new Map<bigint, Date>();
  for (const block of blocks) {
    if (block !== null) times.set(block.number, block.time);
  }
  if (times.size < numbers.length) throw new RpcUnavailable('blocks left the chain while read');
  return { fromBlock, toBlock, events, times };
}
