/** The network's fees in basis points of the sale, each rounded down. */
export interface FeeRates {
  readonly acquirer: number;
  readonly protocol: number;
  readonly cashback: number;
}

const BASIS_POINTS = 10_000;

function feeOf(price: number, rate: number): number {
  return Number((BigInt(price) * BigInt(rate)) / BigInt(BASIS_POINTS));
}

/**
 * Returns the atoms that a sale of `price` costs the bridge wallet. The client pays exactly that,
 * so the bridge makes neither profit nor loss.
 */
export function totalOf(price: number, { acquirer, protocol, cashback }: FeeRates): number {
  return price + feeOf(price, acquirer) + feeOf(price, protocol) - feeOf(price, cashback);
}

/**
 * Returns the largest sale that `total` covers (the inverse of {@link totalOf}). Fees are rounded
 * down, so one or two atoms may remain, which the bridge keeps.
 */
export function priceOf(total: number, rates: FeeRates): number {
  let low = 0;
  let high = total;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (totalOf(middle, rates) <= total) low = middle;
    else high = middle - 1;
  }
  return low;
}
