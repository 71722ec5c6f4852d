import type { Chain } from '#settlement/chain/chain.ts';
import { blocksLasting } from '#settlement/chain/timeout-blocks.ts';

/**
 * Where a chain does not tell what is final: two epochs of Ethereum, and on faster chains as long
 * as so many blocks of a second.
 */
const FINAL_DEPTH = 64;

/**
 * A node may show a block before its events, and some chains call their newest block final at once.
 * So long their events are read again, in blocks of a second.
 */
const SHOWN_LATE = 15;

/** The newest block that is final, and whose events every node has had the time to show. */
export async function shownBlock(
  chain: Pick<Chain, 'block' | 'config'>,
  head: bigint,
): Promise<bigint> {
  const final = await finalBlock(chain, head);
  const shown = head - blocksLasting(chain.config, { blocks: SHOWN_LATE });
  return final < shown ? final : shown;
}

/** The newest block that another chain has. Nodes without that word have only what is final. */
async function safeBlock(chain: Pick<Chain, 'block'>, finalized: bigint): Promise<bigint> {
  const safe = (await chain.block('safe'))?.number ?? finalized;
  return safe > finalized ? safe : finalized;
}

/** The newest block that is not expected to leave the chain. Below zero: there is none yet. */
export async function finalBlock(
  chain: Pick<Chain, 'block' | 'config'>,
  head: bigint,
): Promise<bigint> {
  const told = await chain.block('finalized');
  return told?.number ?? head - blocksLasting(chain.config, { blocks: FINAL_DEPTH });
}

/** Up to where a chain is safe and final; where a block cannot be undone, up to the head. */
export async function marksOf(
  chain: Pick<Chain, 'block' | 'config'>,
  head: bigint,
): Promise<{ readonly safe: bigint; readonly finalized: bigint }> {
  if (chain.config.profile.finality === 'deterministic') return { safe: head, finalized: head };
  const finalized = await finalBlock(chain, head);
  return { safe: await safeBlock(chain, finalized), finalized };
}
