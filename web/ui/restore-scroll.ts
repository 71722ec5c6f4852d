import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react';
import { entryName } from './history-entry.ts';

/** Scroll position of each entry in the browser's history. */
const places = new Map<string, number>();

/** Events that end automatic scrolling, because they show that the user takes over. */
const TAKES_OVER = ['wheel', 'touchmove', 'keydown', 'pointerdown'] as const;

/** Calls `isDone` now and after each change of the page, until it returns true. */
function untilDone(main: HTMLElement, isDone: () => boolean): () => void {
  if (isDone()) return () => {};
  const ended = new AbortController();
  const end = () => {
    ended.abort();
    changes.disconnect();
    sizes.disconnect();
  };
  const look = () => {
    if (!ended.signal.aborted && isDone()) end();
  };
  const changes = new MutationObserver(look);
  const sizes = new ResizeObserver(look);
  changes.observe(main, { childList: true, subtree: true });
  sizes.observe(main);
  for (const name of TAKES_OVER) {
    window.addEventListener(name, end, { passive: true, signal: ended.signal });
  }
  return end;
}

/** Focuses the heading, which may appear later than the page's frame. */
function focusHeading(main: HTMLElement): () => void {
  return untilDone(main, () => {
    const heading = main.querySelector('h1');
    if (heading === null) return false;
    if (!main.contains(document.activeElement)) heading.focus({ preventScroll: true });
    return true;
  });
}

/** A page reaches its old height only when its rows have loaded. */
function scrollBackTo(main: HTMLElement, px: number): () => void {
  return untilDone(main, () => {
    window.scrollTo(0, px);
    return Math.abs(window.scrollY - px) < 2;
  });
}

/**
 * Works like a browser that loads a page: a link leads to the top of the page and its heading, and
 * Back restores the scroll position. Changing a filter on the same page does neither.
 */
export function useArrival(main: RefObject<HTMLElement | null>, path: string): void {
  const shown = useRef(path);
  /**
   * Target of the browser's Back or Forward. The browser scrolls the old page until the new one
   * renders, so the position is read immediately.
   */
  const backTo = useRef<{ readonly href: string; readonly px: number | undefined } | null>(null);
  useEffect(() => {
    const onScroll = () => places.set(entryName(), window.scrollY);
    const onBack = () => {
      backTo.current = { href: location.href, px: places.get(entryName()) };
    };
    window.addEventListener('scroll', onScroll, { passive: true });
    // Runs before the router handles the event and renders the page.
    window.addEventListener('popstate', onBack, { capture: true });
    return () => {
      window.removeEventListener('scroll', onScroll);
      window.removeEventListener('popstate', onBack, { capture: true });
    };
  }, []);
  useLayoutEffect(() => {
    const page = main.current;
    if (shown.current === path || page === null) return;
    shown.current = path;
    const back = backTo.current;
    backTo.current = null;
    if (back?.href === location.href) {
      // After a reload the position is unknown, and the browser itself restores it.
      return back.px === undefined ? undefined : scrollBackTo(page, back.px);
    }
    window.scrollTo(0, 0);
    return focusHeading(page);
  }, [main, path]);
}
