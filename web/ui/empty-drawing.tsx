import { lazy, type ReactNode, Suspense } from 'react';
import type { DrawingName } from './drawings.tsx';

/** Loads after the text, which is sufficient without it. Offline there is no drawing. */
const Drawn = lazy(() => import('./drawings.tsx').catch(() => ({ default: () => null })));

/** Reserves the drawing's space until it has loaded. */
export function EmptyDrawing({ name }: { readonly name: DrawingName }): ReactNode {
  return (
    <div className="empty-drawing">
      <Suspense>
        <Drawn name={name} />
      </Suspense>
    </div>
  );
}
