import { Readable } from 'node:stream';
import Type from 'typebox';
import { selectTimeZone } from '#accounts/account-queries.ts';
import { MODE, type PersonRoute, personRoute } from '#apis/dashboard/person-route.ts';
import { openDays, openPayout, type Statement, statementFile } from '#books/statement.ts';
import { FORMATS, STATEMENT_FORMATS, type StatementFormat } from '#books/statement-formats.ts';
import { isRefusal, type Refusal, refuse, resourceMissing } from '#core/answer.ts';
import { type Days, daysOfMonth } from '#core/calendar.ts';
import { checkOrder, isMonth } from '#core/check-day-range.ts';
import type { Tenant } from '#core/mode.ts';
import { encodeWindows1252 } from '#core/windows-1252.ts';
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
  const timeZone = await selectTimeZone(db, tenant.accountId);
  const input = { tenant, timeZone, now };
  if (!('payout' in period)) return openDays(db, input, period);
  const statement = await openPayout(db, input, period.payout);
  if (statement !== null) return statement;
  const payout = await selectWithdrawal(db, tenant, period.payout);
  if (payout === undefined) return resourceMissing('withdrawal');
  return refuse('unexpected_state', `This payout is ${payout.status}, so it has no statement.`);
}

export function statementStream(
  db: Database,
  statement: Statement,
  format: StatementFormat,
): Stream {
  const { mediaType, extension, encoding, prefix = '' } = FORMATS[format];
  const { tenant, from, to } = statement;
  // Several formats are CSV, so the name says which one it is, unless a prefix does.
  const isNamed = extension !== format && extension === 'csv' && prefix === '';
  const kind = isNamed ? `-${format}` : '';
  const mode = tenant.livemode ? 'live' : 'test';
  const name = `${prefix}tapline-${mode}-statement${kind}-${from}-${to}`;
  const file = statementFile(db, statement, format);
  const bytes = encoding === 'utf8' ? file : encoded(file);
  return {
    status: 200,
    stream: Readable.from(bytes, { highWaterMark: 1 }),
    headers: {
      'Content-Type': mediaType,
      'Content-Disposition': `attachment; filename="${name}.${extension}"`,
      'X-Content-Type-Options': 'nosniff',
      'Statement-Entries': String(statement.count),
    },
  };
}

async function* encoded(file: AsyncIterable<string>): AsyncGenerator<Buffer> {
  for await (const part of file) yield encodeWindows1252(part);
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
      'every format.',
    errors: ['parameter_missing', 'unexpected_state', 'service_unavailable'],
    access: 'viewer',
    query: StatementQuery,
    returns: 'The file of the period.',
    sends: [...new Set(STATEMENT_FORMATS.map((format) => FORMATS[format].mediaType))],
    example: FORMATS.csv.open(EXAMPLE).head,
    handle: async ({ caller: { tenant }, query, now }) => {
      const period = periodOf(query);
      if (isRefusal(period)) return period;
      const statement = await open(db, { tenant, now, period });
      if (isRefusal(statement)) return statement;
      return statementStream(db, statement, query.format ?? 'csv');
    },
  });
}

const EXAMPLE = {
  tenant: { accountId: 'acct_000004OmWoCGFZbaeklcjR', livemode: false },
  timeZone: 'Europe/Berlin',
  ...{ from: '2026-11-01', to: '2026-11-30' },
  since: new Date('2026-10-31T23:00:00.000Z'),
  until: new Date('2026-11-30T23:00:00.000Z'),
  ...{ opening: 0n, closing: 0n },
};
