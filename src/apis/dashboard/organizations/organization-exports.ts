import Type from 'typebox';
import { accountingHeader } from '#apis/dashboard/exports/accountant-columns.ts';
import { EXPORTS, type ExportName, NAMES } from '#apis/dashboard/exports/export-kinds.ts';
import { selectOldest, selectPlace } from '#apis/dashboard/exports/export-queries.ts';
import {
  CHUNK,
  ExportQuery,
  exportFile,
  FORMATS,
  headerOf,
  noSuchRow,
  rowsOf,
  TYPES,
  type Wanted,
  withMoments,
} from '#apis/dashboard/exports/export-routes.ts';
import {
  LocationQuery,
  readSections,
  type Section,
} from '#apis/dashboard/organizations/organization-sections.ts';
import {
  ORGANIZATION_MODE,
  type PersonRequest,
  type PersonRoute,
  personRoute,
} from '#apis/dashboard/person-route.ts';
import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { dayIn } from '#core/calendar.ts';
import type { Database } from '#db/database.ts';
import type { LocatedPage, Place } from '#db/paging.ts';
import { readPage } from '#http/cursors.ts';
import type { Stream } from '#http/route.ts';
import type { ApiContext } from '#payments/api-context.ts';

const Query = Type.Object({
  ...ExportQuery.properties,
  location: Type.Optional(LocationQuery),
});

type Request = PersonRequest<Type.Static<typeof Query>>;

interface Part {
  readonly wanted: Wanted;
  readonly page: LocatedPage;
}

/**
 * Payouts belong to an account, not to a location. So only an account's section without a location
 * has them.
 */
function partsOf(sections: readonly Section[], name: ExportName): readonly Section[] {
  return name === 'withdrawals' ? sections.filter(({ location }) => location === null) : sections;
}

function readParts(
  ctx: ApiContext,
  { query, now }: Request,
  input: { readonly name: ExportName; readonly sections: readonly Section[] },
): Part[] | Refusal {
  const { name } = input;
  const parts: Part[] = [];
  for (const { tenant, account, location, shop } of partsOf(input.sections, name)) {
    const { timeZone } = shop;
    const moments = withMoments(shop, query);
    if (isRefusal(moments)) return moments;
    const pagination = { list: `export ${name}`, tenant, query, cursorKey: ctx.keys.cursor };
    const page = readPage(pagination, moments);
    if (isRefusal(page)) return page;
    const at = name === 'withdrawals' ? {} : { location: location?.id ?? null };
    const format = query.format ?? 'csv';
    const file = { name, format, tenant, receipts: ctx.pages, now, timeZone };
    parts.push({
      wanted: { ...file, extra: { account: account.id } },
      page: { ...page, ...at, limit: CHUNK },
    });
  }
  return parts;
}

async function hasRow(db: Database, { wanted, page }: Part, row: Place & { id: string }) {
  const before = { created: row.created, position: row.position + 1n };
  const { read } = EXPORTS[wanted.name];
  const { rows } = await read(db, wanted, { ...page, limit: 1, after: before });
  return rows[0]?.id === row.id;
}

/** Returns the rest of the parts after the row with this ID; `null` if no part has it. */
async function partsAfter(db: Database, parts: readonly Part[], id: string) {
  for (const [n, part] of parts.entries()) {
    const { name, tenant } = part.wanted;
    const position = await selectPlace(db, { table: EXPORTS[name].table, tenant, id });
    if (position === null || !(await hasRow(db, part, { ...position, id }))) continue;
    return [{ ...part, page: { ...part.page, after: position } }, ...parts.slice(n + 1)];
  }
  return null;
}

async function findOldest(db: Database, parts: readonly Part[]) {
  for (const { wanted, page } of parts.toReversed()) {
    const { name, tenant } = wanted;
    const { createdGte: since, createdLt: until, location } = page;
    const bounds = { since, until, location };
    const { table } = EXPORTS[name];
    const oldest = await selectOldest(db.standby, { table, tenant, ...bounds });
    if (oldest !== null) return oldest;
  }
  return null;
}

async function* linesOf(db: Database, header: string, parts: readonly Part[]) {
  yield header;
  for (const { wanted, page } of parts) yield* rowsOf(db, wanted, page);
}

async function answerExport(
  ctx: ApiContext,
  request: Request,
  name: ExportName,
): Promise<Stream | Refusal> {
  const { db } = ctx;
  const { caller, params, query, now } = request;
  const format = query.format ?? 'csv';
  if (name === 'withdrawals' && query.location !== undefined) {
    const message = 'Payouts belong to an account, not to a location.';
    return refuse('parameter_invalid', message, 'location');
  }
  const sections = await readSections(db, request, query.location);
  if (isRefusal(sections)) return sections;
  const all = readParts(ctx, request, { name, sections });
  if (isRefusal(all)) return all;
  const parts = query.after === undefined ? all : await partsAfter(db, all, query.after);
  if (parts === null) return noSuchRow();
  const oldest = await findOldest(db, all);
  const { livemode } = caller.tenant;
  const tenant = { accountId: params.org ?? '', livemode };
  const empty = { name, format, tenant, receipts: ctx.pages, now, timeZone: 'UTC' };
  const first = headerOf({ ...empty, extra: { account: null } });
  const header = query.after === undefined ? first : '';
  const day = dayIn('UTC', now);
  return exportFile(linesOf(db, header, parts), empty, { day, oldest });
}

/**
 * Returns the routes for exports of an organization: each is one file with the rows of all of its
 * accounts.
 */
export function organizationExportRoutes(ctx: ApiContext): PersonRoute[] {
  return NAMES.map((name) =>
    personRoute<typeof Query>({
      method: 'GET',
      path: `${ORGANIZATION_MODE}/exports/${name}`,
      operationId: `exportOrganization_${name}`,
      moves: 'nothing',
      tag: 'Organizations',
      summary: `Export all ${name.replaceAll('_', ' ')} of an organization as a file`,
      description:
        'Account by account, location by location, and what was sold at none last; each newest ' +
        'first. Days are those of the shop that made the sale. The last column, `account`, is ' +
        'the account. ' +
        FORMATS +
        'If the response breaks off, send the id of the last whole row as `after`.',
      errors: ['cursor_invalid'],
      access: 'viewer',
      query: Query,
      returns: 'The rows of the period.',
      sends: [TYPES.csv, TYPES.jsonl],
      example: accountingHeader(name, ['account']),
      handle: (request) => answerExport(ctx, request, name),
    }),
  );
}
