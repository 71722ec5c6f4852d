import { only } from '#core/assert.ts';
import type { Tenant } from '#core/mode.ts';
import type { Sql, Tx } from '#db/database.ts';
import type { Place } from '#db/paging.ts';
import { as, type Row, table } from '#db/table.ts';
import { selectRefundTaxes } from '#fiscal/refund-tax-rows.ts';
import { type RateTax, type SaleLines, taxTable } from '#prices/sale-lines.ts';

/** Changes of a merchant's balance, except sales, which are in `payments`. */
export const balanceEntries = table('balance_entries', {
  account_id: 'text',
  livemode: 'boolean',
  created: 'timestamptz',
  position: 'bigint',
  type: as<'payment' | 'refund' | 'payout' | 'correction'>('text'),
  object_id: 'text',
  amount: 'bigint',
});

/** The entries after one position, up to and including another. */
export interface EntryRange {
  readonly after: Place;
  readonly upTo: Place;
  /** Entries above this position were booked after the statement was started. */
  readonly top: bigint;
}

/** SQL: the entries in a range, for account $1 and mode $2. */
const IN_RANGE = `account_id = $1 and livemode = $2 and (created, position) > ($3, $4)
  and (created, position) <= ($5, $6) and position <= $7`;

function valuesOf({ accountId, livemode }: Tenant, { after, upTo, top }: EntryRange) {
  return [accountId, livemode, after.created, after.position, upTo.created, upTo.position, top];
}

export async function sumEntries(
  sql: Sql,
  tenant: Tenant,
  range: EntryRange,
): Promise<{ readonly sum: bigint; readonly count: number }> {
  const rows = await sql.query<{ sum: bigint; count: number }>(
    `select coalesce(sum(amount), 0)::bigint as sum, count(*)::int as count from (
       select amount from payments where ${IN_RANGE} and not recovered
       union all
       select amount from balance_entries where ${IN_RANGE}
     ) entries`,
    valuesOf(tenant, range),
  );
  return only(rows, 'sum of entries');
}

/** An entry with the facts that identify its object. These facts never change. */
export interface Entry extends Place {
  readonly type: Row<typeof balanceEntries>['type'];
  /** The ID of the payment, refund or payout. For a correction, the object that it corrects. */
  readonly object_id: string;
  readonly amount: bigint;
  readonly order_id: string | null;
  readonly description: string | null;
  readonly receipt_number: string | null;
  readonly terminal: string | null;
  /** The currency in which the sale was priced; `null` for USDC. */
  readonly currency: string | null;
  /** The sum of the sale in minor units of that currency, including the tip; never negative. */
  readonly minor: bigint | null;
  /** The taxes of the sale or refund, in the unit of the sale; `null` if it has no lines. */
  readonly taxes: readonly RateTax[] | null;
  /** The tip of a sale without lines, in the unit of the sale. */
  readonly tip: bigint;
  /** The rate of the sale's quote: USDC for one unit of its currency. */
  readonly quote_rate: string | null;
  /** The currency of the shop that booked it, in lowercase; `null` for USDC. */
  readonly shop_currency: string | null;
  /** USDC for one unit of that currency when it was booked; `null` if unknown. */
  readonly shop_rate: string | null;
}

/** An entry with the rows from which an earlier release left its taxes to be computed. */
interface EntryRow extends Entry {
  readonly lines: SaleLines | null;
  readonly is_untaxed_refund: boolean;
}

async function withTaxes(sql: Sql, rows: readonly EntryRow[]): Promise<Entry[]> {
  const untaxed = rows.filter((row) => row.is_untaxed_refund).map((row) => row.object_id);
  const known = untaxed.length === 0 ? null : await selectRefundTaxes(sql, untaxed);
  return rows.map(({ lines, is_untaxed_refund: isUntaxed, ...entry }) => {
    if (isUntaxed) return { ...entry, taxes: known?.get(entry.object_id) ?? null };
    return lines === null ? entry : { ...entry, taxes: taxTable(lines) };
  });
}

