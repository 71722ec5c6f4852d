import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react';
import { entryName } from './history-entry.ts';

/** Where each entry of the browser's history was scrolled to. */
const places = new Map<string, number>();

/** Somebody who scrolls or types has taken over. */
const TAKES_OVER = ['wheel', 'touchmove', 'keydown', 'pointerdown'] as const;

/** Calls it until it says that it is done: now, and each time the page becomes another one. */
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

/** The heading may come with the page's code, which is not always there yet. */
function focusHeading(main: HTMLElement): () => void {
  return untilDone(main, () => {
    const heading = main.querySelector('h1');
    if (heading === null) return false;
    if (!main.contains(document.activeElement)) heading.focus({ preventScroll: true });
    return true;
  });
}

/** A page is as tall as before only when it has its rows again. */
function scrollBackTo(main: HTMLElement, px: number): () => void {
  return untilDone(main, () => {
    window.scrollTo(0, px);
    return Math.abs(window.scrollY - px) < 2;
  });
}

/**
 * What a browser does when it loads a page: one that a link leads to begins at its top and with its
 * heading, and Back leads to where one was. Another filter of the same page changes neither.
 */
export function useArrival(main: RefObject<HTMLElement | null>, path: string): void {
  const shown = useRef(path);
  /**
   * Where the browser's own Back or Forward leads to. Until that page is drawn the browser scrolls
   * what is still shown, so the place is looked up at once.
   */
  const backTo = useRef<{ readonly href: string; readonly px: number | undefined } | null>(null);
  useEffect(() => {
    const onScroll = () => places.set(entryName(), window.scrollY);
    const onBack = () => {
      backTo.current = { href: location.href, px: places.get(entryName()) };
    };
    window.addEventListener('scroll', onScroll, { passive: true });
    // Before the router hears of it and draws the page.
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
      // Unknown after a reload: then the browser itself leads back.
      return back.px === undefined ? undefined : scrollBackTo(page, back.px);
    }
    window.scrollTo(0, 0);
    return focusHeading(page);
  }, [main, path]);
}
