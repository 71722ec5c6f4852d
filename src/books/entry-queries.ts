import { only } from '#core/assert.ts';
import type { Tenant } from '#core/mode.ts';
import type { Sql, Tx } from '#db/database.ts';
import type { Place } from '#db/paging.ts';
import { as, type Row, table } from '#db/table.ts';

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
}

/** Returns the next entries of a range, oldest first. */
export async function selectEntries(
  sql: Sql,
  tenant: Tenant,
  filter: EntryRange & { readonly limit: number },
): Promise<Entry[]> {
  return sql.query<Entry>(
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
           + coalesce((p.presentment ->> 'tipAmount')::bigint, 0) end as minor
     from page g
     left join refunds f on f.id = g.object_id
     left join payments p on p.id = coalesce(f.payment_id, g.object_id)
     left join payment_intents i on i.id = p.payment_intent_id
     order by g.created, g.position`,
    [...valuesOf(tenant, filter), filter.limit],
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
