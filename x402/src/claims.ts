import { randomUUID } from 'node:crypto';
import type { Authorization } from './authorization.ts';

/** What a process presents to the network to open a sale, and the signature that pays for it. */
export interface Claim {
  readonly id: string;
  readonly authorization: Authorization;
}

/**
 * The sales that this process may still answer with a success. The network stores a random claim
 * with each payment intent, so the process that created the intent recognizes its own. It gives
 * the claim back after any answer but a success, and the next call for the sale takes it. Claims
 * are lost with the process; the sale then never gets a success that was not asked for by name.
 */
export interface Claims {
  /** Takes the claims of a sale, at least one. No other call has them until they are given back. */
  take(sale: string, authorization: Authorization): readonly [Claim, ...Claim[]];
  giveBack(sale: string, claims: readonly Claim[]): void;
}

/**
 * Maximum number of sales whose claims are kept. A sale keeps a claim only if it was opened, which
 * takes a valid signature and the money for it.
 */
const MOST_SALES = 10_000;

export function openClaims(): Claims {
  const open = new Map<string, readonly Claim[]>();
  return {
    take: (sale, authorization) => {
      const [first = { id: randomUUID(), authorization }, ...others] = open.get(sale) ?? [];
      open.delete(sale);
      return [first, ...others];
    },
    giveBack: (sale, claims) => {
      if (claims.length === 0) return;
      // A concurrent call whose request to the network failed may have given back another one.
      open.set(sale, [...claims, ...(open.get(sale) ?? [])]);
      const [oldest = sale] = open.keys();
      if (open.size > MOST_SALES) open.delete(oldest);
    },
  };
}
