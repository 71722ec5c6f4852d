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

export interface PaidBy {
  readonly total_charged: number;
  readonly fees: { readonly cashback: number };
}

/** Returns the amount that the wallet paid, minus cashback. */
export function leftWallet({ total_charged: total, fees }: PaidBy): bigint {
  return BigInt(total) - BigInt(fees.cashback);
}

/** A sum in atoms, and in the shop's currency; `price` is `null` for a sale in USDC. */
export interface SaleSum {
  readonly atoms: bigint;
  readonly price: Price | null;
}

export interface PaidSale extends PaidBy {
  /** In atoms, including the tip. */
  readonly amount: number;
  readonly presentment:
    | (PaidQuoted & { readonly total: number | null; readonly fees: number | null })
    | null;
}

/**
 * Returns what the customer of a payment paid, as the service computes it (behavior.md 23.2). A
 * process of the release before returns no total.
 */
export function paidSum(payment: PaidSale): SaleSum {
  const [owed, paid] = [BigInt(payment.amount), leftWallet(payment)];
  const quoted = payment.presentment;
  if (quoted === null) return { atoms: paid < owed ? owed : paid, price: null };
  const { currency, rate, amount, tip_amount: tip, total } = quoted;
  return { atoms: paid, price: { currency, rate, units: BigInt(total ?? amount + tip) } };
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
