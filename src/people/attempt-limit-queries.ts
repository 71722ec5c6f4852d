import { only } from '#core/assert.ts';
import type { Sql } from '#db/database.ts';
import { deletingExpired } from '#people/expired-queries.ts';

/**
 * Counts one attempt and returns the number of attempts in the window and the window's start. Exact
 * under concurrency. If the clock was set back and the stored start is in the future, the window
 * starts now, so that no wait exceeds one window.
 */
export async function countAttempt(
  sql: Sql,
  input: { readonly bucket: string; readonly windowStart: Date; readonly now: Date },
): Promise<{ attempts: number; since: Date }> {
  const rows = await sql.query<{ attempts: number; since: Date }>(
    `insert into sign_in_attempts as a (bucket, attempts, since) values ($1, 1, $3)
     on conflict (bucket) do update
     set attempts = case when a.since <= $2 then 1 else a.attempts + 1 end,
       since = case when a.since <= $2 then $3 else least(a.since, $3) end
     returning attempts, since`,
    [input.bucket, input.windowStart, input.now],
  );
  return only(rows, 'attempt count');
}

/** Takes back one counted attempt that succeeded, or that was refused unchecked. */
export async function uncountAttempt(sql: Sql, bucket: string): Promise<void> {
  await sql.query(
    'update sign_in_attempts set attempts = attempts - 1 where bucket = $1 and attempts > 0',
    [bucket],
  );
}

export async function deleteAttempts(sql: Sql, bucket: string): Promise<void> {
  await sql.query('delete from sign_in_attempts where bucket = $1', [bucket]);
}

export const deleteOldAttempts = deletingExpired('sign_in_attempts', {
  key: 'bucket',
  expired: 'since <= $1 order by since',
});
