import type { AskedPart } from '#prices/refund-lines.ts';

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
  /** The parts of lines that it returns. If absent, it returns a sum. */
  readonly lines?: readonly AskedPart[];
}

/**
 * Returns the refund's amount or lines in the API's format. Without either, the whole rest is
 * refunded.
 */
export function refundFields({ units, currency, isRest, lines }: RefundPart): {
  amount?: number;
  presentment_amount?: number;
  line_items?: AskedPart[];
} {
  if (lines !== undefined) return { line_items: [...lines] };
  if (isRest) return {};
  return currency === null ? { amount: Number(units) } : { presentment_amount: Number(units) };
}
