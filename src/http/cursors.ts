import { createHmac } from 'node:crypto';
import { type Answer, answerWith, isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { equalInConstantTime, keysOf } from '#core/bearer-secrets.ts';
import { canonicalJson, type Json } from '#core/canonical-json.ts';
import type { Tenant } from '#core/mode.ts';
import type { Page, Place } from '#db/paging.ts';

export const DEFAULT_PAGE_SIZE = 20;

/** The scope of a cursor: it is invalid for another list, account, mode or filter. */
export interface Pagination {
  readonly list: string;
  readonly tenant: Tenant;
  /** The query as the client sent it. Only `limit` and `cursor` may differ from page to page. */
  readonly query: Readonly<Record<string, unknown>>;
  readonly cursorKey: Buffer;
}

const CREATED_BYTES = 8;
/** The length of an encoded position. */
export const PLACE_BYTES = 16;
const MAC_BYTES = 16;

function mac(pagination: Pagination, position: Buffer, key: Buffer): Buffer {
  const { limit: _limit, cursor: _cursor, ...filters } = pagination.query;
  const context = canonicalJson([
    pagination.list,
    pagination.tenant.accountId,
    pagination.tenant.livemode,
    filters as { [key: string]: Json },
  ]);
  return createHmac('sha256', key).update(position).update(context).digest().subarray(0, MAC_BYTES);
}

/** Returns a cursor for this position, valid only for this pagination. */
export function sealCursor(pagination: Pagination, position: Buffer): string {
  return Buffer.concat([position, mac(pagination, position, pagination.cursorKey)]).toString(
    'base64url',
  );
}

export function encodePlace({ created, position }: Place): Buffer {
  const encoded = Buffer.alloc(PLACE_BYTES);
  encoded.writeBigInt64BE(BigInt(created.getTime()), 0);
  encoded.writeBigInt64BE(position, CREATED_BYTES);
  return encoded;
}

export function readPlace(position: Buffer): Place {
  return {
    created: new Date(Number(position.readBigInt64BE(0))),
    position: position.readBigInt64BE(CREATED_BYTES),
  };
}

export function encodeCursor(pagination: Pagination, at: Place): string {
  return sealCursor(pagination, encodePlace(at));
}

export function cursorInvalid(): Refusal {
  return refuse(
    'cursor_invalid',
    'This cursor does not belong to this list with these filters. Send next_cursor ' +
      'unchanged, with the same filters as for the first page; omit cursor for the first ' +
      'page.',
    'cursor',
  );
}

/**
 * Verifies a cursor and returns the encoded position in it; refuses one from another pagination.
 */
export function openCursor(pagination: Pagination, cursor: string): Buffer | Refusal {
  const bytes = Buffer.from(cursor, 'base64url');
  // Node's decoder skips unknown characters, so check that encoding the bytes gives the same text.
  if (bytes.length <= MAC_BYTES || bytes.toString('base64url') !== cursor) return cursorInvalid();
  const position = bytes.subarray(0, -MAC_BYTES);
  const sent = bytes.subarray(-MAC_BYTES);
  const isOurs = keysOf(pagination.cursorKey).some((key) =>
    equalInConstantTime(sent, mac(pagination, position, key)),
  );
  return isOurs ? position : cursorInvalid();
}

export function decodeCursor(pagination: Pagination, cursor: string): Place | Refusal {
  const position = openCursor(pagination, cursor);
  if (isRefusal(position)) return position;
  return position.length === PLACE_BYTES ? readPlace(position) : cursorInvalid();
}

export interface PageQuery {
  readonly limit?: number;
  readonly cursor?: string;
  readonly created_gte?: string;
  readonly created_lt?: string;
}

/** Parses an optional query parameter as a time. */
export function readDate(text: string | undefined, param: string): Date | null | Refusal {
  if (text === undefined) return null;
  const date = new Date(text);
  if (!Number.isNaN(date.getTime())) return date;
  return refuse('parameter_invalid', `${param} must be an ISO 8601 date and time.`, param);
}

export function readPage(pagination: Pagination, query: PageQuery): Page | Refusal {
  const after = query.cursor === undefined ? null : decodeCursor(pagination, query.cursor);
  if (isRefusal(after)) return after;
  const createdGte = readDate(query.created_gte, 'created_gte');
  if (isRefusal(createdGte)) return createdGte;
  const createdLt = readDate(query.created_lt, 'created_lt');
  if (isRefusal(createdLt)) return createdLt;
  return { limit: query.limit ?? DEFAULT_PAGE_SIZE, after, createdGte, createdLt };
}

/**
 * Drops the extra row that shows whether there is a next page, and adds the cursor of that page.
 * `about` holds the list's own fields.
 */
export function answerPage<Row extends Place>(
  pagination: Pagination,
  page: Page,
  rows: readonly Row[],
  render: (row: Row) => object,
  about: object = {},
): Answer {
  const shown = rows.slice(0, page.limit);
  const last = rows.length > page.limit ? shown.at(-1) : undefined;
  return answerWith(200, {
    object: 'list',
    data: shown.map(render),
    has_more: last !== undefined,
    next_cursor: last === undefined ? null : encodeCursor(pagination, last),
    ...about,
  });
}

/** Answers a list request: reads the page that it asks for, with one more row, and renders it. */
export async function answerList<Row extends Place>(
  pagination: Pagination & { readonly query: PageQuery },
  read: (page: Page) => Promise<readonly Row[]>,
  render: (row: Row) => object,
): Promise<Answer | Refusal> {
  const page = readPage(pagination, pagination.query);
  return isRefusal(page) ? page : answerPage(pagination, page, await read(page), render);
}
