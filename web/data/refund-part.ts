/** What of a payment is refunded. */
export interface RefundPart {
  readonly units: bigint;
  /** What the units are minor units of; `null`: atoms of USDC. */
  readonly currency: string | null;
  /**
   * Everything that is left of a sale that was priced in a currency. Earlier refunds in atoms are
   * counted by the service, which may round the rest differently by a minor unit.
   */
  readonly isRest: boolean;
}

/** The sum of a refund as the APIs take it; without one they refund everything that is left. */
export function refundFields({ units, currency, isRest }: RefundPart): {
  amount?: number;
  presentment_amount?: number;
} {
  if (isRest) return {};
  return currency === null ? { amount: Number(units) } : { presentment_amount: Number(units) };
}
