import { Readable } from 'node:stream';
import Type from 'typebox';
import { selectShopDays } from '#accounts/shop-days.ts';
import { accountingHeader, accountingLines } from '#apis/dashboard/exports/accountant-columns.ts';
import type { Chunk, Export, Row } from '#apis/dashboard/exports/export-kinds.ts';
import { EXPORTS, type ExportName, NAMES } from '#apis/dashboard/exports/export-kinds.ts';
import { selectOldest, selectPlace } from '#apis/dashboard/exports/export-queries.ts';
import { statementRoute } from '#apis/dashboard/exports/statement-route.ts';
import { MODE, type PersonRoute, personRoute } from '#apis/dashboard/person-route.ts';
import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { dayAfter, dayIn, dayStart, type Zone } from '#core/calendar.ts';
import { checkOrder } from '#core/check-day-range.ts';
import type { ExportFormat } from '#core/csv.ts';
import { BYTE_ORDER_MARK, csvHeader, csvLine } from '#core/csv.ts';
import type { Tenant } from '#core/mode.ts';
import type { Database, Sql } from '#db/database.ts';
import type { LocatedPage, Place } from '#db/paging.ts';
import { readPage } from '#http/cursors.ts';
import type { Stream } from '#http/route.ts';
import { createdParameters, Day, oneOf, text } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import type { ReceiptPages } from '#payments/receipt-url.ts';

function fileName({ name, tenant, format }: Wanted, day: string): string {
  const mode = tenant.livemode ? 'live' : 'test';
  const kind = format === 'csv_atoms' ? `${name}-atoms` : name;
  const type = format === 'jsonl' ? 'jsonl' : 'csv';
  return `tapline-${mode}-${kind}-${day}.${type}`;
}

type Oldest = Awaited<ReturnType<typeof selectOldest>>;

/** Returns the response with an export that was made on this day. `oldest` is its last row. */
export function exportFile(
  written: AsyncGenerator<string>,
  input: Wanted,
  { day, oldest }: { readonly day: string; readonly oldest: Oldest },
): Stream {
  return {
    status: 200,
    stream: Readable.from(written, { highWaterMark: 1 }),
    headers: {
      'Content-Type': TYPES[input.format],
      'Content-Disposition': `attachment; filename="${fileName(input, day)}"`,
      'X-Content-Type-Options': 'nosniff',
      'Oldest-Row': oldest?.id ?? 'none',
      ...(oldest === null ? {} : { 'Oldest-Row-Created': oldest.created.toISOString() }),
    },
  };
}

export const ExportQuery = Type.Object({
  ...createdParameters,
  from: Type.Optional(Day),
  to: Type.Optional(Day),
  format: Type.Optional(
    oneOf(
      ['csv', 'csv_atoms', 'jsonl'] as const,
      'Default csv: for accountants. csv_atoms: for programs.',
    ),
  ),
  after: Type.Optional(
    text(64, 'The id of the last row that you have: the export continues after it.', 1),
  ),
});

type DaysQuery = Type.Static<typeof ExportQuery>;

/**
 * Converts the first and last day, as the account counts days, to the instants that limit a list.
 */
export function withMoments(
  zone: Zone,
  query: DaysQuery,
): Pick<DaysQuery, 'created_gte' | 'created_lt'> | Refusal {
  const { from, to, created_gte, created_lt } = query;
  if (from === undefined && to === undefined) return query;
  const wrong = checkOrder(query);
  if (wrong !== null) return wrong;
  if (created_gte !== undefined || created_lt !== undefined) {
    return refuse(
      'parameter_invalid',
      'Send days (from, to) or times (created_gte, created_lt), not both.',
      'from',
    );
  }
  const start = (day: string) => dayStart(zone, day).toISOString();
  return {
    ...(from === undefined ? {} : { created_gte: start(from) }),
    ...(to === undefined ? {} : { created_lt: start(dayAfter(to, 1)) }),
  };
}

export function noSuchRow(): Refusal {
  return refuse('cursor_invalid', 'after must be the id of a row in this export.', 'after');
}

export const FORMATS =
  '`csv` is for accountants: UTF-8 with a byte order mark, amounts with decimals, times in the ' +
  'account’s time zone with their offset, labels of terminals and descriptions. ' +
  '`csv_atoms` has the numbers and names of the API. Both are RFC 4180 otherwise: ' +
  'a cell that a spreadsheet would run as a formula gets an apostrophe in front. ' +
  '`jsonl` has whole objects, a line each. ';

