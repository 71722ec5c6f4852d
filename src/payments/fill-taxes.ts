import type { Database } from '#db/database.ts';
import { type SaleLines, taxTable } from '#prices/sale-lines.ts';

/** Payments per transaction, which takes a few milliseconds and locks only their rows. */
const BATCH = 500;

/**
 * Stores the tax tables of payments that an earlier release booked with their lines alone. They are
 * computed by the code that printed the receipts. Skips rows that a refund has locked; the next run
 * finds them. @returns true if there may be more.
 */
export async function fillTaxes({ db }: { readonly db: Database }): Promise<boolean> {
  return db.transaction(async (tx) => {
    const rows = await tx.query<{ id: string; lines: SaleLines }>(
      `select id, lines from payments where lines is not null and taxes is null
       order by id limit $1 for no key update skip locked`,
      [BATCH],
    );
    if (rows.length === 0) return false;
    await tx.query(
      `update payments p set taxes = t.taxes::jsonb
       from unnest($1::text[], $2::text[]) as t (id, taxes) where p.id = t.id and p.taxes is null`,
      [rows.map(({ id }) => id), rows.map(({ lines }) => JSON.stringify(taxTable(lines)))],
    );
    return rows.length === BATCH;
  });
}
