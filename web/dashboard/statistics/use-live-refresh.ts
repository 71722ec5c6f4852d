import { type QueryFilters, useQueryClient } from '@tanstack/react-query';
import { useEffect, useEffectEvent } from 'react';
import { fromRoot } from '../../data/root-path.ts';
import { useMerchant } from '../use-merchant.ts';
import { EVENT_TYPES } from '../webhooks/event-types.ts';

/** Limits how often a busy till makes an open page reload its list. */
const READ_EVERY_MS = 1_000;
/**
 * Delay before the stream is opened again after an error response, which EventSource does not
 * retry. The session may be valid again by then.
 */
const OPEN_AGAIN_MS = 10_000;

/**
 * Limits how often `run` is called. `ask` calls it immediately; calls of `ask` during the pause
 * cause one call after the pause. `stop` tells whether one is due.
 */
function atMostEvery(ms: number, run: () => void): { ask(): void; stop(): boolean } {
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
  const stop = () => {
    clearTimeout(timer);
    return isAsked;
  };
  return { ask, stop };
}

/**
 * Follows the event stream while the page is visible. A hidden page closes it, because browsers
 * open only six connections to one server.
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
    // Reads again, because events between the last read and the start of the stream were missed.
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
 * Reloads what is shown whenever an event of one of the families occurs.
 * @param families Prefixes of the event types, for example `payment.`, separated by spaces.
 */
function useReload(families: string, filters: QueryFilters): void {
  const cache = useQueryClient();
  const { account, mode } = useMerchant();
  const path = `api/dashboard/v1/accounts/${account.id}/${mode}/feed`;
  const reload = useEffectEvent(() => void cache.invalidateQueries(filters));
  useEffect(() => {
    const { ask, stop } = atMostEvery(READ_EVERY_MS, reload);
    const types = EVENT_TYPES.filter((type) =>
      families.split(' ').some((family) => type.startsWith(family)),
    );
    const leave = follow(path, types, ask);
    return () => {
      leave();
      // The next page may show the same answer, and would take the kept one for fresh.
      if (stop()) reload();
    };
  }, [path, families]);
}

/** Reloads a list whenever an event of its family occurs. */
export function useLive(family: string, queryKey: readonly unknown[]): void {
  useReload(family, { queryKey, exact: true });
}

/** Reloads the answers of these operations after each sale and refund, once for all. */
export function useLiveSales(operations: readonly string[]): void {
  const { scope } = useMerchant();
  useReload('payment. refund. offline_payment.', {
    queryKey: scope,
    predicate: ({ queryKey }) => operations.includes(String(queryKey[scope.length])),
  });
}
