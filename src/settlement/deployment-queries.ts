import type { Sql } from '#db/database.ts';

/**
 * Returns the status of a wallet's deployment; `null` if there is none, or only failed ones, so
 * that a request may try again.
 */
export async function selectDeployment(
  sql: Sql,
  subjectId: string,
): Promise<'queued' | 'submitted' | 'succeeded' | null> {
  const [row] = await sql.query<{ status: 'queued' | 'submitted' | 'succeeded' }>(
    `select status from chain_requests where kind = 'wallet_deployment' and subject_id = $1
       and status in ('queued', 'submitted', 'succeeded')`,
    [subjectId],
  );
  return row?.status ?? null;
}
