import type { Tenant } from '#core/mode.ts';
import type { Sql } from '#db/database.ts';

/** The event about this object that was written last, as it is delivered. */
export async function selectNewestBody(
  sql: Sql,
  tenant: Tenant,
  of: { readonly objectId: string; readonly created: Date },
): Promise<string | undefined> {
  const rows = await sql.query<{ body: string }>(
    `select body from events
     where account_id = $1 and livemode = $2 and created = $3 and object_id = $4
     order by position desc limit 1`,
    [tenant.accountId, tenant.livemode, of.created, of.objectId],
  );
  return rows[0]?.body;
}
