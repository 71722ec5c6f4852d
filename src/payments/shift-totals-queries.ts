import type { Tenant } from '#core/mode.ts';
import type { Sql } from '#db/database.ts';
import { checked } from '#db/plan-shapes.ts';
import type { Payment } from '#payments/payment.ts';
import type { SaleLines } from '#prices/sale-lines.ts';

export interface TotalsRow {
  /** The terminal; `null` for payments without one. */
  readonly terminal_id: string | null;
  readonly label: string | null;
  /** The location of the sales; `null` for sales without a location. */
  readonly location_id: string | null;
  /** The name of the signed-in cashier, or else `metadata.cashier`; `null` without either. */
  readonly cashier: string | null;
  /** The user who was signed in at the till. */
  readonly cashier_id: string | null;
  readonly payments: number;
  /** Sales without tips. */
  readonly sales: bigint;
  readonly tips: bigint;
  readonly refunds: number;
  readonly refunded: bigint;
  readonly declines: number;
  /** The currency of sales priced in the shop's currency; `null` in the row of all other sales. */
  readonly currency: string | null;
  /** The sum of the sales in `currency`, in its minor units. */
  readonly priced_sales: bigint;
  readonly priced_tips: bigint;
  readonly priced_refunded: bigint;
}

export interface TotalsOf {
  readonly tenant: Tenant;
  /** Counts this terminal's payments; `null` for all terminals. */
  readonly terminalId: string | null;
  readonly since: Date;
  /** The first instant after the period. */
  readonly until: Date;
}

/** Returns parameters 1 to 4 or, with a terminal, 1 to 5. */
export function valuesOf({ tenant, terminalId, since, until }: TotalsOf): unknown[] {
  const values = [tenant.accountId, tenant.livemode, since, until];
  return terminalId === null ? values : [...values, terminalId];
}

/** Sums payments per terminal, cashier and currency, by range scans of the list indexes. */
export async function selectTotals(sql: Sql, filter: TotalsOf): Promise<TotalsRow[]> {
  return sql.query<TotalsRow>(
    `with rows as materialized (
       select p.terminal_id, p.location_id, i.metadata->>'cashier' as cashier, p.cashier_id,
         1 as payments,
         p.amount - p.tip as sales, p.tip, 0 as refunds, 0::bigint as refunded, 0 as declines,
         p.presentment->>'currency' as currency, (p.presentment->>'amount')::bigint as priced,
         (p.presentment->>'tipAmount')::bigint as priced_tip, 0::bigint as priced_back
       from payments p join payment_intents i on i.id = p.payment_intent_id
       where p.account_id = $1 and p.livemode = $2 and p.created >= $3 and p.created < $4
       union all
       select p.terminal_id, p.location_id, r.metadata->>'cashier', r.cashier_id,
         0, 0, 0, 1, r.amount, 0,
         r.presentment->>'currency', 0, 0, (r.presentment->>'amount')::bigint
       from refunds r join payments p on p.id = r.payment_id
       where r.account_id = $1 and r.livemode = $2 and r.created >= $3 and r.created < $4
         and ${checked("r.status = 'succeeded'")}
       union all
       select i.terminal_id, i.location_id, i.metadata->>'cashier', i.cashier_id,
         0, 0, 0, 0, 0, 1, null, 0, 0, 0
       from payment_intents i
       where i.account_id = $1 and i.livemode = $2 and i.created >= $3 and i.created < $4
         and i.last_payment_error is not null
     )
     select r.terminal_id, t.label, r.location_id, coalesce(u.name, f.name, r.cashier) as cashier,
       r.cashier_id, sum(payments)::int as payments,
       sum(sales)::bigint as sales, sum(tip)::bigint as tips, sum(refunds)::int as refunds,
       sum(refunded)::bigint as refunded, sum(declines)::int as declines, r.currency,
       coalesce(sum(priced), 0)::bigint as priced_sales,
       coalesce(sum(priced_tip), 0)::bigint as priced_tips,
       coalesce(sum(priced_back), 0)::bigint as priced_refunded
     from rows r left join terminals t on t.id = r.terminal_id
       left join users u on u.id = r.cashier_id
       left join staff f on f.id = r.cashier_id
     ${filter.terminalId === null ? '' : 'where r.terminal_id = $5'}
     group by r.terminal_id, t.label, r.location_id, u.name, f.name, r.cashier, r.cashier_id,
       r.currency
     order by t.label, r.terminal_id, cashier, r.cashier_id, r.location_id, r.currency`,
    valuesOf(filter),
  );
}

/** The lines and taxes of a sale, and the number of sales that have exactly these. */
export interface SoldLines extends Pick<Payment, 'taxes'> {
  /** `null` for sales in USDC. */
  readonly currency: string | null;
  readonly lines: SaleLines;
  readonly count: number;
}

/** Returns the lines of the payments that {@link selectTotals} counts. */
export async function selectSoldLines(sql: Sql, filter: TotalsOf): Promise<SoldLines[]> {
  return sql.query<SoldLines>(
    `select presentment->>'currency' as currency, lines, taxes, count(*)::int as count
     from payments
     where account_id = $1 and livemode = $2 and created >= $3 and created < $4
       and lines is not null
       ${filter.terminalId === null ? '' : `and ${checked('terminal_id = $5')}`}
     group by presentment->>'currency', lines, taxes`,
    valuesOf(filter),
  );
}

/** The taxes of refunds, by currency and rate. */
export interface TaxSum {
  /** `null` for sales in USDC. */
  readonly currency: string | null;
  /** Basis points. */
  readonly rate: number;
  readonly net: number;
  readonly tax: number;
  readonly gross: number;
}

type SummedTaxes = Pick<TaxSum, 'currency' | 'rate'> & {
  readonly [Sum in 'net' | 'tax' | 'gross']: bigint;
};

/** Returns the taxes of the refunds that {@link selectTotals} counts, of sales with lines. */
export async function selectRefundedTaxes(sql: Sql, filter: TotalsOf): Promise<TaxSum[]> {
  const rows = await sql.query<SummedTaxes>(
    `select r.presentment->>'currency' as currency, (t->>'rate')::int as rate,
       sum((t->>'net')::bigint)::bigint as net, sum((t->>'tax')::bigint)::bigint as tax,
       sum((t->>'gross')::bigint)::bigint as gross
     from refunds r
     join payments p on p.id = r.payment_id
     cross join lateral jsonb_array_elements(r.taxes) t
     where r.account_id = $1 and r.livemode = $2 and r.created >= $3 and r.created < $4
       and ${checked("r.status = 'succeeded'")} and r.taxes is not null
       ${filter.terminalId === null ? '' : `and ${checked('p.terminal_id = $5')}`}
     group by 1, 2
     having sum((t->>'gross')::bigint) <> 0
     order by 1 nulls first, 2`,
    valuesOf(filter),
  );
  return rows.map(({ currency, rate, net, tax, gross }) => {
    return { currency, rate, net: Number(net), tax: Number(tax), gross: Number(gross) };
  });
}

/** Returns the sum of an account's payouts that the chain executed in this period. */
export async function selectPaidOut(
  sql: Sql,
  { tenant, since, until }: TotalsOf,
): Promise<{ readonly count: number; readonly amount: bigint }> {
  const rows = await sql.query<{ count: number; amount: bigint }>(
    `select count(*)::int as count, coalesce(-sum(amount), 0)::bigint as amount
     from balance_entries
     where account_id = $1 and livemode = $2 and created >= $3 and created < $4
       and type = 'payout'`,
    [tenant.accountId, tenant.livemode, since, until],
  );
  return rows[0] ?? { count: 0, amount: 0n };
}
