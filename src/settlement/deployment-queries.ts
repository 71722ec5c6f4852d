import { addMs } from '#core/clock.ts';
import type { Sql } from '#db/database.ts';

/** A deployment is not sent later than this: the payer has left, or requests it again. */
export const DEPLOY_WITHIN_MS = 60_000;

type DeploymentStatus = 'queued' | 'submitted' | 'succeeded' | 'late';

/**
 * Returns the status of a wallet's deployment; `late` if no worker could send it in time. `null` if
 * there is no deployment, or if all of them failed, so that a request may try again.
 */
export async function selectDeployment(
  sql: Sql,
  subjectId: string,
  now: Date,
): Promise<DeploymentStatus | null> {
  const [row] = await sql.query<{ status: DeploymentStatus }>(
    `select case when status = 'queued' and owed_since is null and created < $2 then 'late'
       else status end as status
     from chain_requests where kind = 'wallet_deployment' and subject_id = $1
       and status in ('queued', 'submitted', 'succeeded')`,
    [subjectId, addMs(now, -DEPLOY_WITHIN_MS)],
  );
  return row?.status ?? null;
}
