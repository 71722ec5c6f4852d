import { useQueryClient } from '@tanstack/react-query';
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { entryName } from '../ui/history-entry.ts';
import {
  type ListPage,
  type Pagination,
  pagesWithin,
  startPagination,
  withNextPage,
  withPage,
} from './pagination.ts';

/**
 * Browsers clip taller elements (Firefox at 17.9 million px), so a list that reaches this height
 * starts over.
 */
const LONGEST_PX = 15_000_000;
/** Assumed height of a page until it is rendered and measured. */
const UNSEEN_PX = 1_000;

/** The state kept for Back when the user leaves a list. */
interface Kept<Row> {
  readonly head: ListPage<Row>;
  readonly pagination: Pagination;
  readonly heights: ReadonlyMap<number, number>;
  readonly scrolledPx: number;
}

function sameNumbers(one: readonly number[], other: readonly number[]): boolean {
  return one.length === other.length && one.every((number, index) => number === other[index]);
}

/**
 * Returns the page that holds the focus. It stays rendered; otherwise the next Tab would start at
 * the top of the document.
 */
function focusedPage(): number | null {
  const body = document.activeElement?.closest('tbody[data-page]');
  return body instanceof HTMLElement ? Number(body.dataset.page) : null;
}

export interface PaginationView<Row> {
  /** The first page as it was when the start of the list was last on screen. */
  readonly head: ListPage<Row>;
  setHead(head: ListPage<Row>): void;
  readonly pagination: Pagination;
  /** Indexes of the rendered pages, in order. */
  readonly drawn: readonly number[];
  /** Returns the height of pages `from` up to, but not including, `to`. */
  roomOf(from: number, to: number): number;
  note(index: number, page: { readonly count: number; readonly next: string | null }): void;
  goOn(): void;
  readonly isTooLong: boolean;
  isAtTop(): boolean;
}

export interface PaginationInput<Row> {
  readonly place: RefObject<HTMLElement | null>;
  readonly scope: readonly string[];
  readonly cursor: string | undefined;
  readonly live: ListPage<Row>;
}

type Heights = Map<number, number>;

function roomIn(heights: Heights, from: number, to: number): number {
  let px = 0;
  for (let at = from; at < to; at++) px += heights.get(at) ?? UNSEEN_PX;
  return px;
}

/** Returns the pages near the viewport at the list's current scroll position. */
function lookAround(list: HTMLElement, pagination: Pagination, heights: Heights) {
  for (const body of list.querySelectorAll<HTMLElement>('tbody[data-page]')) {
    heights.set(Number(body.dataset.page), body.offsetHeight);
  }
  const { top } = list.getBoundingClientRect();
  const screen = window.innerHeight;
  const heightOf = (index: number) => roomIn(heights, index, index + 1);
  const within = pagesWithin(pagination, {
    heightOf,
    fromPx: -top - screen,
    toPx: -top + 2 * screen,
  });
  const focused = focusedPage();
  if (focused !== null && focused < pagination.length) within.push(focused);
  const room = roomIn(heights, 0, pagination.length);
  const isEndNear = top + room < 2.5 * screen && room < LONGEST_PX;
  return { drawn: [...new Set(within)].sort((one, other) => one - other), isEndNear };
}

/**
 * Calls `look` once per frame in which the page was scrolled or resized.
 * @returns the scroll position in px, or `null` before the first frame.
 */
function useScrolled(look: () => void): RefObject<number | null> {
  const scrolledPx = useRef<number | null>(null);
  useEffect(() => {
    let frame = 0;
    const onScroll = () => {
      scrolledPx.current = window.scrollY;
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(look);
    };
    window.addEventListener('scroll', onScroll, { passive: true });
    window.addEventListener('resize', onScroll);
    return () => {
      cancelAnimationFrame(frame);
      window.removeEventListener('scroll', onScroll);
      window.removeEventListener('resize', onScroll);
    };
  }, [look]);
  return scrolledPx;
}

/** Renders the pages near the screen, loads the next one ahead of time, and keeps the position. */
export function usePagination<Row>({
  place,
  scope,
  cursor,
  live,
}: PaginationInput<Row>): PaginationView<Row> {
  const cache = useQueryClient();
  // Each history entry has its own pagination state.
  const [key] = useState(() => ['pagination', ...scope, entryName()]);
  const [before] = useState(() => cache.getQueryData<Kept<Row>>(key));
  const [head, setHead] = useState(before?.head ?? live);
  const [pagination, setPagination] = useState<Pagination>(
    before?.pagination ?? startPagination(cursor),
  );
  const [drawn, setDrawn] = useState<readonly number[]>(before === undefined ? [0] : []);
  const heights = useRef<Heights>(new Map(before?.heights));
  const roomOf = useCallback((from: number, to: number) => roomIn(heights.current, from, to), []);
  const look = useCallback(() => {
    if (place.current === null) return;
    const seen = lookAround(place.current, pagination, heights.current);
    setDrawn((now) => (sameNumbers(now, seen.drawn) ? now : seen.drawn));
    if (seen.isEndNear) setPagination(withNextPage);
  }, [place, pagination]);
  useLayoutEffect(() => {
    if (before !== undefined) window.scrollTo(0, before.scrolledPx);
    // A filter was changed far down the list, so scroll to the top of the new list.
    return () => window.scrollTo(0, 0);
  }, [before]);
  useLayoutEffect(() => look());
  const scrolledPx = useScrolled(look);
  useEffect(
    () => () => {
      const kept = {
        head,
        pagination,
        heights: heights.current,
        scrolledPx: scrolledPx.current ?? 0,
      };
      cache.setQueryData<Kept<Row>>(key, kept);
    },
    [cache, key, head, pagination, scrolledPx],
  );
  const note = useCallback(
    (index: number, page: { readonly count: number; readonly next: string | null }) =>
      setPagination((now) => withPage(now, index, page)),
    [],
  );
  const goOn = () => setPagination(withNextPage);
  const isTooLong = roomOf(0, pagination.length) >= LONGEST_PX;
  // After Back, the scroll position is restored after the first effects. Until then, the list does
  // not count as scrolled to its top.
  const isOnTheWayBack = () => scrolledPx.current === null && (before?.scrolledPx ?? 0) > 0;
  const isAtTop = () => !isOnTheWayBack() && (place.current?.getBoundingClientRect().top ?? 0) >= 0;
  return { head, setHead, pagination, drawn, roomOf, note, goOn, isTooLong, isAtTop };
}
