import type { Sql } from '#db/database.ts';

/**
 * Returns a function that deletes up to `limit` rows of a table that expired before a time, and
 * returns how many it has deleted.
 * @param expired the condition (`$1` is the time), and the order if the oldest rows come first
 */
export function deletingExpired(
  table: string,
  { key, expired }: { readonly key: string; readonly expired: string },
) {
  return async (sql: Sql, before: Date, limit: number): Promise<number> => {
    const rows = await sql.query(
      `delete from ${table} where ${key} in (select ${key} from ${table} where ${expired} limit $2)
       returning ${key}`,
      [before, limit],
    );
    return rows.length;
  };
}
