import { formatPrice } from './format-price.ts';
import { formatUsdc } from './format-usdc.ts';
import { type PaidSale, paidSum, type SaleSum } from './quoted-price.ts';

/** What a customer pays, and the service fee in it; `null` if unknown or 0. */
export interface SaleTotal {
  readonly total: SaleSum;
  readonly fee: SaleSum | null;
}

/**
 * Returns the fee in a total; `null` if it is 0.
 * @param owed In atoms, what the shop gets.
 * @param fees In minor units; `null` for a sale in USDC.
 */
export function feeIn(total: SaleSum, owed: bigint, fees: number | null): SaleSum | null {
  const atoms = total.atoms > owed ? total.atoms - owed : 0n;
  if (total.price === null) return atoms === 0n ? null : { atoms, price: null };
  return fees ? { atoms, price: { currency: total.price.currency, units: BigInt(fees) } } : null;
}

/** Returns what the customer of a payment paid, and the fee in it. */
export function paidTotal(payment: PaidSale): SaleTotal {
  const total = paidSum(payment);
  const fees = payment.presentment?.fees ?? null;
  return { total, fee: feeIn(total, BigInt(payment.amount), fees) };
}

/** Formats a sum in the currency of its sale, for a button's label. */
export function sumWords({ atoms, price }: SaleSum): string {
  return price === null ? formatUsdc(atoms) : formatPrice(price);
}
