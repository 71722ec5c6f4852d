interface Priced {
  readonly total_charged: number;
  readonly fees: { readonly cashback: number };
}

/** The amount shown for a payment on every screen: what left the wallet, minus cashback. */
export function leftWallet({ total_charged: total, fees }: Priced): bigint {
  return BigInt(total) - BigInt(fees.cashback);
}
