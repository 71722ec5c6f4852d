import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Time } from '../../ui/time.tsx';

/** The time of the data on screen. Nothing is shown as healthy unless it was measured. */
export function Measured({ query }: { readonly query: UseQueryResult<unknown> }): ReactNode {
  if (query.data === undefined) return null;
  return (
    <p className="soft small">
      Measured <Time at={new Date(query.dataUpdatedAt).toISOString()} shape="exact" />
    </p>
  );
}
