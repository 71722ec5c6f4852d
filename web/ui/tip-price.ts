import { toAtoms, toMinorUnits } from '#core/currency-conversion.ts';
import type { Price } from './format-price.ts';
import type { Quoted } from './quoted-price.ts';

/** Returns the price of a tip in atoms, by the rate of the sale; `null` for a sale in USDC. */
export function tipPrice(quoted: Quoted | null, tip: bigint): Price | null {
  if (quoted === null) return null;
  return { currency: quoted.currency, units: BigInt(toMinorUnits(tip, quoted)) };
}

/** Returns the price of a sale with a tip in atoms. */
export function tippedPrice(quoted: Quoted | null, tip: bigint): Price | null {
  const added = tipPrice(quoted, tip);
  if (quoted === null || added === null) return null;
  return { ...added, units: BigInt(quoted.amount) + added.units };
}

/** Returns the atoms of a price, by the rate of the sale. */
export function atomsOfPrice(units: bigint, quoted: Quoted): bigint {
  return toAtoms(units, quoted);
}
