import type { ReactNode } from 'react';
import { t } from './text/t.ts';

/**
 * The shape of the content that is loading: lines of text, rows of a list, or figures of a card.
 */
export type SkeletonShape = 'lines' | 'rows' | 'card';

const BARS: Readonly<Record<SkeletonShape, number>> = { lines: 3, rows: 8, card: 4 };

export interface SkeletonProps {
  readonly shape?: SkeletonShape;
  /** Text for screen readers. */
  readonly children?: string;
}

/** Reserves the space of loading content, so that nothing shifts when it arrives. */
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
      {[...Array(BARS[shape]).keys()].map((index) => (
        <span key={index} className="skeleton-bar" aria-hidden="true" />
      ))}
    </div>
  );
}
