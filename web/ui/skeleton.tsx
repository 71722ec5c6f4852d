import type { ReactNode } from 'react';
import { t } from './text/t.ts';

/** What is on its way: lines of text, the rows of a list, or the figures of a card. */
export type SkeletonShape = 'lines' | 'rows' | 'card';

const BARS: Readonly<Record<SkeletonShape, number>> = { lines: 3, rows: 8, card: 4 };

export interface SkeletonProps {
  readonly shape?: SkeletonShape;
  /** What a screen reader says. */
  readonly children?: string;
}

/** Keeps the room of what is being read, so that nothing jumps when it is there. */
export function Skeleton({
  shape = 'lines',
  children = t('ui.loading'),
}: SkeletonProps): ReactNode {
  return (
    <div
      className={shape === 'lines' ? 'skeleton' : `skeleton card skeleton-${shape}`}
      role="status"
    >
      <span className="unseen">{children}</span>
      {[...Array(BARS[shape]).keys()].map((place) => (
        <span key={place} className="skeleton-bar" aria-hidden="true" />
      ))}
    </div>
  );
}
