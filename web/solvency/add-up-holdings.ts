import { type AskNode, nodeAt } from '../data/ask-chain-node.ts';
import { call, lensOf, wordsOf } from '../data/contract-calls.ts';

/** Assets that a contract holds and owes at one block, in atoms. */
export interface Holdings {
  readonly block: number;
  readonly held: bigint;
  readonly owed: bigint;
  readonly fees: bigint;
}

export type Verdict =
  /** True if the contract's balance covers its debts. */
  | { readonly kind: 'covered'; readonly holdings: Holdings }
  | { readonly kind: 'short'; readonly holdings: Holdings }
  /** The node serves another chain, or the chain has no such contract. */
  | { readonly kind: 'elsewhere' }
  | { readonly kind: 'unknown' };

export interface Contract {
  readonly chain_id: number;
  readonly settlement: string;
}

/** Merchants per call. Nodes allow enough gas for several thousand. */
const PAGE = 1_000;

/** Calls a view. @returns the words of the response; empty if there is no such contract. */
async function read(
  ask: AskNode,
  { to, data, block }: { readonly to: string; readonly data: string; readonly block: string },
): Promise<bigint[] | null> {
  const answer = await ask('eth_call', [{ to, data }, block]);
  if (answer === undefined) return null;
  return wordsOf(String(answer));
}

async function sum(
  ask: AskNode,
  { settlement, block }: { readonly settlement: string; readonly block: string },
): Promise<Holdings | 'elsewhere' | null> {
  const counting = { to: settlement, data: call('merchantCount()'), block };
  const counted = await read(ask, counting);
  if (counted === null) return null;
  const [merchants] = counted;
  if (merchants === undefined) return 'elsewhere';
  const total = { held: 0n, owed: 0n, fees: 0n };
  for (let first = 1; first === 1 || first <= merchants; first += PAGE) {
    const last = Math.min(first + PAGE - 1, Number(merchants));
    const data = call('holdings(uint32,uint32)', first, last);
    const page = await read(ask, { to: lensOf(settlement), data, block });
    if (page === null) return null;
    const [held, owed, fees] = page;
    if (held === undefined || owed === undefined || fees === undefined) return 'elsewhere';
    Object.assign(total, { held, owed: total.owed + owed, fees });
  }
  return { block: Number(block), ...total };
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
    const holdings = await sum(ask, { settlement, block: String(block) });
    if (holdings === null) return { kind: 'unknown' };
    if (holdings === 'elsewhere') return { kind: 'elsewhere' };
    const { held, owed, fees } = holdings;
    return { kind: held >= owed + fees ? 'covered' : 'short', holdings };
  } catch {
    return { kind: 'unknown' };
  }
}
