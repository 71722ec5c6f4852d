import { Readable } from 'node:stream';
import type Type from 'typebox';
import { selectAccount } from '#accounts/account-queries.ts';
import { selectLocations } from '#accounts/locations.ts';
import {
  readSections,
  type Section,
  sectionsAt,
} from '#apis/dashboard/organizations/organization-sections.ts';
import {
  MODE,
  ORGANIZATION_MODE,
  type PersonRequest,
  type PersonRoute,
  personRoute,
} from '#apis/dashboard/person-route.ts';
import {
  daysBefore,
  type ReadSales,
  salesReader,
} from '#apis/dashboard/reports/read-sales-report.ts';
import { selectReportNames } from '#apis/dashboard/reports/sales-report-queries.ts';
import {
  OrganizationSalesReport,
  ReportQuery,
  SalesReport,
} from '#apis/dashboard/reports/sales-report-schema.ts';
import {
  type ReportRows,
  selectNames,
  tallyView,
} from '#apis/dashboard/reports/sales-report-view.ts';
import { GROUPINGS, type Grouping } from '#apis/dashboard/reports/sales-tally.ts';
import { type Answer, answerWith, isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import type { Days } from '#core/calendar.ts';
import { checkDays } from '#core/check-day-range.ts';
import { csvHeader, csvLine } from '#core/csv.ts';
import { networkOf } from '#core/mode.ts';
import type { Sql } from '#db/database.ts';
import type { Stream } from '#http/route.ts';
import type { ApiContext } from '#payments/api-context.ts';

/** A year and the weeks around it. */
const MAX_DAYS = 400;
const MAX_GROUPINGS = 2;

type Request = PersonRequest<Type.Static<typeof ReportQuery>>;

function readGroupings(value: string): Grouping[] | Refusal {
  const names = value.split(',');
  const groupings = GROUPINGS.filter((one) => names.includes(one));
  // Fewer known groupings than names: one of them is unknown, or is named twice.
  if (groupings.length === names.length && names.length <= MAX_GROUPINGS)
    return names as Grouping[];
  const message = `group_by must be one or two, with a comma, of ${GROUPINGS.join(', ')}.`;
  return refuse('parameter_invalid', message, 'group_by');
}

/** Returns the refusal if no section's account has the terminal. */
async function checkTerminal(
  sql: Sql,
  sections: readonly Section[],
  terminal: string | undefined,
): Promise<Refusal | null> {
  if (terminal === undefined) return null;
  for (const { tenant } of sections) {
    if ((await selectReportNames(sql, tenant)).has(terminal)) return null;
  }
  return refuse('parameter_invalid', 'terminal must be the ID of a terminal.', 'terminal');
}

const FIGURES = [
  ...['currency', 'count', 'quantity', 'gross', 'net', 'tax', 'discount', 'tip'],
  ...['refunded', 'refunded_net', 'refunded_tax'],
];

interface Part extends Days {
  readonly rows: ReportRows;
}

/** Returns the rows of all parts, with their days if there are two parts. */
function csvFile(parts: readonly Part[], groupBy: readonly Grouping[], name: string): Stream {
  const isPair = groupBy.length > 1;
  const keys = isPair ? ['key_1', 'label_1', 'key_2', 'label_2'] : ['key', 'label'];
  const columns = [...(parts.length > 1 ? ['from', 'to'] : []), ...keys, ...FIGURES];
  const lines = parts.flatMap(({ from, to, rows }) => {
    return rows.map((row) => {
      const { key, label } = row;
      const [key_1, key_2] = Array.isArray(key) ? key : [];
      const [label_1, label_2] = Array.isArray(label) ? label : [];
      const pair = isPair ? { key_1, label_1, key_2, label_2 } : {};
      return csvLine({ from, to, ...row, ...pair } as Parameters<typeof csvLine>[0], columns);
    });
  });
  return {
    status: 200,
    stream: Readable.from([csvHeader(columns) + lines.join('')]),
    headers: {
      'Content-Type': 'text/csv; charset=utf-8',
      'Content-Disposition': `attachment; filename="${name}"`,
      'X-Content-Type-Options': 'nosniff',
    },
  };
}

interface Reading {
  readonly sql: Sql;
  readonly readSales: ReadSales;
  readonly sections: readonly Section[];
  /** Fields of the response that name its owner. */
  readonly owner: { readonly organization?: string };
}

async function answerReport(
  { sql, readSales, sections, owner }: Reading,
  { query, caller, now }: Request,
): Promise<Answer | Refusal | Stream> {
  const { from, to, terminal, compare, format } = query;
  const wrong = checkDays(from, to, MAX_DAYS);
  if (wrong !== null) return wrong;
  const groupBy = readGroupings(query.group_by);
  if (isRefusal(groupBy)) return groupBy;
  const unknown = await checkTerminal(sql, sections, terminal);
  if (unknown !== null) return unknown;
  const input = { sections, terminalId: terminal ?? null, groupBy, now };
  const days = [{ from, to }, ...(compare === undefined ? [] : [daysBefore({ from, to })])];
  const tallies = await Promise.all(days.map((one) => readSales(sql, { ...input, ...one })));
  const tenants = new Map(sections.map(({ tenant }) => [tenant.accountId, tenant]));
  const names = await selectNames(sql, { tenants: [...tenants.values()], groupBy }, tallies);
  const parts = days.map((one, index) => {
    return { ...one, ...tallyView(present(tallies[index], 'tally'), groupBy, names) };
  });
  const { livemode } = caller.tenant;
  if (format === 'csv') {
    const mode = livemode ? 'live' : 'test';
    return csvFile(parts, groupBy, `tapline-${mode}-sales-${from}-${to}.csv`);
  }
  const [{ rows, totals } = { rows: [], totals: [] }, previous = null] = parts;
  const about = { object: 'sales_report', livemode, network: networkOf(livemode), ...owner };
  return answerWith(200, { ...about, from, to, group_by: groupBy, rows, totals, previous });
}

const DECLARED = {
  method: 'GET',
  moves: 'nothing',
  tag: 'Statistics',
  description:
    'Sums of the figures that were stored with each sale and refund, by the day on which each ' +
    'was booked: a refund does not change the month of its sale. A location counts days and ' +
    'hours in its own time zone. Of `item`, `category` and `tax_rate`, tips are in the row with ' +
    'the key `null`, as are refunds of a sum by item and category. A refund counts for the ' +
    'cashier who made it, and for the terminal, location and method of its sale. With ' +
    '`format=csv` the response is a CSV file with the same rows.',
  access: 'viewer',
  query: ReportQuery,
} as const;

export function salesReportRoutes({ db }: ApiContext): PersonRoute[] {
  const readSales = salesReader();
  const sql = db.standby;
  return [
    personRoute<typeof ReportQuery>({
      ...DECLARED,
      path: `${MODE}/reports/sales`,
      operationId: 'readSalesReport',
      summary: 'Retrieve sales and refunds of some days, grouped by one or two keys',
      response: SalesReport,
      handle: async (request) => {
        const { tenant } = request.caller;
        const account = present(await selectAccount(sql, tenant.accountId), 'account');
        const locations = await selectLocations(sql, [account.id]);
        const { location: locationId } = request.query;
        const sections = sectionsAt([account], locations, { ...tenant, locationId });
        if (isRefusal(sections)) return sections;
        return answerReport({ sql, readSales, sections, owner: {} }, request);
      },
    }),
    personRoute<typeof ReportQuery>({
      ...DECLARED,
      path: `${ORGANIZATION_MODE}/reports/sales`,
      operationId: 'readOrganizationSalesReport',
      tag: 'Organizations',
      summary: 'Retrieve sales and refunds of an organization, grouped by one or two keys',
      response: OrganizationSalesReport,
      handle: async (request) => {
        const sections = await readSections(sql, request, request.query.location);
        if (isRefusal(sections)) return sections;
        const owner = { organization: request.params.org ?? '' };
        return answerReport({ sql, readSales, sections, owner }, request);
      },
    }),
  ];
}
