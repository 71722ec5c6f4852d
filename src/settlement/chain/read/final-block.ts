import type { Chain } from '#settlement/chain/chain.ts';
import { blocksLasting } from '#settlement/chain/check/timeout-blocks.ts';

/**
 * Assumed depth of final blocks on chains that do not report them: two epochs of Ethereum. If
 * blocks are shorter than `minBlockMs`, the depth spans the time of 64 blocks of that length.
 */
const FINAL_DEPTH = 64;

/**
 * A node may show a block before it returns the block's events, and some chains report their newest
 * block as final immediately. The events of the newest blocks, at least this many, are therefore
 * read again.
 */
const SHOWN_LATE = 15;

/** Returns the newest final block that is old enough that every node has indexed its events. */
export async function shownBlock(
  chain: Pick<Chain, 'block' | 'config'>,
  head: bigint,
): Promise<bigint> {
  const final = await finalBlock(chain, head);
  const shown = head - blocksLasting(chain.config, { blocks: SHOWN_LATE });
  return final < shown ? final : shown;
}

/**
 * Returns the newest block that is anchored on another chain. For nodes without the `safe` tag,
 * returns the `finalized` block.
 */
async function safeBlock(chain: Pick<Chain, 'block'>, finalized: bigint): Promise<bigint> {
  const safe = (await chain.block('safe'))?.number ?? finalized;
  return safe > finalized ? safe : finalized;
}

/**
 * Returns the newest block that is not expected to leave the chain; negative if there is none yet.
 */
export async function finalBlock(
  chain: Pick<Chain, 'block' | 'config'>,
  head: bigint,
): Promise<bigint> {
  const reported = await chain.block('finalized');
  return reported?.number ?? head - blocksLasting(chain.config, { blocks: FINAL_DEPTH });
}

/**
 * Returns the newest safe and the newest final block; both are the head if blocks cannot be undone.
 */
export async function finalityOf(
  chain: Pick<Chain, 'block' | 'config'>,
  head: bigint,
): Promise<{ readonly safe: bigint; readonly finalized: bigint }> {
  if (chain.config.profile.finality === 'deterministic') return { safe: head, finalized: head };
  const finalized = await finalBlock(chain, head);
  return { safe: await safeBlock(chain, finalized), finalized };
}
