export interface ListPage<Row> {
  readonly data: readonly Row[];
  readonly has_more?: boolean;
  readonly next_cursor?: string | null;
}

/** A page of a list that the user has reached. */
export interface PageState {
  /** `undefined` for the first page. */
  readonly cursor: string | undefined;
  /** `null` on the last page, `undefined` while it has not loaded. */
  readonly next: string | null | undefined;
  readonly count: number;
}

/** The pages of a list that the user has reached. There is always a first one. */
export type Pagination = readonly [PageState, ...PageState[]];

export function startPagination(cursor: string | undefined): Pagination {
  return [{ cursor, next: undefined, count: 0 }];
}

/**
 * Updates the state when a page loads or reloads. Each page begins where the previous one ends. If
 * that boundary has moved, the later pages are loaded again, so that no row is missing or
 * duplicated.
 */
export function withPage(
  pagination: Pagination,
  index: number,
  { count, next }: Pick<PageState, 'count' | 'next'>,
): Pagination {
  const page = pagination[index];
  if (page === undefined || (page.count === count && page.next === next)) return pagination;
  const hasMoved = page.next !== undefined && page.next !== next;
  const after = hasMoved ? [] : pagination.slice(index + 1);
  const [first = page, ...rest] = [
    ...pagination.slice(0, index),
    { ...page, count, next },
    ...after,
  ];
  return [first, ...rest];
}

/** Adds the next page if there is one and its cursor is known. */
export function withNextPage(pagination: Pagination): Pagination {
  const next = pagination.at(-1)?.next;
  if (next === undefined || next === null) return pagination;
  return [...pagination, { cursor: next, next: undefined, count: 0 }];
}

export function rowsBefore(pagination: Pagination, index: number): number {
  return pagination.slice(0, index).reduce((sum, { count }) => sum + count, 0);
}

/** Returns the number of rows in the list, or `null` while its end is unknown. */
export function totalRows(pagination: Pagination): number | null {
  return pagination.at(-1)?.next === null ? rowsBefore(pagination, pagination.length) : null;
}

/**
 * Returns the pages that overlap this range of the list, and the next one that has not loaded yet.
 */
export function pagesWithin(
  pagination: Pagination,
  {
    heightOf,
    fromPx,
    toPx,
  }: {
    readonly heightOf: (index: number) => number;
    readonly fromPx: number;
    readonly toPx: number;
  },
): number[] {
  let top = 0;
  const within: number[] = [];
  for (const [index, page] of pagination.entries()) {
    const bottom = top + heightOf(index);
    const isTouched = bottom >= fromPx && top <= toPx;
    if (isTouched || page.next === undefined) within.push(index);
    top = bottom;
  }
  return within;
}

/** Returns the rows on screen, with their latest values. */
export function refreshed<Row>(
  shown: readonly Row[],
  now: readonly Row[],
  keyOf: (row: Row) => string,
): readonly Row[] {
  const byKey = new Map(now.map((row) => [keyOf(row), row]));
  return shown.map((row) => byKey.get(keyOf(row)) ?? row);
}

/**
 * Returns the first page as shown (`head`), without rows that have left the list. A row that the
 * latest response (`live`) lacks has left if a later row is still there, or if the list has one
 * page. Otherwise it may have moved to the next page.
 */
export function withoutGone<Row>(
  head: ListPage<Row>,
  live: { readonly page: ListPage<Row>; readonly isWhole: boolean },
  keyOf: (row: Row) => string,
): ListPage<Row> {
  const there = new Set(live.page.data.map(keyOf));
  const isThere = (row: Row) => there.has(keyOf(row));
  const until = live.isWhole ? head.data.length : head.data.findLastIndex(isThere);
  const data = head.data.filter((row, index) => index >= until || isThere(row));
  return data.length === head.data.length ? head : { ...head, data };
}

export function countNewer<Row>(
  shown: readonly Row[],
  now: readonly Row[],
  keyOf: (row: Row) => string,
): number {
  const known = new Set(shown.map(keyOf));
  const first = now.findIndex((row) => known.has(keyOf(row)));
  return first === -1 ? now.length : first;
}
