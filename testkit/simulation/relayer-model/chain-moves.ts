import type { Bounds, Branch, ChainState } from '#testkit/simulation/relayer-model/world.ts';

/** The deepest reorganization. */
const DEEPEST = 3;

/** Returns all states that the chain and its nodes can reach in one move without the relayer. */
export function chainMoves(chain: ChainState, bounds: Bounds): ChainState[] {
  return [
    ...minings(chain, bounds),
    ...reorganizations(chain, bounds),
    ...evictions(chain, bounds),
  ];
}

/**
 * Returns the chain after an empty block, and after blocks with a transaction of one sender or of
 * both.
 */
function minings(chain: ChainState, bounds: Bounds): ChainState[] {
  const height = chain.height + 1;
  let variants: Branch['mined'][] = [chain.mined];
  const senders = new Set(bounds.slots.map(({ sender }) => sender));
  for (const sender of senders) {
    const next = bounds.slots.findIndex(
      (slot, index) => slot.sender === sender && chain.mined[index] === null,
    );
    if (next < 0) continue;
    const attempts = bitsOf(chain.pool[next] ?? 0);
    if (bounds.isStolen && sender === 0 && !chain.isStolen) attempts.push(-1);
    variants = variants.flatMap((mined) => [
      mined,
      ...attempts.map((attempt) => mined.with(next, { attempt, at: height })),
    ]);
  }
  return variants.map((mined) => {
    const isStolen = chain.isStolen || mined.some((one) => one?.attempt === -1);
    return { ...chain, height, mined, isStolen };
  });
}

function bitsOf(bits: number): number[] {
  const results: number[] = [];
  for (let bit = 0; 2 ** bit <= bits; bit++) if ((bits >> bit) % 2 === 1) results.push(bit);
  return results;
}

/**
 * Returns the chain after reorganizations, which replace its last blocks with blocks without our
 * transactions.
 */
function reorganizations(chain: ChainState, bounds: Bounds): ChainState[] {
  if (chain.reorganizations >= bounds.reorganizations) return [];
  const { height, cuts, mined } = chain;
  const results: ChainState[] = [];
  for (let depth = 1; depth <= DEEPEST && depth < height; depth++) {
    const cut = height - depth;
    const left = mined.map((one) => (one !== null && one.at > cut ? null : one));
    const reorganizations = chain.reorganizations + 1;
    const lost = { height, cuts, mined };
    results.push({ ...chain, cuts: [...cuts, cut], mined: left, lost, reorganizations });
  }
  return results;
}

function evictions(chain: ChainState, bounds: Bounds): ChainState[] {
  if (chain.evictions >= bounds.evictions) return [];
  return chain.pool.flatMap((bits, slot) => {
    if (bits === 0) return [];
    return [{ ...chain, pool: chain.pool.with(slot, 0), evictions: chain.evictions + 1 }];
  });
}
