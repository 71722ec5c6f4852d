import type { ReactNode } from 'react';
import './empty-state.css';

export interface EmptyStateProps {
  readonly title: string;
  /** What is missing and what one gets. */
  readonly children: ReactNode;
  /** The one thing to do. */
  readonly action?: ReactNode;
}

export function EmptyState({ title, children, action }: EmptyStateProps): ReactNode {
  return (
    <div className="empty">
      <h2>{title}</h2>
      <p className="soft">{children}</p>
      {action}
    </div>
  );
}
