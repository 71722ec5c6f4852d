import type { Json } from '#core/canonical-json.ts';
import type { Tenant } from '#core/mode.ts';
import type { Sql } from '#db/database.ts';
import type { EventType } from '#events/types.ts';

/** Returns the newest event about this object, as it is delivered. */
export async function selectNewestBody(
  sql: Sql,
  tenant: Tenant,
  wanted: { readonly objectId: string; readonly created: Date },
): Promise<string | undefined> {
  const rows = await sql.query<{ body: string }>(
    `select body from events
     where account_id = $1 and livemode = $2 and created = $3 and object_id = $4
     order by position desc limit 1`,
    [tenant.accountId, tenant.livemode, wanted.created, wanted.objectId],
  );
  return rows[0]?.body;
}

/**
 * The tables of the objects that events name. Withdrawals and accounts are not in the merchant API.
 */
const TABLES = [
  'payment_intents',
  'payments',
  'refunds',
  'offline_payments',
  'terminals',
  'webhook_endpoints',
  'withdrawals',
] as const;

/**
 * Returns the object of the newest event of these types, skipping events whose object does not
 * exist (made-up ones).
 */
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
