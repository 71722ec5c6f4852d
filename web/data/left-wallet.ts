interface Priced {
  readonly total_charged: number;
  readonly fees: { readonly cashback: number };
}

/** The one sum of a payment, on every screen: what left the wallet, cashback taken off. */
export function leftWallet({ total_charged: total, fees }: Priced): bigint {
  return BigInt(total) - BigInt(fees.cashback);
}
