import type { Json } from '#core/canonical-json.ts';
import type { Tenant } from '#core/mode.ts';
import type { Sql } from '#db/database.ts';
import type { EventType } from '#events/event-types.ts';

/** Returns the body of the newest event about this object, as it is delivered. */
export async function selectNewestBody(
  sql: Sql,
  tenant: Tenant,
  filter: { readonly objectId: string; readonly created: Date },
): Promise<string | undefined> {
  const rows = await sql.query<{ body: string }>(
    `select body from events
     where account_id = $1 and livemode = $2 and created = $3 and object_id = $4
     order by position desc limit 1`,
    [tenant.accountId, tenant.livemode, filter.created, filter.objectId],
  );
  return rows[0]?.body;
}

/**
 * Tables of the objects to which events refer. Withdrawals and accounts are missing, because the
 * merchant API does not have them.
 */
const TABLES = [
  'payment_intents',
  'payments',
  'refunds',
  'offline_payments',
  'terminals',
  'webhook_endpoints',
  'withdrawals',
  'shift_reports',
] as const;

/** Returns the object in the newest event of these types. Skips events of made-up objects. */
export async function selectNewestObject(
  sql: Sql,
  tenant: Tenant,
  types: readonly EventType[],
): Promise<{ readonly objectId: string; readonly object: { [key: string]: Json } } | undefined> {
  const exists = TABLES.map((table) => `exists (select from ${table} t where t.id = e.object_id)`);
  const rows = await sql.query<{ object_id: string; body: string }>(
    `select e.object_id, e.body from unnest($3::text[]) as wanted (type)
     cross join lateral (
       select object_id, body, created, position from events e
       where account_id = $1 and livemode = $2 and type = wanted.type
         and (${exists.join(' or ')})
       order by created desc, position desc limit 1
     ) e
     order by e.created desc, e.position desc limit 1`,
    [tenant.accountId, tenant.livemode, types],
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  const { data } = JSON.parse(row.body) as { data: { object: { [key: string]: Json } } };
  return { objectId: row.object_id, object: data.object };
}
