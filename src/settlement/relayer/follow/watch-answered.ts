import { failpoint } from '#core/failpoints.ts';
import type { Block } from '#settlement/chain/chain.ts';
import { blocksLasting } from '#settlement/chain/patient-blocks.ts';
import { type FinalityLook, findGone } from '#settlement/relayer/follow/finality.ts';
import type { RelayerState } from '#settlement/relayer/machine/state.ts';
import {
  type AnsweredRow,
  requeueAnswered,
  selectAnswered,
} from '#settlement/relayer/rows/mined-queries.ts';

/** Below the final block: between two looks it moves on, and a restart takes a while. */
const MARGIN_BLOCKS = 64;

/**
 * What is booked and not carried by a transaction of ours: an earlier one had done it, or recovery
 * found it on the chain. `watchFinality` does not see its block. Where that block is gone, and no
 * node has a receipt any more, it is sent under new bytes: the replay guard knows it by its number,
 * and a refund by the sum before it.
 */
export async function watchAnswered(
  relayer: RelayerState,
  head: Block,
  { askFinal }: FinalityLook,
): Promise<void> {
  const { chain, db, log, wakeups } = relayer;
  const { livemode, network } = chain.config;
  if (relayer.lanes.size === 0) return;
  const margin = blocksLasting(chain.config, { blocks: MARGIN_BLOCKS });
  const after = (await askFinal()) - margin;
  const rows = await selectAnswered(db, { livemode, after });
  if (rows.length === 0) return;
  const holds = (block: Block, row: AnsweredRow) => block.transactions.includes(row.tx_hash);
  const missing = await findGone(relayer, { rows, head, holds });
  if (missing.length === 0) return;
  // Mined again in another block it has a receipt.
  const receipts = await chain.receipts(missing.map((row) => row.tx_hash));
  const gone = missing.filter((_, index) => receipts[index] === null);
  if (gone.length === 0) return;
  for (const row of gone) await requeueAnswered(db, row);
  failpoint('reorganizations.queued_again');
  log.error('what was booked left the chain, and no bytes are left: sending it again', {
    network,
    transactions: gone.map((row) => row.tx_hash),
  });
  wakeups.send('chain-requests', network);
}
