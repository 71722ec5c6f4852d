import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { type Column, Table } from '../ui/table.tsx';
import type { Filters } from './filters.tsx';
import { Loaded } from './loaded.tsx';
import type { ListPage } from './walk.ts';

export interface ListProps<Row> {
  readonly label: string;
  readonly query: UseQueryResult<ListPage<Row>>;
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  /** Where the list's place stands; without it the list has one page. */
  readonly filters?: Filters;
  /** Where the page does not say it itself: the cursor of the next one, null on the last. */
  readonly nextOf?: (page: ListPage<Row>) => string | null;
  /** What is missing, what one gets, one button. */
  readonly empty: ReactNode;
}

/** Where the next page begins, as most lists say it. */
export function nextIn({ has_more: hasMore = false, next_cursor: next = null }: ListPage<unknown>) {
  return hasMore ? next : null;
}

/** One page of a list: however long it is, the browser holds no more than that. */
export function List<Row>(props: ListProps<Row>): ReactNode {
  const { label, query, columns, keyOf, filters, nextOf = nextIn, empty } = props;
  return (
    <Loaded query={query}>
      {(page) => (
        <div className="stack" aria-busy={query.isPlaceholderData}>
          {page.data.length > 0 ? (
            <Table label={label} columns={columns} rows={page.data} keyOf={keyOf} />
          ) : (
            <NothingHere filters={filters} empty={empty} />
          )}
          {filters === undefined ? null : <Pager filters={filters} next={nextOf(page)} />}
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
  if (filters === undefined || (!filters.isFiltered && filters.cursor === undefined)) return empty;
  return (
    <EmptyState
      title="Nothing fits"
      action={<Button onClick={filters.clear}>Show everything</Button>}
    >
      No entry has all of what you filter by.
    </EmptyState>
  );
}

export interface PagerProps {
  readonly filters: Filters;
  /** The cursor of the next page; null on the last. */
  readonly next: string | null;
}

/** Leads through the pages of a list. */
export function Pager({ filters, next }: PagerProps): ReactNode {
  if (filters.cursor === undefined && next === null) return null;
  return (
    <div className="row row-apart">
      {filters.cursor === undefined ? (
        <span />
      ) : (
        <Button onClick={() => filters.goTo(null)}>Newest</Button>
      )}
      {next === null ? null : <Button onClick={() => filters.goTo(next)}>Older</Button>}
    </div>
  );
}
