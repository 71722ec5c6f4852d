import { lazy, type ReactNode, Suspense } from 'react';
import type { DrawingName } from './drawings.tsx';

/** Later than the words, which say it all: without a network there is none. */
const Drawn = lazy(() => import('./drawings.tsx').catch(() => ({ default: () => null })));

/** Its place is kept until it comes. */
export function EmptyDrawing({ name }: { readonly name: DrawingName }): ReactNode {
  return (
    <div className="empty-drawing">
      <Suspense>
        <Drawn name={name} />
      </Suspense>
    </div>
  );
}
