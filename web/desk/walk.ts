/** One page of any list of the API. */
export interface ListPage<Row> {
  readonly data: readonly Row[];
  readonly has_more?: boolean;
  readonly next_cursor?: string | null;
}

/** A page of a list that the user has reached. */
export interface WalkedPage {
  /** `undefined` for the first page. */
  readonly cursor: string | undefined;
  /** `null` on the last page, `undefined` while it has not loaded. */
  readonly next: string | null | undefined;
  readonly count: number;
}

/** The pages of a list that the user has reached. There is always a first one. */
export type Walk = readonly [WalkedPage, ...WalkedPage[]];

export function startWalk(cursor: string | undefined): Walk {
  return [{ cursor, next: undefined, count: 0 }];
}

/**
 * Updates the state when a page loads or reloads. Each page begins where the previous one ends. If
 * that boundary has moved, the pages after it are loaded again, so that no row is missing or
 * duplicated.
 */
export function withPage(
  walk: Walk,
  index: number,
  { count, next }: Pick<WalkedPage, 'count' | 'next'>,
): Walk {
  const page = walk[index];
  if (page === undefined || (page.count === count && page.next === next)) return walk;
  const hasMoved = page.next !== undefined && page.next !== next;
  const after = hasMoved ? [] : walk.slice(index + 1);
  const [first = page, ...rest] = [...walk.slice(0, index), { ...page, count, next }, ...after];
  return [first, ...rest];
}

/** Adds the next page if there is one and its cursor is known. */
export function walkOn(walk: Walk): Walk {
  const next = walk.at(-1)?.next;
  if (next === undefined || next === null) return walk;
  return [...walk, { cursor: next, next: undefined, count: 0 }];
}

/** Returns the number of rows before a page. */
export function rowsBefore(walk: Walk, index: number): number {
  return walk.slice(0, index).reduce((sum, { count }) => sum + count, 0);
}

/** Returns the number of rows in the list, or `null` while its end is unknown. */
export function totalRows(walk: Walk): number | null {
  return walk.at(-1)?.next === null ? rowsBefore(walk, walk.length) : null;
}

/**
 * Returns the pages that overlap this range of the list, and the next one that has not loaded yet.
 */
export function pagesWithin(
  walk: Walk,
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
  for (const [index, page] of walk.entries()) {
    const bottom = top + heightOf(index);
    const isTouched = bottom >= fromPx && top <= toPx;
    if (isTouched || page.next === undefined) within.push(index);
    top = bottom;
  }
  return within;
}

/** Returns the rows on screen with their latest values. */
export function refreshed<Row>(
  shown: readonly Row[],
  now: readonly Row[],
  keyOf: (row: Row) => string,
): readonly Row[] {
  const byKey = new Map(now.map((row) => [keyOf(row), row]));
  return shown.map((row) => byKey.get(keyOf(row)) ?? row);
}

/**
 * Returns the first page without rows that have left the list. A missing row has left if a row
 * after it is still listed, or if the list has one page. A missing row at the end may only have
 * moved to the next page.
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

/** Returns the number of new rows above those on screen. */
export function countNewer<Row>(
  shown: readonly Row[],
  now: readonly Row[],
  keyOf: (row: Row) => string,
): number {
  const known = new Set(shown.map(keyOf));
  const first = now.findIndex((row) => known.has(keyOf(row)));
  return first === -1 ? now.length : first;
}
