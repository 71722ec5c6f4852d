import type { Hex } from './bytes.ts';
import { call, lensOf } from './contract-calls.ts';

/** Thrown if the address does not respond like the settlement contract. */
export class NoContract extends Error {}

/** Calls a view. @returns the words of the response; none if there is no contract. */
export type View = (to: Hex, data: Hex) => Promise<readonly bigint[]>;

/** Assets that a contract holds and owes, in atoms. */
export interface Holdings {
  readonly held: bigint;
  readonly owed: bigint;
  readonly fees: bigint;
}

/** Limits one call, so that it stays within a node's gas limit for `eth_call`. */
const MERCHANTS_PER_CALL = 500;

/** Returns the merchants of a contract in ranges for one call each. @throws NoContract */
export async function readRanges(view: View, settlement: Hex): Promise<[number, number][]> {
  const [count] = await view(settlement, call('merchantCount()'));
  if (count === undefined) throw new NoContract(settlement);
  // The sums of a contract without merchants are read as well.
  return Array.from(
    { length: Math.max(1, Math.ceil(Number(count) / MERCHANTS_PER_CALL)) },
    (_, i) => [i * MERCHANTS_PER_CALL + 1, Math.min((i + 1) * MERCHANTS_PER_CALL, Number(count))],
  );
}

/** Adds up what the contract owes these merchants. @throws NoContract */
export async function addUpHoldings(
  view: View,
  settlement: Hex,
  ranges: readonly (readonly [number, number])[],
): Promise<Holdings> {
  let sums: Holdings = { held: 0n, owed: 0n, fees: 0n };
  for (const range of ranges) {
    const words = await view(lensOf(settlement), call('holdings(uint32,uint32)', ...range));
    const [held, owed, fees] = words;
    if (held === undefined || owed === undefined || fees === undefined) {
      throw new NoContract(settlement);
    }
    sums = { held, owed: sums.owed + owed, fees };
  }
  return sums;
}
