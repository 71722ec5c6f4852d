import type { Block } from '#settlement/chain/chain.ts';
import type { ToldHead } from '#settlement/chain/heads.ts';

/** What is looked for in the chain is rarely older; then it is asked for. */
const KEPT_BLOCKS = 64n;

/** Keeps an announced block, and none that it leaves without a place in the chain. */
export function noteTold(told: Map<bigint, ToldHead>, head: ToldHead): void {
  for (const number of told.keys()) {
    if (number >= head.number || number <= head.number - KEPT_BLOCKS) told.delete(number);
  }
  told.set(head.number, head);
}

/**
 * The announced block of a height below `head`; null unless announced blocks lead from `head` down
 * to it, parent by parent. A hash covers the parent's, so no block has to be asked for.
 */
export function ancestorOf(
  told: ReadonlyMap<bigint, ToldHead>,
  head: Pick<Block, 'number' | 'parentHash'>,
  number: bigint,
): ToldHead | null {
  let parentHash: string = head.parentHash;
  for (let at = head.number - 1n; at >= number; at--) {
    const block = told.get(at);
    if (block?.hash !== parentHash) return null;
    if (at === number) return block;
    parentHash = block.parentHash;
  }
  return null;
}
