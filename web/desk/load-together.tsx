import { type Query, useIsFetching, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useLayoutEffect, useState } from 'react';
import { Skeleton } from '../ui/skeleton.tsx';

/** Pause after a render, because a response may start another request right after it. */
const NEXT_QUESTION_MS = 20;

function isFirst({ state }: Query): boolean {
  return state.data === undefined && state.error === null;
}

/**
 * Shows several parts of a page together, once all have their first response. Otherwise each part
 * that loads would push down the parts below it.
 */
export function LoadTogether({ children }: { readonly children: ReactNode }): ReactNode {
  const waiting = useIsFetching({ predicate: isFirst });
  const [isThere, setThere] = useState(false);
  const cache = useQueryClient().getQueryCache();
  // After Back, all responses are cached. Shows them immediately, so that the scroll position can
  // be restored.
  useLayoutEffect(() => {
    if (!cache.getAll().some(isFirst)) setThere(true);
  }, [cache]);
  useEffect(() => {
    if (isThere || waiting > 0) return;
    const timer = setTimeout(() => setThere(true), NEXT_QUESTION_MS);
    return () => clearTimeout(timer);
  }, [isThere, waiting]);
  return (
    <>
      {isThere ? null : <Skeleton shape="card" />}
      <div className="stack" hidden={!isThere}>
        {children}
      </div>
    </>
  );
}
