import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactElement, ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import type { DrawingName } from '../ui/drawings.tsx';
import { EmptyDrawing } from '../ui/empty-drawing.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { t } from '../ui/text/t.ts';
import type { Filters } from './filters.tsx';
import { Loaded } from './loaded.tsx';
import type { ListPage } from './pagination.ts';

/** The words of an empty list: they name the missing thing and its benefit. */
export interface EmptyWords {
  readonly drawing?: DrawingName;
  readonly title: string;
  readonly text: ReactNode;
  readonly action?: ReactNode;
}

export interface ListProps<Row> {
  readonly label: string;
  readonly query: UseQueryResult<ListPage<Row>>;
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  /** Shows cells in pairs without their labels on a phone. */
  readonly inPairs?: boolean;
  readonly filters?: Filters;
  readonly empty: EmptyWords | ReactElement | null;
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

export interface NothingHereProps extends Pick<ListProps<never>, 'empty'> {
  readonly filters: Filters | undefined;
}

export function NothingHere({ filters, empty }: NothingHereProps): ReactNode {
  if (filters === undefined || (!filters.isFiltered && filters.cursor === undefined)) {
    if (empty === null || !('title' in empty)) return <>{empty}</>;
    const { drawing, title, text, action } = empty;
    const drawn = drawing === undefined ? null : <EmptyDrawing name={drawing} />;
    return (
      <EmptyState drawing={drawn} title={title} action={action}>
        {text}
      </EmptyState>
    );
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
