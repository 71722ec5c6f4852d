import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { EmptyDrawing } from '../ui/empty-drawing.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { t } from '../ui/text/t.ts';
import type { Filters } from './filters.tsx';
import { Loaded } from './loaded.tsx';
import type { ListPage } from './pagination.ts';

export interface ListProps<Row> {
  readonly label: string;
  readonly query: UseQueryResult<ListPage<Row>>;
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  /** Shows cells in pairs without their labels on a phone. */
  readonly inPairs?: boolean;
  readonly filters?: Filters;
  /** Shown if the list is empty: names the missing thing and its benefit, with one button. */
  readonly empty: ReactNode;
}

/** Shows a list that is always short. Use LongList for any other list. */
export function List<Row>(props: ListProps<Row>): ReactNode {
  const { label, query, columns, keyOf, inPairs = false, filters, empty } = props;
  return (
    <Loaded query={query} shape="rows">
      {(page) => (
        <div className="stack" aria-busy={query.isPlaceholderData}>
          {page.data.length > 0 ? (
            <Table
              label={label}
              columns={columns}
              rows={page.data}
              keyOf={keyOf}
              inPairs={inPairs}
            />
          ) : (
            <NothingHere filters={filters} empty={empty} />
          )}
        </div>
      )}
    </Loaded>
  );
}

export interface NothingHereProps {
  readonly filters: Filters | undefined;
  readonly empty: ReactNode;
}

export function NothingHere({ filters, empty }: NothingHereProps): ReactNode {
  if (filters === undefined || (!filters.isFiltered && filters.cursor === undefined)) {
    return <>{empty}</>;
  }
  return (
    <EmptyState
      drawing={<EmptyDrawing name="search" />}
      title={t('desk.list.no_results.heading')}
      action={<Button onClick={filters.clear}>{t('desk.list.no_results.button')}</Button>}
    >
      {t('desk.list.no_results.text')}
    </EmptyState>
  );
}
