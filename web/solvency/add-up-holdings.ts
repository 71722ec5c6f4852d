import { nodeAt } from '../data/ask-chain-node.ts';
import type { Hex } from '../data/bytes.ts';
import { wordsOf } from '../data/contract-calls.ts';
import {
  addUpHoldings,
  type Holdings,
  NoContract,
  readRanges,
  type View,
} from '../data/contract-holdings.ts';

export interface HoldingsAtBlock extends Holdings {
  readonly block: number;
}

export type Verdict =
  /** True if the contract's balance covers its debts. */
  | { readonly kind: 'covered'; readonly holdings: HoldingsAtBlock }
  | { readonly kind: 'short'; readonly holdings: HoldingsAtBlock }
  /** The node serves another chain, or the chain has no such contract. */
  | { readonly kind: 'elsewhere' }
  | { readonly kind: 'unknown' };

export interface Contract {
  readonly chain_id: number;
  readonly settlement: Hex;
}

/**
 * Queries the chain directly, not the server from which the page came, and adds up all merchants.
 */
export async function addUp({ chain_id, settlement }: Contract, node: string): Promise<Verdict> {
  const ask = nodeAt(node);
  try {
    const [chainId, block] = await Promise.all([
      ask('eth_chainId', []),
      ask('eth_blockNumber', []),
    ]);
    if (chainId === undefined || block === undefined) return { kind: 'unknown' };
    if (Number(chainId) !== chain_id) return { kind: 'elsewhere' };
    const view: View = async (to, data) => {
      const answer = await ask('eth_call', [{ to, data }, block]);
      if (answer === undefined) throw new Error('the node refused the call');
      return wordsOf(String(answer));
    };
    const ranges = await readRanges(view, settlement);
    const sums = await addUpHoldings(view, settlement, ranges);
    const holdings = { block: Number(block), ...sums };
    const { held, owed, fees } = sums;
    return { kind: held >= owed + fees ? 'covered' : 'short', holdings };
  } catch (error) {
    return { kind: error instanceof NoContract ? 'elsewhere' : 'unknown' };
  }
}
