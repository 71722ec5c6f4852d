import { setTimeout as sleep } from 'node:timers/promises';
import { failpoint } from '#core/failpoints.ts';
import type { Block } from '#settlement/chain/chain.ts';
import { blocksLasting } from '#settlement/chain/check/timeout-blocks.ts';
import { finalBlock } from '#settlement/chain/read/final-block.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import {
  type MinedBlockRow,
  markFinalized,
  reopenBlocks,
  requeueAnswered,
  selectAnswered,
  selectMinedBlocks,
} from '#settlement/relayer/jobs/transaction-queries.ts';
import { broadcast } from '#settlement/relayer/send/sign-and-broadcast.ts';
import { loadOpen } from '#settlement/relayer/senders/repair-nonces.ts';
import { usualLag } from '#settlement/relayer/state-machine/chain-view.ts';
import type { RelayerState } from '#settlement/relayer/state-machine/relayer-state.ts';

/**
 * The number of blocks checked together, from the oldest and from the newest. The next check covers
 * the rest.
 */
const MAX_BLOCKS = 100;

/**
 * Checks that the blocks on which this process relies are still in the chain. Call this every few
 * blocks, after a reorganization, and after taking over senders.
 */
export async function watchBlocks(
  relayer: RelayerState,
  head: Block,
  isReorganized: boolean,
): Promise<void> {
  if (relayer.senders.size === 0) return;
  // Both checks use the same final block, which is read only once.
  let pending: Promise<bigint> | undefined;
  const askFinal = () => (pending ??= finalBlock(relayer.chain, head.number));
  await watchFinality(relayer, head, isReorganized, askFinal);
  await watchAnswered(relayer, head, askFinal);
}

/**
 * Checks that the blocks of our transactions are still in the chain. Transactions up to the final
 * block are finished. If a block no longer exists, its transactions are sent again in nonce order,
 * with the stored bytes.
 */
async function watchFinality(
  relayer: RelayerState,
  head: Block,
  isReorganized: boolean,
  askFinal: () => Promise<bigint>,
): Promise<void> {
  const { chain, db, clock, livemode } = relayer;
  const senders = [...relayer.senders.keys()];
  const rows = await selectMinedBlocks(db, { livemode, senders, limit: MAX_BLOCKS });
  const newest = rows.at(-1);
  // Usually there are no such transactions.
  if (newest === undefined) return;
  const final = await askFinal();
  // If our newest block still exists, so do the older ones. Each block is checked again when it
  // becomes final.
  const isSure =
    !isReorganized &&
    newest.block_number > final &&
    (await chain.block(newest.block_number))?.hash === newest.block_hash;
  const known = isSure ? rows.filter((row) => row.block_number <= final) : rows;
  const looked = { rows: known, head };
  const gone = await findGone(relayer, looked, (block, row) => block.hash === row.block_hash);
  const goneHashes = new Set(gone.map((row) => row.block_hash));
  const done = known.filter((row) => row.block_number <= final && !goneHashes.has(row.block_hash));
  if (done.length > 0) {
    const blockHashes = done.map((row) => row.block_hash);
    await markFinalized(db, { livemode, blockHashes }, clock.now());
  }
  if (gone.length > 0) await resend(relayer, head, gone);
}

/** A block counts as gone if it is missing in this many consecutive polls. */
const GONE_LOOKS = 3;
const GONE_LOOK_MS = 120;

/** Returns the rows whose blocks have left the chain, or no longer contain their transactions. */
async function findGone<Row extends { readonly block_number: bigint }>(
  relayer: RelayerState,
  { rows, head }: { readonly rows: readonly Row[]; readonly head: Block },
  /** True if `block` is still the row's block. */
  holds: (block: Block, row: Row) => boolean,
): Promise<Row[]> {
  const { chain } = relayer;
  const lag = usualLag(relayer);
  let gone = [...rows];
  for (let look = 0; look < GONE_LOOKS && gone.length > 0; look++) {
    // A node of another chain has none of our blocks, so the chain id is checked first.
    if (look > 0) await Promise.all([sleep(GONE_LOOK_MS), chain.rpc.confirmChain()]);
    const blocks = await chain.blocks(gone.map((row) => row.block_number));
    gone = gone.filter((row, index) => {
      const block = blocks[index];
      if (block === undefined) return false;
      if (block !== null) return !holds(block, row);
      // A block above the head no longer exists. Slightly below the head, nodes may still disagree.
      return row.block_number > head.number || row.block_number < head.number - lag;
    });
  }
  return gone;
}

async function resend(
  relayer: RelayerState,
  head: Block,
  gone: readonly MinedBlockRow[],
): Promise<void> {
  // If the node merely lags, the receipts still exist, and requesting them again does no harm.
  const { livemode } = relayer;
  const blockHashes: Hex[] = gone.map((row) => row.block_hash);
  const senders = [...relayer.senders.keys()];
  const reopened = await relayer.db.transaction((tx) =>
    reopenBlocks(tx, { livemode, senders, blockHashes }),
  );
  relayer.log.error('blocks with our transactions were reorganized: resending the transactions', {
    head: head.number,
    blocks: gone.map((row) => row.block_number),
    transactions: reopened.length,
  });
  relayer.observeAll({ kind: 'ask_again' });
  for (const number of new Set(reopened.map((row) => row.sender))) {
    const sender = relayer.senders.get(number);
    if (sender !== undefined) await broadcast(sender, await loadOpen(sender));
  }
}

/**
 * Results are watched from this far below the final block, because that block advances between two
 * checks and during a restart.
 */
const MARGIN_BLOCKS = 64;

/**
 * Watches booked results that are not linked to a transaction of ours, because an earlier
 * transaction had paid the job or recovery found the result on the chain. `watchFinality` does not
 * check their blocks. If such a block no longer exists and no node has a receipt, the job is sent
 * in a new transaction.
 */
async function watchAnswered(
  relayer: RelayerState,
  head: Block,
  askFinal: () => Promise<bigint>,
): Promise<void> {
  const { chain, db, log, livemode } = relayer;
  const margin = blocksLasting(chain.config, { blocks: MARGIN_BLOCKS });
  const after = (await askFinal()) - margin;
  const rows = await selectAnswered(db, { livemode, after });
  if (rows.length === 0) return;
  const missing = await findGone(relayer, { rows, head }, ({ transactions }, { tx_hash }) =>
    transactions.includes(tx_hash),
  );
  if (missing.length === 0) return;
  // If the transaction was mined again in another block, there is a receipt.
  const receipts = await chain.receipts(missing.map((row) => row.tx_hash));
  const gone = missing.filter((_, index) => receipts[index] === null);
  if (gone.length === 0) return;
  for (const row of gone) await requeueAnswered(db, row);
  failpoint('reorganizations.queued_again');
  log.error(
    'a booked result was reorganized and its transaction is not stored: sending the job again',
    { transactions: gone.map((row) => row.tx_hash) },
  );
  relayer.wakeSenders();
}
