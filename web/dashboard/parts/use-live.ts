import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { fromRoot } from '../../data/root.ts';
import { useMerchant } from '../merchant.ts';
import { EVENT_TYPES } from './event-types.ts';

/** A busy till must not have every open page read its list ten times a second. */
const READ_EVERY_MS = 1_000;
/** After an answer that the browser does not ask again for: the session may be back by then. */
const OPEN_AGAIN_MS = 10_000;

/** Runs at once, and what is asked meanwhile once more when the time is over. */
function atMostEvery(ms: number, run: () => void): { ask(): void; stop(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isAsked = false;
  const ask = () => {
    if (timer !== undefined) {
      isAsked = true;
      return;
    }
    run();
    timer = setTimeout(() => {
      timer = undefined;
      if (!isAsked) return;
      isAsked = false;
      ask();
    }, ms);
  };
  return { ask, stop: () => clearTimeout(timer) };
}

/**
 * Follows the feed while the page is looked at. A hidden page lets go of it: browsers have six
 * connections for one server, and a tab that nobody sees must not hold one.
 */
function follow(path: string, types: readonly string[], onEvent: () => void): () => void {
  let source: EventSource | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const close = () => {
    clearTimeout(timer);
    source?.close();
    source = null;
  };
  const open = () => {
    close();
    if (document.visibilityState === 'hidden') return;
    const opened = new EventSource(fromRoot(path));
    // What happened between the last read and now is in no event: the feed starts here.
    opened.addEventListener('open', onEvent);
    for (const type of types) opened.addEventListener(type, onEvent);
    opened.addEventListener('error', () => {
      if (opened.readyState === EventSource.CLOSED) timer = setTimeout(open, OPEN_AGAIN_MS);
    });
    source = opened;
  };
  document.addEventListener('visibilitychange', open);
  open();
  return () => {
    document.removeEventListener('visibilitychange', open);
    close();
  };
}

/**
 * Reads a list again as soon as something of its kind happens.
 * @param family such as `payment.`: how the types of its events begin
 */
export function useLive(family: string, queryKey: readonly unknown[]): void {
  const cache = useQueryClient();
  const { account, mode } = useMerchant();
  const path = `api/dashboard/v1/accounts/${account.id}/${mode}/feed`;
  const key = JSON.stringify(queryKey);
  useEffect(() => {
    const read = () => void cache.invalidateQueries({ queryKey: JSON.parse(key), exact: true });
    const { ask, stop } = atMostEvery(READ_EVERY_MS, read);
    const types = EVENT_TYPES.filter((type) => type.startsWith(family));
    const leave = follow(path, types, ask);
    return () => {
      leave();
      stop();
    };
  }, [cache, path, key, family]);
}
