import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Time } from '../../ui/time.tsx';

/** When what is shown was read: nothing is good that was not measured. */
export function Measured({ query }: { readonly query: UseQueryResult<unknown> }): ReactNode {
  if (query.data === undefined) return null;
  return (
    <p className="soft small">
      Measured <Time at={new Date(query.dataUpdatedAt).toISOString()} shape="exact" />
    </p>
  );
}
