import { Readable } from 'node:stream';
import Type from 'typebox';
import { selectShopDays } from '#accounts/shop-days.ts';
import { MODE, type PersonRoute, personRoute } from '#apis/dashboard/person-route.ts';
import {
  DATEV_PREFIX,
  datevFile,
  needsArchive,
  planDatev,
  tooLongForDatev,
} from '#books/datev-file.ts';
import {
  entriesOf,
  openDays,
  openPayout,
  type Statement,
  statementFile,
} from '#books/statement.ts';
import { FORMATS, STATEMENT_FORMATS, type StatementFormat } from '#books/statement-formats.ts';
import { isRefusal, type Refusal, refuse, resourceMissing } from '#core/answer.ts';
import { type Days, daysOfMonth } from '#core/calendar.ts';
import { checkOrder, isMonth } from '#core/check-day-range.ts';
import type { Tenant } from '#core/mode.ts';
import type { Database } from '#db/database.ts';
import type { Stream } from '#http/route.ts';
import { Day, oneOf, text } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { selectWithdrawal } from '#payouts/withdrawal-queries.ts';
import { checkLedger } from '#settlement/ledger-gate.ts';

const StatementQuery = Type.Object({
  format: Type.Optional(oneOf(STATEMENT_FORMATS, 'Default csv.')),
  from: Type.Optional(Day),
  to: Type.Optional(Day),
  month: Type.Optional(text(7, "YYYY-MM, a month in the account's time zone.", 1)),
  payout: Type.Optional(
    text(64, 'The id of a payout: everything since the payout before it, up to itself.', 1),
  ),
  split: Type.Optional(
    Type.Boolean({
      description:
        'With `format=datev`: true for a .zip of files if the period does not fit one, because ' +
        'it spans two years or has more than 99,999 rows.',
    }),
  ),
});

type StatementRequest = Type.Static<typeof StatementQuery>;
type Wanted = Days | { readonly payout: string };

const ONE_PERIOD = 'Send exactly one period: from and to, or month, or payout.';

/** Returns the period that a request names. Refuses if it names none or several. */
function periodOf({ from, to, month, payout }: StatementRequest): Wanted | Refusal {
  const isDays = from !== undefined || to !== undefined;
  const named = [isDays, month !== undefined, payout !== undefined].filter(Boolean).length;
  if (named === 0) return refuse('parameter_missing', ONE_PERIOD, 'from');
  if (named > 1) return refuse('parameter_invalid', ONE_PERIOD, 'from');
  if (payout !== undefined) return { payout };
  if (month !== undefined) {
    if (isMonth(month)) return daysOfMonth(month);
    return refuse('parameter_invalid', 'month must have the form YYYY-MM.', 'month');
  }
  if (from === undefined || to === undefined) {
    return refuse('parameter_missing', ONE_PERIOD, from === undefined ? 'from' : 'to');
  }
  return checkOrder({ from, to }) ?? { from, to };
}

interface Opening {
  readonly tenant: Tenant;
  readonly now: Date;
  readonly period: Wanted;
}

async function open(db: Database, { tenant, now, period }: Opening): Promise<Statement | Refusal> {
  // A statement closes its period, so it is refused while recovery may still add lost rows to the
  // period.
  const closed = checkLedger(db.watch, tenant.livemode);
  if (closed !== null) return closed;
  const input = { tenant, shop: await selectShopDays(db, tenant), now };
  if (!('payout' in period)) return openDays(db, input, period);
  const statement = await openPayout(db, input, period.payout);
  if (statement !== null) return statement;
  const payout = await selectWithdrawal(db, tenant, period.payout);
  if (payout === undefined) return resourceMissing('withdrawal');
  return refuse('unexpected_state', `This payout is ${payout.status}, so it has no statement.`);
}

interface FileRequest {
  readonly format: StatementFormat;
  /** True if a period that does not fit one file becomes an archive. */
  readonly maySplit: boolean;
}

