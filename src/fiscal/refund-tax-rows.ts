import type { Sql } from '#db/database.ts';
import type { PaidQuote } from '#prices/quote-price.ts';
import { type EarlierPart, leftAfter, taxesOfSum } from '#prices/refund-taxes.ts';
import { type RateTax, type SaleLines, taxTable } from '#prices/sale-lines.ts';

/** A refund with its taxes, or with the rows from which they are computed. */
interface RefundedSale {
  readonly id: string;
  /** `null` if an earlier release stored the refund. */
  readonly taxes: readonly RateTax[] | null;
  readonly paid: bigint;
  readonly presentment: PaidQuote | null;
  readonly lines: SaleLines;
  readonly is_last: boolean;
  /** The refunds booked before this one, in order, and then this one. */
  readonly parts: readonly { readonly amount: number; readonly taxes: RateTax[] | null }[];
}

function taxesOf(sale: RefundedSale): readonly RateTax[] {
  if (sale.taxes !== null) return sale.taxes;
  const { paid, presentment, lines } = sale;
  const whole = presentment === null ? paid : BigInt(presentment.amount + presentment.tipAmount);
  const before = sale.parts.map(({ amount, taxes }): EarlierPart => {
    return { amount: BigInt(amount), taxes };
  });
  const part = before.pop()?.amount ?? 0n;
  const left = leftAfter(taxTable(lines), whole, before);
  return taxesOfSum(left, sale.is_last ? left.all : part);
}

/** Omits refunds of sales without lines. */
export async function selectRefundTaxes(
  sql: Sql,
  refundIds: readonly string[],
): Promise<ReadonlyMap<string, readonly RateTax[]>> {
  const rows = await sql.query<RefundedSale>(
    `select r.id, r.taxes, p.amount as paid, p.presentment, p.lines,
       r.refunded_before + r.amount = p.amount as is_last, booked.parts
     from refunds r
     join payments p on p.id = r.payment_id
     cross join lateral (
       select jsonb_agg(jsonb_build_object(
         'amount', coalesce(b.presentment -> 'amount', to_jsonb(b.amount)),
         'taxes', b.taxes
       ) order by b.refunded_before) as parts
       from refunds b
       where b.payment_id = r.payment_id and b.refunded_before <= r.refunded_before
     ) booked
     where r.id = any($1) and r.refunded_before is not null and p.lines is not null`,
    [refundIds],
  );
  return new Map(rows.map((row) => [row.id, taxesOf(row)]));
}
