/** A page of any list of the service. */
export interface ListPage<Row> {
  readonly data: readonly Row[];
  readonly has_more?: boolean;
  readonly next_cursor?: string | null;
}

/** One page of a list that somebody has walked through. */
export interface WalkedPage {
  /** undefined: the list's beginning. */
  readonly cursor: string | undefined;
  /** null: the last page. undefined: it has not come yet. */
  readonly next: string | null | undefined;
  readonly count: number;
}

/** How far somebody has come in a list, in whole pages. There is always a first one. */
export type Walk = readonly [WalkedPage, ...WalkedPage[]];

export function startWalk(cursor: string | undefined): Walk {
  return [{ cursor, next: undefined, count: 0 }];
}

/**
 * What a page has, when it comes and when it comes again. A page begins where the one before ends:
 * when that place has moved, what was walked behind it is walked again. So no row is missed, and
 * none is there twice.
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

/** One page more, if there is one and it is known where it begins. */
export function walkOn(walk: Walk): Walk {
  const next = walk.at(-1)?.next;
  if (next === undefined || next === null) return walk;
  return [...walk, { cursor: next, next: undefined, count: 0 }];
}

/** How many rows stand before a page. */
export function rowsBefore(walk: Walk, index: number): number {
  return walk.slice(0, index).reduce((sum, { count }) => sum + count, 0);
}

/** All rows of the list; null while its end is not known. */
export function totalRows(walk: Walk): number | null {
  return walk.at(-1)?.next === null ? rowsBefore(walk, walk.length) : null;
}

/** Pages that touch this part of the list, and the one that has not come yet. */
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

/** The rows that were shown, as they are by now. */
export function refreshed<Row>(
  shown: readonly Row[],
  now: readonly Row[],
  keyOf: (row: Row) => string,
): readonly Row[] {
  const byKey = new Map(now.map((row) => [keyOf(row), row]));
  return shown.map((row) => byKey.get(keyOf(row)) ?? row);
}

/**
 * The first page without the rows that have left the list: those before one that is still in it,
 * and all that are missing from a list of one page. What is missing at the end may only have been
 * pushed down by newer rows.
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

/** How many rows have come before those that are shown. */
export function countNewer<Row>(
  shown: readonly Row[],
  now: readonly Row[],
  keyOf: (row: Row) => string,
): number {
  const known = new Set(shown.map(keyOf));
  const first = now.findIndex((row) => known.has(keyOf(row)));
  return first === -1 ? now.length : first;
}
