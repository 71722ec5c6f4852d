import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useSearch } from 'wouter';
import { Button } from '../ui/button.tsx';
import { type Column, Table, TableFrame, TableRows } from '../ui/table.tsx';
import { t } from '../ui/text/t.ts';
import type { Filters } from './filters.tsx';
import { Loaded } from './loaded.tsx';
import {
  countNewer,
  type ListPage,
  refreshed,
  rowsBefore,
  totalRows,
  withoutGone,
} from './pagination.ts';
import { type ListProps, NothingHere } from './short-list.tsx';
import { usePagination } from './use-pagination.ts';
import type { Pages } from './use-reads.ts';

export interface LongListProps<Row> extends Omit<ListProps<Row>, 'query' | 'filters'> {
  readonly pages: Pages<ListPage<Row>>;
  readonly filters: Filters;
  /**
   * Returns the cursor after a page, `null` for the last page. Needed if the response does not
   * contain the cursor.
   */
  readonly nextOf?: (page: ListPage<Row>) => string | null;
}

function nextIn({ has_more: hasMore = false, next_cursor: next = null }: ListPage<unknown>) {
  return hasMore ? next : null;
}

/**
 * Loads pages by cursor while the user scrolls, and renders only those near the screen; Back
 * restores the position. New rows at the top are announced, and shown when the user asks.
 */
export function LongList<Row>(props: LongListProps<Row>): ReactNode {
  const { label, columns, keyOf, inPairs = false, pages, filters, empty } = props;
  const search = useSearch();
  const query = useQuery({ ...pages.at(filters.cursor), placeholderData: keepPreviousData });
  return (
    <Loaded query={query} shape="rows">
      {(page) => {
        if (query.isPlaceholderData) {
          return (
            <div aria-busy="true">
              <Table
                label={label}
                columns={columns}
                rows={page.data}
                keyOf={keyOf}
                inPairs={inPairs}
              />
            </div>
          );
        }
        if (page.data.length === 0) return <NothingHere filters={filters} empty={empty} />;
        return <PaginatedList key={[...pages.scope, search].join(' ')} {...props} live={page} />;
      }}
    </Loaded>
  );
}

function PaginatedList<Row>(
  props: LongListProps<Row> & { readonly live: ListPage<Row> },
): ReactNode {
  const { label, columns, keyOf, inPairs = false, filters, pages, live, nextOf = nextIn } = props;
  const anchor = useRef<HTMLDivElement>(null);
  const { cursor } = filters;
  const seen = usePagination({ place: anchor, scope: pages.scope, cursor, live });
  const { head, setHead, pagination, drawn, roomOf, note, isAtTop } = seen;
  const newer = countNewer(head.data, live.data, keyOf);
  const isWhole = nextOf(live) === null;
  useEffect(() => {
    setHead(isAtTop() ? live : withoutGone(head, { page: live, isWhole }, keyOf));
  }, [live, isWhole, head, keyOf, setHead, isAtTop]);
  useEffect(() => note(0, { count: head.data.length, next: nextOf(head) }), [head, note, nextOf]);
  const showNewer = () => {
    setHead(live);
    window.scrollTo(0, 0);
  };
  const isNew = useNewRows(head.data, keyOf);
  const total = totalRows(pagination);
  const bodies = drawn.flatMap((index, at) => {
    const before = rowsBefore(pagination, index);
    const shared = { columns, keyOf, index, before, note };
    const page = pagination[index];
    if (page === undefined) return [];
    return [
      <Gap key={`before ${index}`} px={roomOf((drawn[at - 1] ?? -1) + 1, index)} />,
      index === 0 ? (
        <tbody key="first" data-page={0}>
          <TableRows {...shared} isNew={isNew} rows={refreshed(head.data, live.data, keyOf)} />
        </tbody>
      ) : (
        <QueriedPage
          key={page.cursor}
          {...shared}
          pages={pages}
          nextOf={nextOf}
          cursor={page.cursor}
          px={roomOf(index, index + 1)}
        />
      ),
    ];
  });
  return (
    <div className="stack" ref={anchor}>
      <Newer count={newer} isMore={newer >= live.data.length} onShow={showNewer} />
      <TableFrame
        label={label}
        columns={columns}
        inPairs={inPairs}
        rowCount={total === null ? -1 : total + 1}
      >
        {bodies}
        <Gap key="after" px={roomOf((drawn.at(-1) ?? -1) + 1, pagination.length)} />
      </TableFrame>
      <End filters={filters} seen={seen} />
    </div>
  );
}

