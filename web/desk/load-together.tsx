import { type Query, useIsFetching, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useLayoutEffect, useState } from 'react';
import { Skeleton } from '../ui/skeleton.tsx';

/** A response may trigger another request, which starts right after the render. */
const NEXT_QUESTION_MS = 20;

function isFirst({ state }: Query): boolean {
  return state.data === undefined && state.error === null;
}

/**
 * Shows several parts of a page at once, when all have their first response. Otherwise each part
 * that loads would push down those below it.
 */
export function LoadTogether({ children }: { readonly children: ReactNode }): ReactNode {
  const waiting = useIsFetching({ predicate: isFirst });
  const [isThere, setThere] = useState(false);
  const cache = useQueryClient().getQueryCache();
  // After Back, all responses are cached. Render them at once, so that the scroll position can be
  // restored.
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
