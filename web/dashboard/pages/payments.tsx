import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import type { Payment } from '../../data/types/dashboard.ts';
import {
  FilterBar,
  FilterSelect,
  type Filters,
  FilterText,
  useFilters,
} from '../../desk/filters.tsx';
import { LongList } from '../../desk/long-list.tsx';
import { Amount } from '../../ui/amount.tsx';
import { Button, buttonClass } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Page } from '../../ui/shell.tsx';
import { ObjectStatus } from '../../ui/status.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { usePages } from '../merchant.ts';
import { ExportDialog } from '../parts/export-dialog.tsx';
import { ObjectLink } from '../parts/object-link.tsx';
import { readSearch } from '../parts/search-text.ts';
import { TerminalLink, useTerminalNames } from '../parts/terminal-names.tsx';
import { useChosenDays } from '../parts/time-zone.ts';

const PAGE = 50;

const COLUMNS: readonly Column<Payment>[] = [
  { name: 'Payment', cell: ({ id }) => <ObjectLink id={id} /> },
  {
    name: 'USDC',
    number: true,
    cell: ({ amount }) => <Amount atoms={BigInt(amount)} unit={false} />,
  },
  {
    name: 'Tip',
    number: true,
    cell: ({ tip }) => (tip === 0 ? '' : <Amount atoms={BigInt(tip)} unit={false} />),
  },
  { name: 'Status', cell: ({ status }) => <ObjectStatus status={status} /> },
  { name: 'Order', cell: ({ order_id }) => <span className="id">{order_id}</span> },
  { name: 'Terminal', cell: ({ terminal }) => <TerminalLink id={terminal} /> },
  { name: 'Paid', cell: ({ settled_at }) => <Time at={settled_at} /> },
];

function usePayments(filters: Filters) {
  const search = filters.get('search');
  const common = { limit: PAGE, ...useChosenDays(filters), terminal: filters.get('terminal') };
  const status = filters.get('status') as Payment['status'] | undefined;
  const listed = usePages('GET /accounts/{account}/{mode}/payments', (cursor) => ({
    query: { ...common, cursor, status },
  }));
  const found = usePages('GET /accounts/{account}/{mode}/payments/search', (cursor) => ({
    query: { ...common, cursor, ...readSearch(search ?? '') },
  }));
  return search === undefined ? listed : found;
}

export function Payments(): ReactNode {
  const filters = useFilters();
  const pages = usePayments(filters);
  const names = useTerminalNames();
  const [isExporting, setIsExporting] = useState(false);
  return (
    <Page title="Payments" actions={<Button onClick={() => setIsExporting(true)}>Export</Button>}>
      <FilterBar filters={filters}>
        <FilterText
          filters={filters}
          name="search"
          label="Search"
          placeholder="Order, wallet, sum"
        />
        {filters.get('search') === undefined ? (
          <FilterSelect
            filters={filters}
            name="status"
            label="Status"
            all="Any"
            options={[
              ['succeeded', 'Succeeded'],
              ['partially_refunded', 'Partly refunded'],
              ['refunded', 'Refunded'],
            ]}
          />
        ) : null}
        <FilterSelect
          filters={filters}
          name="terminal"
          label="Terminal"
          all="All"
          options={[...names]}
        />
        <FilterText filters={filters} name="from" label="From" type="date" />
        <FilterText filters={filters} name="to" label="To" type="date" />
      </FilterBar>
      <LongList
        label="Payments"
        pages={pages}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        filters={filters}
        empty={<NoPayments />}
      />
      {isExporting ? (
        <ExportDialog
          of="payments"
          from={filters.get('from')}
          to={filters.get('to')}
          onClose={() => setIsExporting(false)}
        />
      ) : null}
    </Page>
  );
}

function NoPayments(): ReactNode {
  return (
    <EmptyState
      title="Nobody has paid yet"
      action={
        <Link href="/dashboard/terminals" className={buttonClass({ kind: 'primary' })}>
          Set up a till
        </Link>
      }
    >
      Each sale that a customer pays at one of your tills is listed here, with its proof on the
      chain.
    </EmptyState>
  );
}
