import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react';
import './table.css';

export interface Column<Row> {
  readonly name: string;
  /** Aligns numbers at the end of the column. */
  readonly number?: boolean;
  readonly cell: (row: Row) => ReactNode;
}

export interface TableProps<Row> {
  /** Names the list for users who cannot see the heading above. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** On a phone, shows cells in pairs without labels, for lists that are skimmed. */
  readonly inPairs?: boolean;
}

function alignOf<Row>({ number }: Column<Row>): string | undefined {
  return number === true ? 'number' : undefined;
}

export interface TableFrameProps<Row>
  extends Pick<TableProps<Row>, 'label' | 'columns' | 'inPairs'> {
  /**
   * Number of rows including the header, or -1 if unknown. Leave it out if all rows are present.
   */
  readonly rowCount?: number;
  /** The table bodies. */
  readonly children: ReactNode;
}

/** Elements in a row with a click action of their own. */
const OTHERS = 'a, button, input, select, textarea, summary, label';

/**
 * Opens a row's page on a click anywhere in the row, as the row's link does. A link stretched over
 * the row would need no script, but WebKit ignores `position` on table rows: each link covered the
 * whole window there, and every click opened the same payment.
 */
function openRow(event: MouseEvent): void {
  const { target, button, ctrlKey, metaKey, shiftKey } = event;
  if (!(target instanceof Element) || target.closest(OTHERS) !== null || button > 1) return;
  const link = target.closest('tr')?.querySelector<HTMLAnchorElement>('a.row-link');
  // Ignores clicks that end a text selection in the row.
  if (link == null || getSelection()?.isCollapsed === false) return;
  const isBeside = button === 1 || ctrlKey || metaKey || shiftKey;
  if (isBeside) window.open(link.href, '_blank', 'noopener');
  else link.click();
}

/** Makes rows open their page, see {@link openRow}. */
function useOpenRows(frame: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const element = frame.current;
    const end = new AbortController();
    element?.addEventListener('click', openRow, { signal: end.signal });
    element?.addEventListener('auxclick', openRow, { signal: end.signal });
    return () => end.abort();
  }, [frame]);
}

/** Lets wide tables scroll, also by keyboard. */
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
  /** The number of list rows before these. Leave it out if all rows are present. */
  readonly before?: number;
  /** True if the row arrived while the list was open. */
  readonly isNew?: (row: Row) => boolean;
}

export function TableRows<Row>(props: TableRowsProps<Row>): ReactNode {
  const { columns, rows, keyOf, before, isNew } = props;
  // Rows are numbered from one, and the header is the first.
  const rowNumber = (index: number) => (before === undefined ? undefined : before + index + 2);
  return rows.map((row, index) => (
    <tr
      key={keyOf(row)}
      aria-rowindex={rowNumber(index)}
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

/** The first cell of each row holds the link to its page. */
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

/** Shows labeled values of one object. `null` values are left out. */
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

/** Like {@link Facts}, but each value is a child element: see {@link Fact}. */
export function FactList({ children }: { readonly children: ReactNode }): ReactNode {
  return <dl className="facts">{children}</dl>;
}

export interface FactProps {
  readonly name: string;
  /** Without children, the fact is left out. */
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