function exportRoute(
  { db, pages: receipts, keys: { cursor: cursorKey } }: ApiContext,
  name: ExportName,
) {
  return personRoute<typeof ExportQuery>({
    method: 'GET',
    path: `${MODE}/exports/${name}`,
    operationId: `export_${name}`,
    moves: 'nothing',
    tag: 'Exports',
    summary: `Export all ${name.replaceAll('_', ' ')} of a period, newest first, as a file`,
    description:
      'The period is the days `from` to `to`, or from `created_gte` until before `created_lt`. ' +
      FORMATS +
      'Streams any number of rows. If the response breaks off, send the id ' +
      'of the last whole row as `after`: the rest follows, without a header. The header ' +
      '`Oldest-Row` is the id of the last row of the file (`none` if it has no rows), ' +
      '`Oldest-Row-Created` its time.',
    errors: ['cursor_invalid'],
    access: 'viewer',
    query: ExportQuery,
    returns: 'The rows of the period.',
    sends: [TYPES.csv, TYPES.jsonl],
    example: accountingHeader(name),
    handle: async ({ caller: { tenant }, query, now }) => {
      const pagination = { list: `export ${name}`, tenant, query, cursorKey };
      const shop = await selectShopDays(db, tenant);
      const { timeZone } = shop;
      const moments = withMoments(shop, query);
      if (isRefusal(moments)) return moments;
      const page = readPage(pagination, moments);
      if (isRefusal(page)) return page;
      const { table } = EXPORTS[name];
      const after =
        query.after === undefined
          ? null
          : await selectPlace(db, { table, tenant, id: query.after });
      if (query.after !== undefined && after === null) return noSuchRow();
      const { createdGte: since, createdLt: until } = page;
      const oldest = await selectOldest(db.standby, { table, tenant, since, until });
      const format = query.format ?? 'csv';
      const input = { name, format, tenant, receipts, now, timeZone };
      const written = lines(db, input, { ...page, after, limit: CHUNK });
      return exportFile(written, input, { day: dayIn(shop, now), oldest });
    },
  });
}

export function exportRoutes(ctx: ApiContext): PersonRoute[] {
  return [...NAMES.map((name) => exportRoute(ctx, name)), statementRoute(ctx)];
}

/** Number of rows that are held in memory at a time, whatever the size of the export. */
export const CHUNK = 500;

export interface Wanted {
  readonly receipts: ReceiptPages;
  readonly name: ExportName;
  readonly format: ExportFormat;
  readonly tenant: Tenant;
  readonly now: Date;
  readonly timeZone: string;
  readonly extra?: Row;
}

export function headerOf({ name, format, extra }: Wanted): string {
  if (format === 'jsonl') return '';
  const more = Object.keys(extra ?? {});
  if (format === 'csv_atoms') return csvHeader([...EXPORTS[name].columns, ...more]);
  return `${BYTE_ORDER_MARK}${accountingHeader(name, more)}`;
}

function linesOf(db: Sql, input: Wanted, pageRows: readonly Row[]): Promise<string[]> | string[] {
  const { name, format, tenant, timeZone, extra } = input;
  const rows = extra === undefined ? pageRows : pageRows.map((row) => ({ ...row, ...extra }));
  const more = Object.keys(extra ?? {});
  if (format === 'jsonl') return rows.map((row) => `${JSON.stringify(row)}\n`);
  if (format === 'csv_atoms') {
    return rows.map((row) => csvLine(row, [...EXPORTS[name].columns, ...more]));
  }
  return accountingLines(db, tenant, { name, rows, timeZone, extra: more });
}

/** A resumed download gets no header, because it already has it. */
async function* lines(db: Database, input: Wanted, first: LocatedPage): AsyncGenerator<string> {
  if (first.after === null) yield headerOf(input);
  yield* rowsOf(db, input, first);
}

/**
 * Yields the rows of an export, page by page, only as fast as the client reads them. Each page is a
 * separate statement, so a slow client holds no snapshot.
 */
export async function* rowsOf(
  db: Database,
  input: Wanted,
  first: LocatedPage,
): AsyncGenerator<string> {
  const kind: Export = EXPORTS[input.name];
  let page: LocatedPage | null = first;
  while (page !== null) {
    const { limit }: LocatedPage = page;
    const { places, rows }: Chunk = await kind.read(db.standby, input, page);
    const shown = rows.slice(0, limit);
    const written = await linesOf(db.standby, input, shown);
    if (written.length > 0) yield written.join('');
    const last: Place | undefined = rows.length > limit ? places[limit - 1] : undefined;
    page = last === undefined ? null : { ...first, after: last };
  }
}

export const TYPES: Record<ExportFormat, string> = {
  csv: 'text/csv; charset=utf-8',
  csv_atoms: 'text/csv; charset=utf-8',
  jsonl: 'application/jsonl; charset=utf-8',
};
