import type { Tenant } from '#core/mode.ts';
import { atoms } from '#core/money.ts';
import type { Sql } from '#db/database.ts';
import type { PastPayment } from '#risk/preview-risk-rules.ts';

/** Returns the newest payments since a time, in ascending order, from the list's index. */
export async function selectPastPayments(
  sql: Sql,
  filter: { readonly tenant: Tenant; readonly since: Date; readonly limit: number },
): Promise<PastPayment[]> {
  const rows = await sql.query<Omit<PastPayment, 'amount'> & { readonly amount: bigint }>(
    `with recent as materialized (
       select payer_id, amount, settled_at, method_type, created, position from payments
       where account_id = $1 and livemode = $2 and created >= $3
       order by created desc, position desc limit $4
     ), payers as materialized (
       select payer_id, min(settled_at) as first from recent group by payer_id
     ), known as materialized (
       select y.payer_id, (
         select true from payments p
         where p.payer_id || p.account_id = y.payer_id || $1 and p.settled_at < y.first
         order by p.payer_id || p.account_id, p.settled_at limit 1) is not null as "paidHereBefore"
       from payers y
     )
     select r.payer_id as "payerId", r.amount, r.settled_at as "settledAt",
       r.method_type = 'wallet' as "isSigned", k."paidHereBefore"
     from recent r join known k using (payer_id) order by r.created, r.position`,
    [filter.tenant.accountId, filter.tenant.livemode, filter.since, filter.limit],
  );
  return rows.map((row) => ({ ...row, amount: atoms(row.amount) }));
}
