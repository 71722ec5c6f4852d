import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Time } from '../../ui/time.tsx';

/** Shows when the data on screen was measured, so that old data does not look healthy. */
export function MeasuredAt({ query }: { readonly query: UseQueryResult<unknown> }): ReactNode {
  if (query.data === undefined) return null;
  return (
    <p className="soft small">
      Measured <Time at={new Date(query.dataUpdatedAt).toISOString()} shape="exact" />
    </p>
  );
}
