import type { Tenant } from '#core/mode.ts';
import type { Sql } from '#db/database.ts';
import type { Place } from '#db/paging.ts';

export interface FeedRow extends Place {
  readonly id: string;
  readonly type: string;
  readonly body: string;
}

/** Events after a place, oldest first: commit order, so that none can appear behind it later. */
export async function selectEventsAfter(
  sql: Sql,
  tenant: Tenant,
  of: { readonly after: Place; readonly limit: number },
): Promise<FeedRow[]> {
  return sql.query<FeedRow>(
    `select id, type, created, position, body from events
     where account_id = $1 and livemode = $2 and created >= $3
       and (created, position) > ($3, $4::bigint)
     order by created, position limit $5`,
    [tenant.accountId, tenant.livemode, of.after.created, of.after.position, of.limit],
  );
}

/** Where the account and mode's order stands now. */
export async function selectNewestPlace(sql: Sql, tenant: Tenant): Promise<Place> {
  const rows = await sql.query<{ created: Date; position: bigint }>(
    `select created, position from events
     where account_id = $1 and livemode = $2 order by created desc, position desc limit 1`,
    [tenant.accountId, tenant.livemode],
  );
  return rows[0] ?? { created: new Date(0), position: 0n };
}
