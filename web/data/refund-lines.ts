import { isRefusal } from '#core/answer.ts';
import { type AskedPart, type EarlierRefund, returnLines } from '#prices/refund-lines.ts';
import { leftAfter } from '#prices/refund-taxes.ts';
import { type LineItem, type RateTax, thousandths } from '#prices/sale-lines.ts';
import { quantityOf } from '../ui/quantity-text.ts';
import { type PaidQuoted, paidPrice } from '../ui/quoted-price.ts';
import type { RefundPart } from './refund-request-fields.ts';

interface Sold {
  readonly amount: number;
  readonly presentment: PaidQuoted | null;
  readonly line_items: readonly LineItem[] | null;
  readonly discount: number;
  readonly taxes: readonly RateTax[] | null;
}

interface MadeRefund {
  readonly status: string;
  readonly amount: number;
  readonly presentment: { readonly amount: number } | null;
  readonly line_items: readonly AskedPart[] | null;
  readonly taxes: readonly RateTax[] | null;
}

/** Quantities of a sale's lines, in thousandths, in the order of the lines. */
export type LineQuantities = readonly bigint[];

/** The lines of a sale that can be refunded. */
export interface RefundableLines {
  readonly names: readonly string[];
  readonly left: LineQuantities;
  /** Returns the refund of these quantities, or `null` if they are worth nothing. */
  partOf(chosen: LineQuantities): RefundPart | null;
}

/**
 * Returns the lines of a sale, with the values that the service computes by the same code.
 * @param refunds The refunds of the payment, newest first; `undefined` while they load.
 * @returns `null` for a sale without lines, and if the values cannot be derived from the refunds.
 */
export function refundableLines(
  payment: Sold,
  refunds: { readonly data: readonly MadeRefund[]; readonly has_more: boolean } | undefined,
): RefundableLines | null {
  const { line_items: lineItems, discount, taxes, presentment, amount } = payment;
  if (lineItems === null || taxes === null || refunds?.has_more !== false) return null;
  const whole = paidPrice(presentment)?.units ?? BigInt(amount);
  const earlier: EarlierRefund[] = [];
  const decide = (asked: readonly AskedPart[]) => {
    const left = leftAfter(taxes, whole, earlier);
    return returnLines({ lineItems, discount }, asked, { earlier, left });
  };
  const made = refunds.data.filter(({ status }) => status !== 'failed').toReversed();
  for (const { line_items: parts, ...refund } of made) {
    const sum = BigInt(refund.presentment?.amount ?? refund.amount);
    // The API has only the sum of a refund. The sums of its lines are computed again.
    const again = parts === null ? null : decide(parts);
    if (isRefusal(again) || (again !== null && again.amount !== sum)) return null;
    earlier.push({ amount: sum, taxes: refund.taxes, lineItems: again?.lineItems ?? null });
  }
  const left = lineItems.map(({ quantity }) => thousandths(quantity));
  for (const part of earlier.flatMap((refund) => refund.lineItems ?? [])) {
    left[part.line] = (left[part.line] ?? 0n) - thousandths(part.quantity);
  }
  return {
    names: lineItems.map(({ name }) => name),
    left,
    partOf: (chosen) => {
      const lines = chosen.flatMap((quantity, line) => {
        return quantity > 0n ? [{ line, quantity: quantityOf(quantity) }] : [];
      });
      const returned = decide(lines);
      if (isRefusal(returned)) return null;
      const currency = presentment?.currency ?? null;
      return { units: returned.amount, currency, isRest: false, lines };
    },
  };
}
