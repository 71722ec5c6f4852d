export interface PaidBy {
  readonly total_charged: number;
  readonly fees: { readonly cashback: number };
}

/**
 * Returns the amount that every screen shows for a payment: the amount that the wallet paid, minus
 * cashback.
 */
export function leftWallet({ total_charged: total, fees }: PaidBy): bigint {
  return BigInt(total) - BigInt(fees.cashback);
}
