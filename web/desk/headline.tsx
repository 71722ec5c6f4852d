import type { ReactNode } from 'react';
import { CopyId } from '../ui/copy-id.tsx';
import { ObjectStatus } from '../ui/status.tsx';

export interface HeadlineProps {
  readonly of: { readonly id: string; readonly status: string };
  /** The name or the amount of the object. */
  readonly children: ReactNode;
}

export function Headline({ of: { id, status }, children }: HeadlineProps): ReactNode {
  return (
    <div className="headline">
      {children}
      <ObjectStatus status={status} />
      <CopyId id={id} />
    </div>
  );
}
