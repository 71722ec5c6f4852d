import type { ReactNode } from 'react';
import './empty-state.css';

export interface EmptyStateProps {
  readonly title: string;
  readonly drawing?: ReactNode;
  /** Text that names the missing thing and its benefit. */
  readonly children: ReactNode;
  readonly action?: ReactNode;
}

export function EmptyState({ title, drawing, children, action }: EmptyStateProps): ReactNode {
  return (
    <div className="empty">
      {drawing}
      <h2>{title}</h2>
      <p className="soft">{children}</p>
      {action}
    </div>
  );
}
