import { only } from '#core/assert.ts';
import type { Tenant } from '#core/mode.ts';
import type { Sql, Tx } from '#db/database.ts';
import { type LocatedPage, type Page, type Place, selectPage } from '#db/paging.ts';
import { checked } from '#db/plan-shapes.ts';
import { type Row, table } from '#db/table.ts';
import { payments } from '#payments/payment.ts';
import { refunds } from '#refunds/refund.ts';
import type { RefundFigures, SaleFigures } from '#shifts/shift-figures.ts';

/** The reports of ended shifts. Rows never change. */
export const shiftReports = table(
  'shift_reports',
  { id: 'text', created: 'timestamptz', position: 'bigint', body: 'text' },
  {
    account_id: 'text',
    livemode: 'boolean',
    terminal_id: 'text',
    previous_position: 'bigint?',
    series: 'text',
    number: 'bigint',
  },
);

export type ShiftReportRow = Row<typeof shiftReports>;

/** The rows of one terminal after one position in the account's order, up to another. */
export interface BookedRange {
  readonly tenant: Tenant;
  readonly terminalId: string;
  readonly after: Place;
  readonly upTo: Place;
}

/** Returns the last position that has committed. Every row up to there is visible. */
export async function selectOrderEnd(sql: Sql, tenant: Tenant): Promise<Place> {
  const rows = await sql.query<Place>(
    `select greatest(stamped_at, 'epoch') as created, position from account_modes
     where account_id = $1 and livemode = $2`,
    [tenant.accountId, tenant.livemode],
  );
  return only(rows, 'account mode');
}

/** Returns the end of the terminal's newest report; undefined if it has none. */
export async function selectNewestReport(
  sql: Sql,
  terminalId: string,
): Promise<ShiftReportRow | undefined> {
  const rest = 'where terminal_id = $1 order by position desc limit 1';
  return shiftReports.find(sql, rest, [terminalId]);
}

/** SQL: the range of an index over (terminal_id, created, position). */
const OF_TERMINAL = (row: string) =>
  `(${row}.terminal_id, ${row}.created, ${row}.position) > ($1, $2, $3)
   and (${row}.terminal_id, ${row}.created, ${row}.position) <= ($1, $4, $5)`;

function valuesOf({ terminalId, after, upTo }: BookedRange): unknown[] {
  return [terminalId, after.created, after.position, upTo.created, upTo.position];
}

const SALE = payments.pick(
  [
    ...(['id', 'created', 'position', 'amount', 'tip', 'presentment', 'lines', 'taxes'] as const),
    ...(['cashier_id', 'credential_type', 'receipt_number'] as const),
  ],
  'p',
);

export type BookedSale = Row<typeof SALE> & { readonly is_offline: boolean };

/** Returns the next sales of a range, in the order in which they were booked. */
export async function selectBookedSales(
  sql: Sql,
  range: BookedRange,
  limit: number,
): Promise<BookedSale[]> {
  return sql.query<BookedSale>(
    `select ${SALE}, i.offline is not null as is_offline
     from payments p join payment_intents i on i.id = p.payment_intent_id
     where ${OF_TERMINAL('p')}
     order by p.terminal_id, p.created, p.position limit $6`,
    [...valuesOf(range), limit],
  );
}

export async function countDeclines(sql: Sql, range: BookedRange): Promise<number> {
  const rows = await sql.query<{ count: number }>(
    `select count(*)::int as count from payment_intents i
     where ${OF_TERMINAL('i')} and i.last_payment_error is not null`,
    valuesOf(range),
  );
  return only(rows, 'count of declines').count;
}

/** SQL: the entries `e` of an account and mode in a range of its order. */
const ENTRIES = `balance_entries e
  where ((e.account_id || ''), e.livemode, e.position) > ($1, $2, $3)
    and ((e.account_id || ''), e.livemode, e.position) <= ($1, $2, $4)`;

/** SQL: true if the object of `e` was booked before, so that `e` only corrects it. */
const IS_LATER = `exists (
  select from balance_entries o where o.object_id = e.object_id and o.position < e.position)`;

function entryValues({ tenant, after, upTo, terminalId }: BookedRange): unknown[] {
  return [tenant.accountId, tenant.livemode, after.position, upTo.position, terminalId];
}

const REFUND = refunds.pick(
  ['id', 'amount', 'presentment', 'taxes', 'cashier_id', 'receipt_number'],
  'f',
);

export type BookedRefund = RefundFigures & {
  /** The position at which the refund was booked. */
  readonly position: bigint;
};

/**
 * Returns the next refunds of a range, in the order in which they were booked, of sales that the
 * terminal made. An entry books a refund late, as a correction, if its day had been exported.
 */