interface NewerProps {
  readonly count: number;
  readonly isMore: boolean;
  readonly onShow: () => void;
}

function Newer({ count, isMore, onShow }: NewerProps): ReactNode {
  if (count === 0) return null;
  return (
    <div className="newer" role="status">
      <Button kind="primary" onClick={onShow}>
        {t(isMore ? 'desk.long_list.newer_or_more' : 'desk.long_list.newer', { count })}
      </Button>
    </div>
  );
}

/**
 * Time for which a new row is highlighted. The row stays mounted, so that later renders do not
 * repeat the highlight.
 */
const NEW_MS = 1_000;

function useNewRows<Row>(rows: readonly Row[], keyOf: (row: Row) => string) {
  const [seenAt] = useState(() => new Map(rows.map((row) => [keyOf(row), 0])));
  const now = Date.now();
  for (const row of rows) if (!seenAt.has(keyOf(row))) seenAt.set(keyOf(row), now);
  return (row: Row) => now - (seenAt.get(keyOf(row)) ?? 0) < NEW_MS;
}

/** Reserves the height of pages that are not rendered. */
function Gap({ px }: { readonly px: number }): ReactNode {
  if (px === 0) return null;
  return (
    <tbody aria-hidden="true">
      <tr className="table-gap-row">
        <td className="table-gap" style={{ blockSize: px }} />
      </tr>
    </tbody>
  );
}

interface QueriedPageProps<Row> {
  readonly pages: LongListProps<Row>['pages'];
  readonly nextOf: (page: ListPage<Row>) => string | null;
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  readonly cursor: string | undefined;
  readonly index: number;
  readonly before: number;
  readonly px: number;
  readonly note: (index: number, page: { count: number; next: string | null }) => void;
}

function QueriedPage<Row>(props: QueriedPageProps<Row>): ReactNode {
  const { pages, nextOf, columns, keyOf, cursor, index, before, px, note } = props;
  const query = useQuery(pages.at(cursor));
  const page = query.data;
  useEffect(() => {
    if (page !== undefined) note(index, { count: page.data.length, next: nextOf(page) });
  }, [page, index, note, nextOf]);
  if (page === undefined) {
    return (
      <tbody data-page={index}>
        <tr className="table-gap-row">
          <td colSpan={columns.length} className="table-gap" style={{ blockSize: px }}>
            <Loaded query={query}>{() => null}</Loaded>
          </td>
        </tr>
      </tbody>
    );
  }
  return (
    <tbody data-page={index}>
      <TableRows columns={columns} keyOf={keyOf} rows={page.data} before={before} />
    </tbody>
  );
}

interface EndProps<Row> {
  readonly filters: Filters;
  readonly seen: ReturnType<typeof usePagination<Row>>;
}

/**
 * Ends the list. Scrolling loads more rows until the list is too long. `Older` loads them for users
 * who do not scroll, and then opens a new list at the next row.
 */
function End<Row>({ filters, seen: { pagination, goOn, isTooLong } }: EndProps<Row>): ReactNode {
  const { next } = pagination[pagination.length - 1] ?? pagination[0];
  if (filters.cursor === undefined && (next === null || next === undefined)) return null;
  return (
    <div className="row row-apart">
      {filters.cursor === undefined ? (
        <span />
      ) : (
        <Button onClick={() => filters.goTo(null)}>{t('desk.long_list.newest.button')}</Button>
      )}
      {typeof next === 'string' ? (
        <Button onClick={() => (isTooLong ? filters.goTo(next) : goOn())}>
          {t('desk.long_list.older.button')}
        </Button>
      ) : null}
    </div>
  );
}
