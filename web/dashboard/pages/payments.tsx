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
import { Button, buttonClass } from '../../ui/button.tsx';
import { EmptyDrawing } from '../../ui/empty-drawing.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Page } from '../../ui/shell.tsx';
import { usePages } from '../merchant.ts';
import { DayFilters, NamedFilters } from '../parts/day-filters.tsx';
import { ExportDialog } from '../parts/export-dialog.tsx';
import { PAYMENT_COLUMNS } from '../parts/payment-columns.tsx';
import { readSearch, searchProblem } from '../parts/search-text.ts';
import { useTerminalOptions } from '../parts/terminal-names.tsx';
import { useChosenDays, useDays } from '../parts/time-zone.ts';
import { useLive } from '../parts/use-live.ts';

const PAGE = 50;

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
  useLive('payment.', pages.at(filters.cursor).queryKey);
  const terminals = useTerminalOptions();
  const days = useDays(filters);
  const [isExporting, setIsExporting] = useState(false);
  return (
    <Page title="Payments" actions={<Button onClick={() => setIsExporting(true)}>Export</Button>}>
      <FilterBar filters={filters} below={<NamedFilters filters={filters} />}>
        <FilterText
          filters={filters}
          name="search"
          label="Search"
          placeholder="Order, wallet, amount"
          check={searchProblem}
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
          options={terminals}
        />
        <DayFilters filters={filters} />
      </FilterBar>
      <LongList
        label="Payments"
        pages={pages}
        columns={PAYMENT_COLUMNS}
        inPairs
        keyOf={({ id }) => id}
        filters={filters}
        empty={<NoPayments />}
      />
      {isExporting ? (
        <ExportDialog
          of="payments"
          from={days.from}
          to={days.to}
          onClose={() => setIsExporting(false)}
        />
      ) : null}
    </Page>
  );
}

function NoPayments(): ReactNode {
  return (
    <EmptyState
      drawing={<EmptyDrawing name="sales" />}
      title="No payments yet"
      action={
        <Link href="/dashboard/terminals" className={buttonClass({ kind: 'primary' })}>
          Set up a till
        </Link>
      }
    >
      Each sale paid at one of your tills is listed here, with its proof on the chain.
    </EmptyState>
  );
}
