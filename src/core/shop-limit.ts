import { unitRatio, writeRate } from '#core/currency-conversion.ts';

/** A sum in minor units of a shop's currency. */
export interface ShopSum {
  readonly currency: string;
  readonly amount: number;
}

/** A limit in the shop's currency, as stored. */
export interface StoredShopSum extends ShopSum {
  /** Its worth in atoms when it was set, which the column beside it also holds. */
  readonly worth: number;
}

/** A limit: in atoms, or in the shop's currency with its worth in atoms when it was set. */
export interface Limit {
  readonly atoms: bigint;
  /** `null` for a limit that was set in atoms. */
  readonly inShop: ShopSum | null;
}

/** A sale or a refund that is compared with a limit. */
export interface Compared {
  readonly atoms: bigint;
  /** `null` for one in USDC. */
  readonly inShop: ShopSum | null;
}

/** Reads a limit from its columns. A release that knows only the atoms may have changed those. */
export function limitFrom(atoms: bigint, stored: StoredShopSum | null): Limit {
  if (stored === null || BigInt(stored.worth) !== atoms) return { atoms, inShop: null };
  const { currency, amount } = stored;
  return { atoms, inShop: { currency, amount } };
}

/** Returns the second column of a limit. */
export function storedShopSum({ atoms, inShop }: Limit): StoredShopSum | null {
  return inShop === null ? null : { ...inShop, worth: Number(atoms) };
}

export function isSameLimit(one: Limit, other: Limit): boolean {
  return (
    one.atoms === other.atoms &&
    one.inShop?.currency === other.inShop?.currency &&
    one.inShop?.amount === other.inShop?.amount
  );
}

/** Returns atoms as minor units, rounded up, so that a limit is never exceeded unnoticed. */
export function unitsUp(atoms: bigint, priced: { currency: string; rate: string }): bigint {
  const { scale, one } = unitRatio(priced);
  return (atoms * scale + one - 1n) / one;
}

/** Returns the rate at which a limit was set, computed from its worth; never 0. */
export function rateOf(worth: bigint, { currency, amount }: ShopSum): string {
  const { scale } = unitRatio({ currency, rate: '1' });
  const one = (worth * scale) / BigInt(Math.max(amount, 1));
  return writeRate(one > 0n ? one : 1n);
}

/** A sale that a payer pays. */
interface Sale {
  /** Atoms, without a tip. */
  readonly amount: bigint;
  /** Its price in the shop's currency, at the rate of its quote; `null` for one in USDC. */
  readonly presentment: (ShopSum & { readonly rate: string }) | null;
}

/** Returns the fewest atoms that are worth more than these minor units, rounded up. */
function atomsAbove(units: bigint, priced: { currency: string; rate: string }): bigint {
  const { scale, one } = unitRatio(priced);
  return units < 0n ? 0n : (units * one) / scale + 1n;
}

/** Returns the fewest atoms of a tip that count as these minor units, rounded half up. */
function tipOf(units: bigint, priced: { currency: string; rate: string }): bigint {
  const { scale, one } = unitRatio(priced);
  return ((2n * units - 1n) * one + 2n * scale - 1n) / (2n * scale);
}

/**
 * Returns the amount in atoms, with a tip, from which a sale reaches a limit: all that rules about
 * amounts need. A sale in the limit's currency is compared in it, with its tip as its payment shows
 * it; any other at the current rate, rounded up.
 * @param rate USDC for one unit of the limit's currency; without a usable one, every sale reaches.
 */
export function reachesFrom(limit: Limit, sale: Sale, rate: string | null): bigint {
  const { inShop } = limit;
  if (inShop === null) return limit.atoms;
  const { currency, amount } = inShop;
  const { presentment } = sale;
  if (presentment?.currency !== currency) {
    return rate === null ? 0n : atomsAbove(BigInt(amount) - 1n, { currency, rate });
  }
  const missing = BigInt(amount - presentment.amount);
  return missing <= 0n ? 0n : sale.amount + tipOf(missing, presentment);
}

/**
 * Returns how far a sum is above a limit (0 or less if it is not): in the limit's currency, or in
 * atoms if it was set in those.
 * @param rate USDC for one unit of the limit's currency; `null` if there is no usable one.
 * @returns `null` if they cannot be compared without a rate.
 */
export function excess(limit: Limit, sum: Compared, rate: string | null): bigint | null {
  const { inShop } = limit;
  if (inShop === null) return sum.atoms - limit.atoms;
  const { currency, amount } = inShop;
  if (sum.inShop?.currency === currency) return BigInt(sum.inShop.amount - amount);
  return rate === null ? null : unitsUp(sum.atoms, { currency, rate }) - BigInt(amount);
}
