import { broadcast } from '#settlement/broadcast.ts';
import type { Block } from '#settlement/chain.ts';
import { loadOpen } from '#settlement/load-open.ts';
import {
  type MinedBlockRow,
  markFinalized,
  reopenBlocks,
  selectMinedBlocks,
} from '#settlement/recovery-queries.ts';
import { inNonceOrder, type RelayerState } from '#settlement/relayer-state.ts';
import type { Hex } from '#settlement/requests.ts';
import { RpcRefusal } from '#settlement/rpc.ts';

/** Where a chain does not tell what is final: two epochs of Ethereum. */
const FINAL_DEPTH = 64n;
/** Blocks checked at once, of either end; the rest follows at the next look. */
const MAX_BLOCKS = 100;

/**
 * Compares the blocks that hold transactions of ours with the chain. Those behind the final block
 * are done with; of those that are gone, the stored bytes are sent again, in the order of nonces.
 * Call it every few blocks, after a reorganisation, and when lanes are taken up.
 */
export async function watchFinality(relayer: RelayerState, head: Block): Promise<void> {
  const { chain, db, clock } = relayer;
  const { livemode } = chain.config;
  const lanes = [...relayer.lanes.keys()];
  if (lanes.length === 0) return;
  const final = await finalNumber(relayer, head);
  const known = await selectMinedBlocks(db, { livemode, lanes, final, limit: MAX_BLOCKS });
  if (known.length === 0) return;
  const found = await chain.blocks(known.map((row) => row.block_number));
  const gone = known.filter((row, index) => found[index]?.hash !== row.block_hash);
  const goneHashes = new Set(gone.map((row) => row.block_hash));
  const done = known.filter((row) => row.block_number <= final && !goneHashes.has(row.block_hash));
  if (done.length > 0) {
    const blockHashes = done.map((row) => row.block_hash);
    await markFinalized(db, { livemode, blockHashes }, clock.now());
  }
  if (gone.length > 0) await resend(relayer, head, gone);
}

async function finalNumber(relayer: RelayerState, head: Block): Promise<bigint> {
  try {
    const block = await relayer.chain.block('finalized');
    if (block !== null) return block.number;
  } catch (error) {
    if (!(error instanceof RpcRefusal)) throw error;
  }
  return head.number - FINAL_DEPTH;
}

async function resend(
  relayer: RelayerState,
  head: Block,
  gone: readonly MinedBlockRow[],
): Promise<void> {
  // A block above the head is one that the node we ask has not heard of yet, or a shorter chain;
  // either way its receipts are asked for again, which costs nothing if they are still there.
  const { livemode, network } = relayer.chain.config;
  const blockHashes: Hex[] = gone.map((row) => row.block_hash);
  const lanes = [...relayer.lanes.keys()];
  const reopened = await relayer.db.transaction((tx) =>
    reopenBlocks(tx, { livemode, lanes, blockHashes }),
  );
  relayer.log.error('blocks with transactions of ours left the chain: sending them again', {
    network,
    head: head.number,
    blocks: gone.map((row) => row.block_number),
    transactions: reopened.length,
  });
  relayer.recheckAll = true;
  for (const number of new Set(reopened.map((row) => row.lane))) {
    const lane = relayer.lanes.get(number);
    if (lane === undefined) continue;
    await loadOpen(relayer, lane);
    await broadcast(relayer, lane, inNonceOrder(lane));
  }
}
