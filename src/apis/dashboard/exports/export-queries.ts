import type { Tenant } from '#core/mode.ts';
import type { Sql } from '#db/database.ts';
import type { Place } from '#db/paging.ts';
import { checked, ofTenant } from '#db/plan-shapes.ts';

/** SQL table names. They must come from our code, never from a client. */
export type ExportTable =
  | 'payments'
  | 'payment_intents'
  | 'refunds'
  | 'offline_payments'
  | 'withdrawals';

/** Returns a row's position in its list; `null` if this account and mode have no such row. */
export async function selectPlace(
  sql: Sql,
  filter: { readonly table: ExportTable; readonly tenant: Tenant; readonly id: string },
): Promise<Place | null> {
  const rows = await sql.query<Place>(
    `select created, position from ${filter.table}
     where id = $3 and ${ofTenant('$1', '$2')}`,
    [filter.tenant.accountId, filter.tenant.livemode, filter.id],
  );
  return rows[0] ?? null;
}

/** Returns the oldest row of a list in a period, by scanning the list's index backward. */
export async function selectOldest(
  sql: Sql,
  filter: {
    readonly table: ExportTable;
    readonly tenant: Tenant;
    readonly since: Date | null;
    readonly until: Date | null;
    /** Only rows of this location; `null` for rows without a location; undefined for all rows. */
    readonly location?: string | null | undefined;
  },
): Promise<{ readonly id: string; readonly created: Date } | null> {
  const at =
    filter.location === undefined ? '' : `and ${checked('location_id is not distinct from $5')}`;
  const rows = await sql.query<{ id: string; created: Date }>(
    `select id, created from ${filter.table}
     where account_id = $1 and livemode = $2 and created >= $3 and created < $4 ${at}
     order by created, position limit 1`,
    [
      filter.tenant.accountId,
      filter.tenant.livemode,
      filter.since ?? '-infinity',
      filter.until ?? 'infinity',
      ...(filter.location === undefined ? [] : [filter.location]),
    ],
  );
  return rows[0] ?? null;
}

interface Sold {
  readonly description: string | null;
  readonly terminal_label: string | null;
}

export async function selectSold(
  sql: Sql,
  tenant: Tenant,
  intentIds: readonly string[],
): Promise<ReadonlyMap<string, Sold>> {
  const rows = await sql.query<Sold & { id: string }>(
    `select i.id, i.description, t.label as terminal_label
     from payment_intents i left join terminals t on t.id = i.terminal_id
     where i.id = any($3) and i.account_id = $1 and i.livemode = $2`,
    [tenant.accountId, tenant.livemode, intentIds],
  );
  return new Map(rows.map(({ id, ...sold }) => [id, sold]));
}

export async function selectLabels(
  sql: Sql,
  tenant: Tenant,
  terminalIds: readonly string[],
): Promise<ReadonlyMap<string, Pick<Sold, 'terminal_label'>>> {
  const rows = await sql.query<{ id: string; terminal_label: string }>(
    `select id, label as terminal_label from terminals
     where id = any($3) and ${ofTenant('$1', '$2')}`,
    [tenant.accountId, tenant.livemode, terminalIds],
  );
  return new Map(rows.map(({ id, ...label }) => [id, label]));
}

/** The fields of a refunded payment that the refund's line shows. */
interface Refunded extends Sold {
  readonly order_id: string;
  readonly payment_receipt_number: string | null;
  readonly terminal: string;
  readonly location: string | null;
}

export async function selectOfPayments(
  sql: Sql,
  tenant: Tenant,
  paymentIds: readonly string[],
): Promise<ReadonlyMap<string, Refunded>> {
  const rows = await sql.query<Refunded & { id: string }>(
    `select p.id, p.order_id, p.receipt_number as payment_receipt_number, i.description,
       p.terminal_id as terminal, p.location_id as location, t.label as terminal_label
     from payments p
     join payment_intents i on i.id = p.payment_intent_id
     left join terminals t on t.id = p.terminal_id
     where p.id = any($3) and p.account_id = $1 and p.livemode = $2`,
    [tenant.accountId, tenant.livemode, paymentIds],
  );
  return new Map(rows.map(({ id, ...refunded }) => [id, refunded]));
}
