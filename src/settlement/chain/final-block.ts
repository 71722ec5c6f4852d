import type { Chain } from '#settlement/chain/chain.ts';

/** Where a chain does not tell what is final: two epochs of Ethereum. */
const FINAL_DEPTH = 64n;

/** The newest block that is not expected to leave the chain. Below zero: there is none yet. */
export async function finalBlock(chain: Pick<Chain, 'block'>, head: bigint): Promise<bigint> {
  return (await chain.block('finalized'))?.number ?? head - FINAL_DEPTH;
}
