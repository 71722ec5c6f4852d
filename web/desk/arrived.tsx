import { type Query, useIsFetching, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useLayoutEffect, useState } from 'react';
import { Skeleton } from '../ui/skeleton.tsx';

/** An answer may lead to the next question: it is asked right after the answer is drawn. */
const NEXT_QUESTION_MS = 20;

function isFirst({ state }: Query): boolean {
  return state.data === undefined && state.error === null;
}

/**
 * Shows several parts of a page together, once each has its first answer. One after the other,
 * those below would move whenever one above came.
 */
export function Arrived({ children }: { readonly children: ReactNode }): ReactNode {
  const waiting = useIsFetching({ predicate: isFirst });
  const [isThere, setThere] = useState(false);
  const cache = useQueryClient().getQueryCache();
  // After Back all answers are kept: drawn at once, the page is scrolled to where it was.
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
