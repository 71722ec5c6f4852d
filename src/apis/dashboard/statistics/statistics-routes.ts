import Type from 'typebox';
import { MODE, type PersonRoute, personRoute } from '#apis/dashboard/person-route.ts';
import { count, listed } from '#apis/dashboard/person-schema.ts';
import { readReport } from '#apis/dashboard/statistics/daily-statistics.ts';
import { openCharts } from '#apis/dashboard/statistics/share-chart-reads.ts';
import type { DayRow, ReportRow } from '#apis/dashboard/statistics/statistics-queries.ts';
import { answerWith, refuse } from '#core/answer.ts';
import { checkDays, isDay } from '#core/check-day-range.ts';
import { toJsonAtoms } from '#core/money.ts';
import { AtomsOut, Day, nullable, openObject, textOut } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';

const TAG = 'Statistics';

const DaySchema = Type.Object({
  day: Day,
  terminal: nullable(Type.String({ description: '`null` for all terminals together.' })),
  intents: count('Payment intents that were created.'),
  succeeded: count('Of these: paid.'),
  canceled: count('Of these: canceled or expired.'),
  called_off: count(
    'Of the canceled ones: those canceled by the shop, before a pass was declined.',
  ),
  success_rate: nullable(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description:
        'The share of paid ones among those that have ended, excluding those the shop called ' +
        'off; `null`: none has.',
    }),
  ),
  payments: count('Payments that were settled on the day.'),
  volume: { ...AtomsOut, description: 'Sales and tips: USDC atoms (6 decimals).' },
  tips: AtomsOut,
  refunds: count('Refunds of the day that have succeeded.'),
  refunded: AtomsOut,
  settle_ms_median: nullable(
    count('Milliseconds from tap to settlement: half of the payments took less.'),
  ),
  settle_ms_p95: nullable(count('The same: 95 of 100 payments took less.')),
  declines: openObject('Decline code to number of intents.'),
});

/**
 * Returns the share of ended intents that were paid; `null` if none ended. Intents that the shop
 * called off are left out.
 */
function successRate(row: DayRow): number | null {
  const ended = row.succeeded + row.canceled - row.called_off;
  return ended === 0 ? null : Math.round((row.succeeded / ended) * 10_000) / 10_000;
}

function dayView({ terminal_id, ...row }: DayRow) {
  return {
    ...row,
    terminal: terminal_id === '' ? null : terminal_id,
    success_rate: successRate({ terminal_id, ...row }),
    volume: toJsonAtoms(row.volume),
    tips: toJsonAtoms(row.tips),
    refunded: toJsonAtoms(row.refunded),
  };
}

const StatisticsQuery = Type.Object({
  from: Day,
  to: Day,
  by_terminal: Type.Optional(Type.Boolean({ description: 'Also one row per terminal.' })),
});

function statisticsRoute({ db }: ApiContext) {
  const charts = openCharts(db);
  return personRoute<typeof StatisticsQuery>({
    method: 'GET',
    path: `${MODE}/statistics`,
    operationId: 'readStatistics',
    moves: 'nothing',
    tag: TAG,
    summary:
      'Retrieve volume, counts, success rate, declines and time to settle, by day and terminal',
    description:
      'Days without activity are omitted. At most 367 days. Times to settle are rounded to ' +
      'three significant digits.',
    access: 'viewer',
    query: StatisticsQuery,
    response: listed(DaySchema, 'One row per day, and per terminal if requested.'),
    handle: async ({ caller: { tenant }, query, now }) => {
      const { from, to } = query;
      const wrong = checkDays(from, to);
      if (wrong !== null) return wrong;
      const rows = await charts.statistics({ tenant, from, to }, now);
      const shown = rows.filter((row) => query.by_terminal === true || row.terminal_id === '');
      return answerWith(200, { object: 'list', data: shown.map(dayView) });
    },
  });
}

const ReportLine = Type.Object(
  {
    terminal: nullable(textOut('The id of the terminal; `null` for none, or for all together.')),
    payments: count('Payments that were settled on the day.'),
    gross: { ...AtomsOut, description: 'Sales and tips: USDC atoms (6 decimals).' },
    tips: AtomsOut,
    fees: Type.Object(
      { acquirer: AtomsOut, protocol: AtomsOut, cashback: AtomsOut },
      { description: 'The fees that payers paid on top, and their cashback.' },
    ),
  },
  { description: 'All payments of the day together.' },
);

const ReportSchema = Type.Object(
  {
    day: Day,
    total: ReportLine,
    terminals: Type.Array(ReportLine, { description: 'The same by terminal.' }),
    refunds: count('Refunds of the day that have succeeded.'),
    refunded: AtomsOut,
    withdrawals: count('Withdrawals of the day that have succeeded.'),
    withdrawn: AtomsOut,
    net: Type.Integer({ description: 'Gross minus refunds and withdrawals; may be negative.' }),
  },
  { description: 'The report of the day.' },
);

function lineView(row: ReportRow) {
  return {
    terminal: row.terminal_id === '' ? null : row.terminal_id,
    payments: row.payments,
    gross: toJsonAtoms(row.gross),
    tips: toJsonAtoms(row.tips),
    fees: {
      acquirer: toJsonAtoms(row.fee_acquirer),
      protocol: toJsonAtoms(row.fee_protocol),
      cashback: toJsonAtoms(row.fee_cashback),
    },
  };
}

const NO_LINE: ReportRow = {
  terminal_id: '',
  payments: 0,
  gross: 0n,
  tips: 0n,
  fee_acquirer: 0n,
  fee_protocol: 0n,
  fee_cashback: 0n,
};

function reportRoute({ db }: ApiContext) {
  return personRoute({
    method: 'GET',
    path: `${MODE}/reports/daily/{day}`,
    operationId: 'readDailyReport',
    moves: 'nothing',
    tag: TAG,
    summary: 'Retrieve the amounts that one day added to the balance and took out of it',
    access: 'viewer',
    description: "The day is in the account's time zone.",
    params: { day: 'text' },
    response: ReportSchema,
    handle: async ({ caller: { tenant }, params }) => {
      const day = params.day ?? '';
      if (!isDay(day))
        return refuse('parameter_invalid', 'day must be a date in the form YYYY-MM-DD.', 'day');
      const { lines, out } = await readReport(db, { tenant, day });
      const total = lines.find((line) => line.terminal_id === '') ?? NO_LINE;
      return answerWith(200, {
        day,
        total: lineView(total),
        terminals: lines.filter((line) => line.terminal_id !== '').map(lineView),
        refunds: out.refunds,
        refunded: toJsonAtoms(out.refunded),
        withdrawals: out.withdrawals,
        withdrawn: toJsonAtoms(out.withdrawn),
        net: Number(total.gross - out.refunded - out.withdrawn),
      });
    },
  });
}

export function statisticsRoutes(ctx: ApiContext): PersonRoute[] {
  return [statisticsRoute(ctx), reportRoute(ctx)];
}
