import type { Tenant } from '#core/mode.ts';
import type { Sql } from '#db/database.ts';
import type { Place } from '#db/paging.ts';

/** Names written in our code, never a client's. */
export type ExportTable = 'payments' | 'payment_intents' | 'refunds' | 'withdrawals';

/** The place of a row in its list; null: the account and mode have no such row. */
export async function selectPlace(
  sql: Sql,
  wanted: { readonly table: ExportTable; readonly tenant: Tenant; readonly id: string },
): Promise<Place | null> {
  const rows = await sql.query<Place>(
    `select created, position from ${wanted.table}
     where id = $3 and account_id = $1 and livemode = $2`,
    [wanted.tenant.accountId, wanted.tenant.livemode, wanted.id],
  );
  return rows[0] ?? null;
}

/** The oldest row of a list between two moments: the other end of its index. */
export async function selectOldest(
  sql: Sql,
  wanted: {
    readonly table: ExportTable;
    readonly tenant: Tenant;
    readonly since: Date | null;
    readonly until: Date | null;
  },
): Promise<{ readonly id: string; readonly created: Date } | null> {
  const rows = await sql.query<{ id: string; created: Date }>(
    `select id, created from ${wanted.table}
     where account_id = $1 and livemode = $2 and created >= $3 and created < $4
     order by created, position limit 1`,
    [
      wanted.tenant.accountId,
      wanted.tenant.livemode,
      wanted.since ?? '-infinity',
      wanted.until ?? 'infinity',
    ],
  );
  return rows[0] ?? null;
}
