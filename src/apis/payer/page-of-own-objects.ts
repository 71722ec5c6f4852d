import Type, { type Static } from 'typebox';
import { payerOfCaller } from '#apis/payer/authenticate-payer.ts';
import { type PayerRoute, payerRoute } from '#apis/payer/payer-route.ts';
import { type Answer, answerWith, isRefusal, type Refusal } from '#core/answer.ts';
import type { Sql } from '#db/database.ts';
import {
  cursorInvalid,
  DEFAULT_PAGE_SIZE,
  openCursor,
  type Pagination,
  sealCursor,
} from '#http/cursors.ts';
import type { ResponseDeclaration } from '#http/route.ts';
import { pageParameters } from '#http/schema.ts';
import { type OwnPage, type OwnPlace, placeOf } from '#payers/list-active-first.ts';
import type { ApiContext } from '#payments/api-context.ts';

const OwnQuery = Type.Object(pageParameters);

type OwnRow = Parameters<typeof placeOf>[0];

interface OwnList<Row extends OwnRow> {
  /** The name of the objects, such as `passes`. */
  readonly of: string;
  readonly path: string;
  readonly operationId: string;
  readonly response: ResponseDeclaration;
  readonly select: (sql: Sql, payerId: string, page: OwnPage) => Promise<readonly Row[]>;
  readonly render: (
    rows: readonly Row[],
    input: { readonly livemode: boolean; readonly now: Date },
  ) => Promise<readonly object[]> | readonly object[];
}

export function ownListRoute<Row extends OwnRow>(ctx: ApiContext, list: OwnList<Row>): PayerRoute {
  return payerRoute<typeof OwnQuery>({
    method: 'GET',
    path: list.path,
    operationId: list.operationId,
    moves: 'nothing',
    summary: `List the payer's ${list.of}: active ones first, then newest first`,
    query: OwnQuery,
    responses: { 200: list.response },
    errors: ['cursor_invalid'],
    handle: async ({ caller, query, now }) => {
      const { id, livemode } = payerOfCaller(caller);
      const { tenant } = caller;
      const cursorKey = ctx.keys.cursor;
      const pagination = { list: `${list.of} of a payer`, tenant, query, cursorKey };
      const page = readOwnPage(pagination, query);
      if (isRefusal(page)) return page;
      const rows = await list.select(ctx.db, id, page);
      return answerOwnPage(pagination, page, rows, (shown) =>
        list.render(shown, { livemode, now }),
      );
    },
  });
}

const ACTIVE_BYTES = 1;
const CREATED_BYTES = 8;

function toBytes({ active, created, id }: OwnPlace): Buffer {
  const fixed = Buffer.alloc(ACTIVE_BYTES + CREATED_BYTES);
  fixed.writeUInt8(active ? 1 : 0, 0);
  fixed.writeBigInt64BE(BigInt(created.getTime()), ACTIVE_BYTES);
  return Buffer.concat([fixed, Buffer.from(id)]);
}

function toPlace(bytes: Buffer): OwnPlace | Refusal {
  const idAt = ACTIVE_BYTES + CREATED_BYTES;
  if (bytes.length <= idAt) return cursorInvalid();
  return {
    active: bytes.readUInt8(0) === 1,
    created: new Date(Number(bytes.readBigInt64BE(ACTIVE_BYTES))),
    id: bytes.subarray(idAt).toString(),
  };
}

function readOwnPage(pagination: Pagination, query: Static<typeof OwnQuery>): OwnPage | Refusal {
  const { limit = DEFAULT_PAGE_SIZE, cursor } = query;
  if (cursor === undefined) return { limit, after: null };
  const bytes = openCursor(pagination, cursor);
  const after = isRefusal(bytes) ? bytes : toPlace(bytes);
  return isRefusal(after) ? after : { limit, after };
}

/** Replaces the extra row, which shows that there is a next page, with that page's cursor. */
async function answerOwnPage<Row extends OwnRow>(
  pagination: Pagination,
  page: OwnPage,
  rows: readonly Row[],
  render: (rows: readonly Row[]) => Promise<readonly object[]> | readonly object[],
): Promise<Answer> {
  const shown = rows.slice(0, page.limit);
  const last = rows.length > page.limit ? shown.at(-1) : undefined;
  return answerWith(200, {
    object: 'list',
    data: await render(shown),
    has_more: last !== undefined,
    next_cursor: last === undefined ? null : sealCursor(pagination, toBytes(placeOf(last))),
  });
}
