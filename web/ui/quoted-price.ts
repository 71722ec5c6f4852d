import type { Price } from './format-price.ts';

/** The price part of a sale or a refund in the API. */
export interface Quoted {
  readonly currency: string;
  readonly amount: number;
  readonly rate: string;
}

export interface PaidQuoted extends Quoted {
  readonly tip_amount: number;
}

function price(quoted: Quoted | null, units: number): Price | null {
  return quoted === null ? null : { currency: quoted.currency, units: BigInt(units) };
}

/** Returns the price of a sale without its tip; `null` for a sale in USDC. */
export function priceOf(quoted: Quoted | null): Price | null {
  return price(quoted, quoted?.amount ?? 0);
}

export function paidPrice(paid: PaidQuoted | null): Price | null {
  return price(paid, (paid?.amount ?? 0) + (paid?.tip_amount ?? 0));
}

export function paidTip(paid: PaidQuoted | null): Price | null {
  return price(paid, paid?.tip_amount ?? 0);
}

interface Paid {
  readonly amount: number;
  readonly presentment: PaidQuoted | null;
}

/** Returns the price of a part of the payment's atoms, rounded as the service does for a refund. */
export function sharePrice({ amount, presentment }: Paid, part: bigint): Price | null {
  const paid = paidPrice(presentment);
  if (paid === null) return null;
  const whole = BigInt(amount);
  return { ...paid, units: (2n * part * paid.units + whole) / (2n * whole) };
}
