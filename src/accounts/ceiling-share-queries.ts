import type { Sql, Tx } from '#db/database.ts';

/** Returns the account's percentage of the hourly ceiling; `null` if the operator has set none. */
export async function selectCeilingShare(sql: Sql, accountId: string): Promise<number | null> {
  const rows = await sql.query<{ ceiling_share: number | null }>(
    'select ceiling_share from accounts where id = $1',
    [accountId],
  );
  return rows[0]?.ceiling_share ?? null;
}

export async function updateCeilingShare(
  tx: Tx,
  accountId: string,
  share: number | null,
): Promise<void> {
  await tx.query('update accounts set ceiling_share = $2 where id = $1', [accountId, share]);
}
