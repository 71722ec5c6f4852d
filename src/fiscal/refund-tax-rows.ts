import type { Sql } from '#db/database.ts';
import type { PaidQuote } from '#prices/quote-price.ts';
import { refundTaxes } from '#prices/refund-taxes.ts';
import type { RateTax, SaleLines } from '#prices/sale-lines.ts';

interface RefundedSale {
  readonly id: string;
  readonly paid: bigint;
  readonly presentment: PaidQuote | null;
  readonly lines: SaleLines;
  readonly is_last: boolean;
  /**
   * The amounts of the earlier refunds, in order, and then of this one, in minor units or atoms.
   */
  readonly parts: readonly number[];
}

function taxesOf({ paid, presentment, lines, is_last: isLast, parts }: RefundedSale): RateTax[] {
  const whole = presentment === null ? paid : BigInt(presentment.amount + presentment.tipAmount);
  const before = parts.map(BigInt);
  const part = before.pop() ?? 0n;
  return refundTaxes(lines, { whole, before, part, isLast });
}

/** Omits refunds of sales without lines. */
export async function selectRefundTaxes(
  sql: Sql,
  refundIds: readonly string[],
): Promise<ReadonlyMap<string, RateTax[]>> {
  const rows = await sql.query<RefundedSale>(
    `select r.id, p.amount as paid, p.presentment, p.lines,
       r.refunded_before + r.amount = p.amount as is_last, booked.parts
     from refunds r
     join payments p on p.id = r.payment_id
     cross join lateral (
       select jsonb_agg(
         coalesce(b.presentment -> 'amount', to_jsonb(b.amount)) order by b.refunded_before
       ) as parts
       from refunds b
       where b.payment_id = r.payment_id and b.refunded_before <= r.refunded_before
     ) booked
     where r.id = any($1) and r.refunded_before is not null and p.lines is not null`,
    [refundIds],
  );
  return new Map(rows.map((row) => [row.id, taxesOf(row)]));
}
