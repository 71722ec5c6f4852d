import type { ReactNode } from 'react';
import { EmptyState } from '../../ui/empty-state.tsx';
import { type Pages, rowsOf } from '../wallet-reads.ts';
import { More, Problem, Waiting } from './loading.tsx';

interface PagedListProps<T> {
  readonly pages: Pages<T>;
  readonly empty: { readonly title: string; readonly text: string };
  readonly className: string;
  /** Returns a list item with a key. */
  readonly row: (of: T) => ReactNode;
}

/** A list that loads page by page, or the reason why it shows no rows. */
export function PagedList<T>({ pages, empty, className, row }: PagedListProps<T>): ReactNode {
  const rows = rowsOf(pages);
  if (rows === null) return pages.isError ? <Problem of={pages.error} /> : <Waiting />;
  return (
    <>
      {rows.length === 0 ? (
        <EmptyState title={empty.title}>{empty.text}</EmptyState>
      ) : (
        <ul className={className}>{rows.map(row)}</ul>
      )}
      <More pages={pages} />
    </>
  );
}
