import Type, { type TObject } from 'typebox';
import {
  LocationQuery,
  readSections,
} from '#apis/dashboard/organizations/organization-sections.ts';
import {
  ORGANIZATION_MODE,
  type PersonRequest,
  type PersonRoute,
  personRoute,
} from '#apis/dashboard/person-route.ts';
import { PaymentSchema } from '#apis/merchant/payment-schema.ts';
import { RefundSchema } from '#apis/merchant/refund-schema.ts';
import { type Answer, answerWith, isRefusal, type Refusal } from '#core/answer.ts';
import type { Tenant } from '#core/mode.ts';
import type { Sql } from '#db/database.ts';
import type { LocatedPage, Place } from '#db/paging.ts';
import {
  cursorInvalid,
  encodePlace,
  openCursor,
  type Pagination,
  PLACE_BYTES,
  readPage,
  readPlace,
  sealCursor,
} from '#http/cursors.ts';
import { createdParameters, idOf, listOf, pageParameters } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { selectPaymentPage } from '#payments/payment-queries.ts';
import { renderPayment } from '#payments/render.ts';
import { selectRefundPage } from '#refunds/refund-queries.ts';
import { renderRefund } from '#refunds/render.ts';

/**
 * Lists over all accounts of an organization are sorted by time, then by account, then by position.
 * Each account's rows are read from its index, and the accounts' pages are merged.
 */

const Query = Type.Object({
  ...pageParameters,
  ...createdParameters,
  location: Type.Optional(LocationQuery),
});

interface Row extends Place {
  readonly account_id: string;
}

interface AccountPlace extends Place {
  readonly account: string;
}

interface Merging<R extends Row> {
  readonly list: string;
  readonly cursorKey: Buffer;
  read(sql: Sql, tenant: Tenant, page: LocatedPage): Promise<R[]>;
  render(row: R): object;
}

/** Larger than every position, so that all rows of an account at the cursor's time follow. */
const LAST_POSITION = 2n ** 63n - 1n;

/**
 * Returns the position after which an account's rows follow the cursor, whose row may belong to
 * another account.
 */
function afterIn(account: string, at: AccountPlace | null): Place | null {
  if (at === null || at.account === account) return at;
  const position = account < at.account ? -LAST_POSITION : LAST_POSITION;
  return { created: at.created, position };
}

function byOrder(one: Row, other: Row): number {
  const newest = other.created.getTime() - one.created.getTime();
  if (newest !== 0) return newest;
  const [a, b] = [one.account_id, other.account_id];
  if (a !== b) return a < b ? -1 : 1;
  return one.position > other.position ? -1 : 1;
}

function readCursor(pagination: Pagination, cursor: string): AccountPlace | Refusal {
  const bytes = openCursor(pagination, cursor);
  if (isRefusal(bytes)) return bytes;
  if (bytes.length <= PLACE_BYTES) return cursorInvalid();
  return { ...readPlace(bytes), account: bytes.subarray(PLACE_BYTES).toString() };
}

async function answerMerged<R extends Row>(
  sql: Sql,
  request: PersonRequest<Type.Static<typeof Query>>,
  merging: Merging<R>,
): Promise<Answer | Refusal> {
  const { caller, params, query } = request;
  const { cursor, location, ...bounds } = query;
  const tenant = { accountId: params.org ?? '', livemode: caller.tenant.livemode };
  const pagination = { list: merging.list, tenant, query, cursorKey: merging.cursorKey };
  const at = cursor === undefined ? null : readCursor(pagination, cursor);
  if (isRefusal(at)) return at;
  const page = readPage(pagination, bounds);
  if (isRefusal(page)) return page;
  const sections = await readSections(sql, request, location);
  if (isRefusal(sections)) return sections;
  const rows: R[] = [];
  const filtered = location === undefined ? page : { ...page, location };
  for (const accountId of new Set(sections.map(({ account }) => account.id))) {
    const own = { ...filtered, after: afterIn(accountId, at) };
    rows.push(...(await merging.read(sql, { ...tenant, accountId }, own)));
  }
  const shown = rows.toSorted(byOrder).slice(0, page.limit);
  const last = rows.length > page.limit ? shown.at(-1) : undefined;
  const next = (row: R) =>
    sealCursor(pagination, Buffer.concat([encodePlace(row), Buffer.from(row.account_id)]));
  return answerWith(200, {
    object: 'list',
    data: shown.map((row) => ({ ...merging.render(row), account: row.account_id })),
    has_more: last !== undefined,
    next_cursor: last === undefined ? null : next(last),
  });
}

function withAccount(schema: TObject, name: string) {
  return Type.Object(
    { ...schema.properties, account: idOf('acct_', 'account') },
    {
      title: `Organization${name}`,
      description: `A ${name.toLowerCase()} of one of its accounts.`,
    },
  );
}

const declared = {
  method: 'GET',
  moves: 'nothing',
  tag: 'Organizations',
  access: 'viewer',
  query: Query,
  errors: ['cursor_invalid'],
} as const;

export function organizationListRoutes(ctx: ApiContext): PersonRoute[] {
  const { db, pages, keys } = ctx;
  const cursorKey = keys.cursor;
  return [
    personRoute<typeof Query>({
      ...declared,
      path: `${ORGANIZATION_MODE}/payments`,
      operationId: 'listOrganizationPayments',
      summary: 'List the payments of all accounts of an organization, newest first',
      response: listOf(withAccount(PaymentSchema, 'Payment')),
      handle: (request) =>
        answerMerged(db.standby, request, {
          list: 'organization payments',
          cursorKey,
          read: (sql, tenant, page) => selectPaymentPage(sql, { tenant, filters: {} }, page),
          render: (row) => renderPayment(row, pages),
        }),
    }),
    personRoute<typeof Query>({
      ...declared,
      path: `${ORGANIZATION_MODE}/refunds`,
      operationId: 'listOrganizationRefunds',
      summary: 'List the refunds of all accounts of an organization, newest first',
      response: listOf(withAccount(RefundSchema, 'Refund')),
      handle: (request) =>
        answerMerged(db.standby, request, {
          list: 'organization refunds',
          cursorKey,
          read: (sql, tenant, page) => selectRefundPage(sql, { tenant }, page),
          render: (row) => renderRefund(row, pages),
        }),
    }),
  ];
}
