import { present } from '#core/assert.ts';
import { StartError } from '#core/start-error.ts';
import type { Database } from '#db/database.ts';
import { beginRange } from '#settlement/settlement-numbers.ts';

/**
 * Records the cell of a database at its first start, and begins the cell's range of settlement
 * numbers. A database belongs to one cell forever, because ids, links and receipts contain the
 * cell's digit.
 * @throws StartError if the database belongs to another cell.
 */
export async function keepCell(db: Database): Promise<void> {
  const kept = await db.transaction(async (tx) => {
    const made = await tx.query(
      `insert into own_cell (cell) values ($1) on conflict (is_one) do nothing returning cell`,
      [tx.cell],
    );
    if (made.length > 0) await beginRange(tx, tx.cell);
    return tx.query<{ cell: number }>('select cell from own_cell');
  });
  requireSame(db.cell, present(kept[0], 'own cell').cell);
}

/**
 * Checks, without writing, that the database belongs to this cell. A database without our tables
 * belongs to no cell yet.
 */
export async function requireCell(db: Database): Promise<void> {
  const rows = await db.query<{ made: boolean }>(
    `select to_regclass('own_cell') is not null as made`,
  );
  if (rows[0]?.made !== true) return;
  const kept = await db.query<{ cell: number }>('select cell from own_cell');
  if (kept[0] !== undefined) requireSame(db.cell, kept[0].cell);
}

function requireSame(set: number, kept: number): void {
  if (set === kept) return;
  throw new StartError(
    `CELL=${set}, but this database belongs to cell ${kept} and cannot change its cell`,
  );
}