const CSV_OF_DATEV = { mediaType: 'text/csv; charset=windows-1252', extension: 'csv' };
const ARCHIVE = { mediaType: 'application/zip', extension: 'zip' };

/** The media types of all statements. */
export const STATEMENT_TYPES = [
  ...new Set(Object.values(FORMATS).map(({ mediaType }) => mediaType)),
  ...[CSV_OF_DATEV.mediaType, ARCHIVE.mediaType],
];

async function fileOf(db: Database, statement: Statement, { format, maySplit }: FileRequest) {
  if (format !== 'datev') return { ...FORMATS[format], file: statementFile(db, statement, format) };
  const plan = await planDatev(db, statement);
  if (isRefusal(plan)) return plan;
  const tooLong = maySplit ? null : tooLongForDatev(statement, plan);
  if (tooLong !== null) return tooLong;
  const kind = needsArchive(statement, plan) ? ARCHIVE : CSV_OF_DATEV;
  return { ...kind, file: datevFile(statement, plan, entriesOf(db, statement)) };
}

export async function statementStream(
  db: Database,
  statement: Statement,
  request: FileRequest,
): Promise<Stream | Refusal> {
  const written = await fileOf(db, statement, request);
  if (isRefusal(written)) return written;
  const { mediaType, extension, file } = written;
  const { tenant, from, to, count } = statement;
  const { format } = request;
  const prefix = format === 'datev' ? DATEV_PREFIX : '';
  const name = `${prefix}tapline-${tenant.accountId}-${format}-${from}-${to}.${extension}`;
  return {
    status: 200,
    stream: Readable.from(file, { highWaterMark: 1 }),
    headers: {
      'Content-Type': mediaType,
      'Content-Disposition': `attachment; filename="${name}"`,
      'X-Content-Type-Options': 'nosniff',
      'Statement-Entries': String(count),
    },
  };
}

export function statementRoute({ db }: ApiContext): PersonRoute {
  return personRoute<typeof StatementQuery>({
    method: 'GET',
    path: `${MODE}/exports/statement`,
    operationId: 'export_statement',
    // `data`, not `nothing`: a statement closes its period, and later bookings go to later days.
    moves: 'data',
    tag: 'Exports',
    summary: 'Export the statement of some days, a month or a payout, as a file',
    description:
      'The balance at the beginning, every payment, refund and payout, and the balance at the ' +
      'end. The next period begins with that balance. Send `from` and `to`, both included, or ' +
      '`month`, or `payout`. A day that has ended does not change once it was exported: what ' +
      'differs later is a `CORRECTION` on the day on which it was found. The header ' +
      '`Statement-Entries` is the number of entries. The guide `books` explains every column of ' +
      'every format. `format=datev` needs the account’s `datev` setting.',
    errors: ['parameter_missing', 'unexpected_state', 'service_unavailable'],
    access: 'viewer',
    query: StatementQuery,
    returns: 'The file of the period.',
    sends: STATEMENT_TYPES,
    example: FORMATS.csv.open(EXAMPLE).head,
    handle: async ({ caller: { tenant }, query, now }) => {
      const period = periodOf(query);
      if (isRefusal(period)) return period;
      const { format = 'csv', split = false } = query;
      if (split && format !== 'datev') {
        return refuse('parameter_invalid', 'Only format=datev can be split.', 'split');
      }
      const statement = await open(db, { tenant, now, period });
      if (isRefusal(statement)) return statement;
      const maySplit = split || query.payout !== undefined;
      return statementStream(db, statement, { format, maySplit });
    },
  });
}

const EXAMPLE = {
  tenant: { accountId: 'acct_000004OmWoCGFZbaeklcjR', livemode: false },
  timeZone: 'Europe/Berlin',
  ...{ from: '2026-11-01', to: '2026-11-30' },
  since: new Date('2026-10-31T23:00:00.000Z'),
  until: new Date('2026-11-30T23:00:00.000Z'),
  ...{ opening: 0n, closing: 0n, count: 0, dayOf: () => '2026-11-01' },
};
