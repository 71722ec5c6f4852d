import type { Tenant } from '#core/mode.ts';
import type { Sql } from '#db/database.ts';
import type { Place } from '#db/paging.ts';
import { checked } from '#db/plan-shapes.ts';
import type { Row } from '#db/table.ts';
import { type Payment, payments } from '#payments/payment.ts';
import { refunds } from '#refunds/refund.ts';

/** The rows that a part of a report adds up. */
export interface Reported {
  readonly tenant: Tenant;
  /** Counts this terminal's sales; `null` for all terminals. */
  readonly terminalId: string | null;
  /** Counts sales of these locations; `null` in the list is for sales at none. */
  readonly locations: readonly (string | null)[];
  readonly since: Date;
  /** The first instant after the period. */
  readonly until: Date;
  /** True if the report adds up lines. */
  readonly isByLine: boolean;
}

const SALE = payments.pick(
  [
    ...(['created', 'position', 'amount', 'tip', 'presentment', 'lines'] as const),
    ...(['cashier_id', 'credential_type', 'terminal_id', 'location_id'] as const),
  ],
  'p',
);

/** `taxes` are not read if the report adds up lines, which contain them. */
export type ReportedSale = Row<typeof SALE> & Pick<Payment, 'taxes'>;

const REFUND = refunds.pick(
  [
    ...(['created', 'position', 'amount', 'presentment', 'line_items', 'taxes'] as const),
    'cashier_id',
  ],
  'r',
);

/** A refund, and the facts of its sale. `lines` are the sale's if the refund returns lines. */
export type ReportedRefund = Row<typeof REFUND> &
  Pick<ReportedSale, 'lines' | 'credential_type' | 'terminal_id' | 'location_id'>;

/** SQL: the filters $5 terminal and $6 locations; an empty ID stands for no location. */
const FILTERS = `${checked('$5::text is null or p.terminal_id = $5')}
  and ${checked(`coalesce(p.location_id, '') = any($6)`)}`;

function valuesOf({ tenant, terminalId, locations, since, until }: Reported): unknown[] {
  const ids = locations.map((id) => id ?? '');
  return [tenant.accountId, tenant.livemode, since, until, terminalId, ids];
}

/** Returns the next sales that were booked in the period, oldest first. */
export async function selectReportedSales(
  sql: Sql,
  input: Reported,
  page: { readonly after: Place; readonly limit: number },
): Promise<ReportedSale[]> {
  return sql.query<ReportedSale>(
    `select ${SALE},
       ${input.isByLine ? 'case when p.lines is null then p.taxes end as taxes' : 'p.taxes'}
     from payments p
     where p.account_id = $1 and p.livemode = $2 and p.created >= $3 and p.created < $4
       and (p.created, p.position) > ($7, $8) and ${FILTERS}
     order by p.created, p.position limit $9`,
    [...valuesOf(input), page.after.created, page.after.position, page.limit],
  );
}

/** Returns the next refunds that were booked in the period, oldest first. */
export async function selectReportedRefunds(
  sql: Sql,
  input: Reported,
  page: { readonly after: Place; readonly limit: number },
): Promise<ReportedRefund[]> {
  return sql.query<ReportedRefund>(
    `select ${REFUND}, case when r.line_items is not null then p.lines end as lines,
       p.credential_type, p.terminal_id, p.location_id
     from refunds r join payments p on p.id = r.payment_id
     where r.account_id = $1 and r.livemode = $2 and r.created >= $3 and r.created < $4
       and (r.created, r.position) > ($7, $8) and ${checked("r.status = 'succeeded'")}
       and ${FILTERS}
     order by r.created, r.position limit $9`,
    [...valuesOf(input), page.after.created, page.after.position, page.limit],
  );
}

/**
 * SQL: the number of rows, and their positions and times. After a restore, another row can have the
 * position of one that was lost, but not its time, too.
 */
const MARK = `concat_ws(' ', count(*), sum(position), sum(extract(epoch from created)))`;

/**
 * Returns a text that changes when a sale or refund of the period is booked or removed. Figures of
 * booked rows never change. It reads only indexes, a tenth of the rows' cost.
 */
export async function selectReportMark(
  sql: Sql,
  { tenant, since, until }: Pick<Reported, 'tenant' | 'since' | 'until'>,
): Promise<string> {
  const rows = await sql.query<{ mark: string }>(
    `select concat_ws(' ',
       (select ${MARK} from payments
        where account_id = $1 and livemode = $2 and created >= $3 and created < $4),
       (select ${MARK} from refunds
        where account_id = $1 and livemode = $2 and created >= $3 and created < $4
          and ${checked("status = 'succeeded'")})) as mark`,
    [tenant.accountId, tenant.livemode, since, until],
  );
  return rows[0]?.mark ?? '';
}

/** Returns the names of an account's items, locations and terminals, by ID. */
export async function selectReportNames(sql: Sql, tenant: Tenant): Promise<Map<string, string>> {
  const rows = await sql.query<{ id: string; name: string }>(
    `select id, name from catalogue_items where account_id = $1 and livemode = $2
     union all select id, name from locations where account_id = $1
     union all select id, coalesce(label, id) from terminals
       where account_id = $1 and livemode = $2`,
    [tenant.accountId, tenant.livemode],
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}