export async function selectBookedRefunds(
  sql: Sql,
  range: BookedRange,
  limit: number,
): Promise<BookedRefund[]> {
  return sql.query<BookedRefund>(
    `select ${REFUND}, e.position
     from refunds f join payments p on p.id = f.payment_id, ${ENTRIES}
       and f.id = e.object_id and e.type in ('refund', 'correction') and not ${IS_LATER}
       and ${checked('p.terminal_id = $5')}
     order by (e.account_id || ''), e.livemode, e.position limit $6`,
    [...entryValues(range), limit],
  );
}

/** A booked row that the chain no longer contains (or contains again). */
export interface Corrected {
  readonly payment: string;
  readonly refund: string | null;
  /** The change of the merchant's balance. */
  readonly amount: bigint;
  /** The position of the correction. */
  readonly position: bigint;
  /** The position at which the row was booked. */
  readonly booked: bigint;
}

export async function selectCorrections(sql: Sql, range: BookedRange): Promise<Corrected[]> {
  return sql.query<Corrected>(
    `with entries as materialized (
       select e.object_id, e.position, e.amount, ${IS_LATER} as is_later,
         (select min(o.position) from balance_entries o where o.object_id = e.object_id) as booked
       from ${ENTRIES} and e.type = 'correction'
     )
     select p.id as payment, null as refund, e.amount, e.position, p.position as booked
     from entries e join payments p on p.id = e.object_id
     where ${checked('p.terminal_id = $5')} and (e.is_later or not p.recovered)
     union all
     select p.id, f.id, e.amount, e.position, e.booked
     from entries e join refunds f on f.id = e.object_id join payments p on p.id = f.payment_id
     where ${checked('p.terminal_id = $5')} and e.is_later
     order by position`,
    entryValues(range),
  );
}

/** Returns the ID of the report that holds this position; undefined if none does yet. */
export async function selectReportAt(
  sql: Sql,
  { terminalId, position }: { readonly terminalId: string; readonly position: bigint },
): Promise<string | undefined> {
  const rest = 'where terminal_id = $1 and position >= $2 order by position limit 1';
  return (await shiftReports.find(sql, rest, [terminalId, position]))?.id;
}

export async function selectSale(sql: Sql, id: string): Promise<SaleFigures> {
  const rows = await sql.query<SaleFigures>(`select ${SALE} from payments p where p.id = $1`, [id]);
  return only(rows, 'corrected payment');
}

export async function selectRefunded(sql: Sql, id: string): Promise<RefundFigures> {
  const text = `select ${REFUND} from refunds f where f.id = $1`;
  return only(await sql.query<RefundFigures>(text, [id]), 'corrected refund');
}

/** The terminal's facts that its report contains. */
export interface ReportedTerminal {
  readonly location_id: string | null;
  readonly created: Date;
}

export async function selectReportedTerminal(sql: Sql, id: string): Promise<ReportedTerminal> {
  const text = 'select location_id, created from terminals where id = $1';
  return only(await sql.query<ReportedTerminal>(text, [id]), 'terminal');
}

/** True if the database lost rows before this series of numbers began. */
export async function isAfterLoss(
  tx: Tx,
  series: { readonly tenant: Tenant; readonly prefix: string },
): Promise<boolean> {
  const { accountId, livemode } = series.tenant;
  const rows = await tx.query<{ after_loss: boolean }>(
    `select after_loss from receipt_series
     where account_id = $1 and livemode = $2 and prefix = $3`,
    [accountId, livemode, series.prefix],
  );
  return only(rows, 'series of reports').after_loss;
}

export async function selectShiftReport(
  sql: Sql,
  tenant: Tenant,
  id: string,
): Promise<(ShiftReportRow & { readonly terminal_id: string }) | undefined> {
  const rows = await sql.query<ShiftReportRow & { readonly terminal_id: string }>(
    `select ${shiftReports.columns}, terminal_id from shift_reports
     where id = $1 and account_id = $2 and livemode = $3`,
    [id, tenant.accountId, tenant.livemode],
  );
  return rows[0];
}

/** Returns a page of reports, newest first, of one terminal or of all. */
export async function selectShiftReports(
  sql: Sql,
  filter: { readonly tenant: Tenant; readonly terminalId: string | null },
  page: Page | LocatedPage,
): Promise<ShiftReportRow[]> {
  const list = {
    table: 'shift_reports',
    columns: shiftReports.columns,
    filters: { terminal_id: filter.terminalId },
    indexes: { terminal_id: { columns: ['terminal_id'], ordered: true } },
  } as const;
  return selectPage<ShiftReportRow>(sql, list, filter.tenant, page);
}
