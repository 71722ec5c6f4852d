import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react';
import './table.css';

export interface Column<Row> {
  readonly name: string;
  /** Figures stand at the end of their column. */
  readonly number?: boolean;
  readonly cell: (row: Row) => ReactNode;
}

export interface TableProps<Row> {
  /** Says what is listed, to those who cannot see the heading above. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** On a phone cells stand in pairs without their names: for lists that are read at a glance. */
  readonly inPairs?: boolean;
}

function alignOf<Row>({ number }: Column<Row>): string | undefined {
  return number === true ? 'number' : undefined;
}

export interface TableFrameProps<Row>
  extends Pick<TableProps<Row>, 'label' | 'columns' | 'inPairs'> {
  /** How many rows with that of the headings, -1 while nobody knows. All are here: left out. */
  readonly rowCount?: number;
  /** Its bodies. */
  readonly children: ReactNode;
}

/** In a row, what does something else when it is clicked. */
const OTHERS = 'a, button, input, select, textarea, summary, label';

/**
 * A click anywhere in a row opens the row's page, as its link does. A link that is stretched over
 * its row would do it without a script, but WebKit positions nothing in a table's row: there each
 * link covered the whole window, and every click opened the same payment.
 */
function openRow(event: MouseEvent): void {
  const { target, button, ctrlKey, metaKey, shiftKey } = event;
  if (!(target instanceof Element) || target.closest(OTHERS) !== null || button > 1) return;
  const link = target.closest('tr')?.querySelector<HTMLAnchorElement>('a.row-link');
  // Selecting a text in a row ends with a click, too.
  if (link == null || getSelection()?.isCollapsed === false) return;
  const isBeside = button === 1 || ctrlKey || metaKey || shiftKey;
  if (isBeside) window.open(link.href, '_blank', 'noopener');
  else link.click();
}

/** The row's page opens from anywhere in the row, see {@link openRow}. */
function useOpenRows(frame: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const element = frame.current;
    const end = new AbortController();
    element?.addEventListener('click', openRow, { signal: end.signal });
    element?.addEventListener('auxclick', openRow, { signal: end.signal });
    return () => end.abort();
  }, [frame]);
}

/** What is wider than its place scrolls, also for those who have no mouse. */
function useScrolls() {
  const frame = useRef<HTMLDivElement>(null);
  const [scrolls, setScrolls] = useState(false);
  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const sizes = new ResizeObserver(() => setScrolls(element.scrollWidth > element.clientWidth));
    for (const one of [element, ...element.children]) sizes.observe(one);
    return () => sizes.disconnect();
  }, []);
  return { frame, scrolls };
}

/** The headings of a list, and the edge around it. */
export function TableFrame<Row>(props: TableFrameProps<Row>): ReactNode {
  const { label, columns, inPairs = false, rowCount, children } = props;
  const { frame, scrolls } = useScrolls();
  useOpenRows(frame);
  const reached = scrolls ? ({ tabIndex: 0, role: 'region', 'aria-label': label } as const) : {};
  return (
    <div className="table-scroll" ref={frame} {...reached}>
      <table
        className={inPairs ? 'table table-pairs' : 'table'}
        aria-label={label}
        aria-rowcount={rowCount}
      >
        <thead>
          <tr aria-rowindex={rowCount === undefined ? undefined : 1}>
            {columns.map((column) => (
              <th key={column.name} scope="col" className={alignOf(column)}>
                {column.name}
              </th>
            ))}
          </tr>
        </thead>
        {children}
      </table>
    </div>
  );
}

export interface TableRowsProps<Row> extends Omit<TableProps<Row>, 'label' | 'inPairs'> {
  /** How many rows of the list stand before these; all are here: none. */
  readonly before?: number;
  /** Whether a row has come while the list was looked at. */
  readonly isNew?: (row: Row) => boolean;
}

export function TableRows<Row>(props: TableRowsProps<Row>): ReactNode {
  const { columns, rows, keyOf, before, isNew } = props;
  // Rows are counted from one, and the first is that of the headings.
  const place = (index: number) => (before === undefined ? undefined : before + index + 2);
  return rows.map((row, index) => (
    <tr
      key={keyOf(row)}
      aria-rowindex={place(index)}
      className={isNew?.(row) === true ? 'table-new' : undefined}
    >
      {columns.map((column) => (
        <td key={column.name} className={alignOf(column)} data-name={column.name}>
          {column.cell(row)}
        </td>
      ))}
    </tr>
  ));
}

/** A dense list. A row's first cell holds the link to its page. */
export function Table<Row>(props: TableProps<Row>): ReactNode {
  const { label, columns, rows, keyOf, inPairs = false } = props;
  return (
    <TableFrame label={label} columns={columns} inPairs={inPairs}>
      <tbody>
        <TableRows columns={columns} rows={rows} keyOf={keyOf} />
      </tbody>
    </TableFrame>
  );
}

export interface FactsProps {
  readonly facts: readonly (readonly [name: string, value: ReactNode])[];
}

/** Names and values of one object; a value of null is left out. */
export function Facts({ facts }: FactsProps): ReactNode {
  return (
    <dl className="facts">
      {facts.map(([name, value]) =>
        value === null ? null : (
          <div key={name} className="fact">
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
    </dl>
  );
}

/** Like {@link Facts}, written as elements: each is one {@link Fact}. */
export function FactList({ children }: { readonly children: ReactNode }): ReactNode {
  return <dl className="facts">{children}</dl>;
}

export interface FactProps {
  readonly name: string;
  /** Nothing: the fact is left out. */
  readonly children: ReactNode;
}

export function Fact({ name, children }: FactProps): ReactNode {
  if (children === null || children === undefined || children === '') return null;
  return (
    <div className="fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