/** Returns the next entries of a range, oldest first. */
export async function selectEntries(
  sql: Sql,
  tenant: Tenant,
  filter: EntryRange & { readonly limit: number },
): Promise<Entry[]> {
  const rows = await sql.query<EntryRow>(
    `with sales as (
       select created, position, 'payment' as type, id as object_id, amount from payments
       where ${IN_RANGE} and not recovered order by created, position limit $8
     ), others as (
       select created, position, type, object_id, amount from balance_entries
       where ${IN_RANGE} order by created, position limit $8
     ), page as materialized (
       select * from sales union all select * from others order by created, position limit $8
     )
     select g.*, i.order_id, i.description, p.terminal_id as terminal,
       coalesce(f.receipt_number, p.receipt_number) as receipt_number,
       coalesce(f.presentment, p.presentment) ->> 'currency' as currency,
       case when f.id is not null then (f.presentment ->> 'amount')::bigint
         else (p.presentment ->> 'amount')::bigint
           + coalesce((p.presentment ->> 'tipAmount')::bigint, 0) end as minor,
       case when f.id is null then p.taxes else f.taxes end as taxes,
       case when f.id is null and p.taxes is null then p.lines end as lines,
       coalesce(f.taxes is null and f.id is not null and p.lines is not null, false)
         as is_untaxed_refund,
       case when f.id is not null or p.id is null then 0 when p.presentment is null then p.tip
         else coalesce((p.presentment ->> 'tipAmount')::bigint, 0) end as tip,
       coalesce(f.presentment, p.presentment) ->> 'rate' as quote_rate,
       coalesce(l.currency, a.currency) as shop_currency,
       case when f.id is not null then f.shop_rate else coalesce(p.shop_rate, w.shop_rate) end
         as shop_rate
     from page g
     join accounts a on a.id = $1
     left join refunds f on f.id = g.object_id
     left join payments p on p.id = coalesce(f.payment_id, g.object_id)
     left join withdrawals w on w.id = g.object_id
     left join locations l on l.id = p.location_id and l.account_id = a.id
     left join payment_intents i on i.id = p.payment_intent_id
     order by g.created, g.position`,
    [...valuesOf(tenant, filter), filter.limit],
  );
  return withTaxes(sql, rows);
}

export interface KnownRate {
  readonly shop_currency: string;
  readonly shop_rate: string;
}

/** Returns the last known rate of each currency of the account's shops, up to this position. */
export async function selectRatesBefore(
  sql: Sql,
  { accountId, livemode }: Tenant,
  { created, position }: Place,
): Promise<KnownRate[]> {
  const before = `e.account_id = $1 and e.livemode = $2 and (e.created, e.position) <= ($3, $4)`;
  const ofShop = 'coalesce(l.currency, a.currency) = c.shop_currency';
  const newest = 'order by e.created desc, e.position desc limit 1';
  return sql.query<KnownRate>(
    `with shops as (
       select a.currency as shop_currency from accounts a where a.id = $1
       union
       select l.currency from locations l where l.account_id = $1
     )
     select c.shop_currency, r.shop_rate
     from shops c join accounts a on a.id = $1 cross join lateral (
       select shop_rate from (
         (select e.created, e.position, e.shop_rate from payments e
          left join locations l on l.id = e.location_id and l.account_id = e.account_id
          where ${before} and not e.recovered and e.shop_rate is not null and ${ofShop} ${newest})
         union all
         (select e.created, e.position, coalesce(f.shop_rate, w.shop_rate) from balance_entries e
          left join refunds f on f.id = e.object_id
          left join withdrawals w on w.id = e.object_id
          left join locations l on l.id = f.location_id and l.account_id = e.account_id
          where ${before} and coalesce(f.shop_rate, w.shop_rate) is not null and ${ofShop}
          ${newest})
       ) known order by created desc, position desc limit 1
     ) r`,
    [accountId, livemode, created, position],
  );
}

/** Returns the entry of a payout; undefined if the chain has not paid it. */
export async function selectPayoutEntry(
  sql: Sql,
  { accountId, livemode }: Tenant,
  id: string,
): Promise<Place | undefined> {
  return balanceEntries.find(
    sql,
    `where account_id = $1 and livemode = $2 and object_id = $3 and amount < 0
     order by created, position limit 1`,
    [accountId, livemode, id],
  );
}

/** Returns the last payout before this position. */
export async function selectPayoutBefore(
  sql: Sql,
  { accountId, livemode }: Tenant,
  position: Place,
): Promise<Place | undefined> {
  return balanceEntries.find(
    sql,
    `where account_id = $1 and livemode = $2 and (created, position) < ($3, $4)
       and type = 'payout'
     order by created desc, position desc limit 1`,
    [accountId, livemode, position.created, position.position],
  );
}

export const statementClosings = table(
  'statement_closings',
  { at: 'timestamptz', balance: 'bigint' },
  { account_id: 'text', livemode: 'boolean' },
);

type Closing = Row<typeof statementClosings>;

/** Returns the newest closing balance at or before `until`. */
export async function selectClosing(
  sql: Sql,
  { accountId, livemode }: Tenant,
  until: Date,
): Promise<Closing | undefined> {
  const rest = 'where account_id = $1 and livemode = $2 and at <= $3 order by at desc limit 1';
  return statementClosings.find(sql, rest, [accountId, livemode, until]);
}

/** Stores a balance that a statement shows. The order of the account and mode must be locked. */
export async function insertClosing(
  tx: Tx,
  { accountId, livemode }: Tenant,
  { at, balance }: Closing,
): Promise<void> {
  const row = { account_id: accountId, livemode, at, balance };
  await statementClosings.upsert(tx, row, 'on conflict do nothing');
}

/** Returns the time up to which the books are closed; null if no period is closed. */
export async function selectClosedUntil(
  sql: Sql,
  { accountId, livemode }: Tenant,
): Promise<Date | null> {
  const rows = await sql.query<{ at: Date | null }>(
    'select max(at) as at from statement_closings where account_id = $1 and livemode = $2',
    [accountId, livemode],
  );
  return rows[0]?.at ?? null;
}
