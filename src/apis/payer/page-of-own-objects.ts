import Type from 'typebox';
import { type Answer, answerWith, isRefusal, type Refusal } from '#core/answer.ts';
import {
  cursorInvalid,
  DEFAULT_PAGE_SIZE,
  openCursor,
  type Pagination,
  sealCursor,
} from '#http/cursors.ts';
import { pageParameters } from '#http/schema.ts';
import { type OwnPage, type OwnPlace, placeOf } from '#payers/list-active-first.ts';

const { limit, cursor } = pageParameters;

/** Query parameters of the lists of a payer's own objects. */
export const OwnQuery = Type.Object({ limit, cursor });

type OwnQuery = { readonly limit?: number; readonly cursor?: string };

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

export function readOwnPage(pagination: Pagination, query: OwnQuery): OwnPage | Refusal {
  const { limit = DEFAULT_PAGE_SIZE, cursor } = query;
  if (cursor === undefined) return { limit, after: null };
  const bytes = openCursor(pagination, cursor);
  const after = isRefusal(bytes) ? bytes : toPlace(bytes);
  return isRefusal(after) ? after : { limit, after };
}

/**
 * Returns the response with one page. Replaces the extra row, which shows that there is a next
 * page, with that page's cursor.
 */
export async function answerOwnPage<Row extends Parameters<typeof placeOf>[0]>(
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
