export interface RefundPart {
  readonly units: bigint;
  /** The currency whose minor units `units` counts; `null` if it counts atoms of USDC. */
  readonly currency: string | null;
  /**
   * True to refund the whole rest of a sale priced in a currency. The request then has no amount,
   * because the service may round the rest differently by a minor unit if earlier refunds were in
   * atoms.
   */
  readonly isRest: boolean;
}

/**
 * Returns the refund's amount in the API's format. Without an amount, the whole rest is refunded.
 */
export function refundFields({ units, currency, isRest }: RefundPart): {
  amount?: number;
  presentment_amount?: number;
} {
  if (isRest) return {};
  return currency === null ? { amount: Number(units) } : { presentment_amount: Number(units) };
}
