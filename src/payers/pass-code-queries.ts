import type { Sql, Tx } from '#db/database.ts';
import { type Row, table } from '#db/table.ts';
import { type PassRow, type PayerRow, passes, payers } from '#payers/payer-queries.ts';

export const passCodes = table(
  'pass_codes',
  { hash: 'bytea', expires_at: 'timestamptz', used_at: 'timestamptz?' },
  { pass_id: 'text', created: 'timestamptz' },
);

export type PassCodeRow = PassRow & Row<typeof passCodes>;

/** Returns the payers of these codes, by the code's hash in hex. */
export async function selectPayersOfCodes(
  sql: Sql,
  hashes: readonly Buffer[],
): Promise<(PayerRow & { credential: string })[]> {
  return sql.query(
    `select encode(c.hash, 'hex') as credential, ${payers.of('y')}
     from pass_codes c join passes p on p.id = c.pass_id join payers y on y.id = p.payer_id
     where c.hash = any($1)`,
    [hashes],
  );
}

/** Locks codes, so that concurrent attempts with one single-use code are decided one by one. */
export async function lockPassCodes(tx: Tx, hashes: readonly Buffer[]): Promise<PassCodeRow[]> {
  return tx.query(
    `select ${passCodes.of('c')}, ${passes.of('p')}
     from pass_codes c join passes p on p.id = c.pass_id
     where c.hash = any($1) order by c.hash for update of c`,
    [hashes],
  );
}

/** Deletes up to `limit` codes that expired before `before`; they count as unknown afterwards. */
export async function deleteOldPassCodes(sql: Sql, before: Date, limit: number): Promise<void> {
  await sql.query(
    `delete from pass_codes where hash in (
       select hash from pass_codes where expires_at < $1 limit $2 for update skip locked)`,
    [before, limit],
  );
}

/** Marks codes as used. @returns how many were unused; fewer if a concurrent request was first. */
export async function useUpPassCodes(
  tx: Tx,
  hashes: readonly Buffer[],
  now: Date,
): Promise<number> {
  const rows = await tx.query(
    `update pass_codes set used_at = $2 where hash = any($1::bytea[]) and used_at is null
     returning 1 as used`,
    [hashes, now],
  );
  return rows.length;
}
