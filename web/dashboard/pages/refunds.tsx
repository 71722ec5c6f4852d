import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import type { Refund } from '../../data/types/dashboard.ts';
import { FilterBar, FilterSelect, useFilters } from '../../desk/filters.tsx';
import { LongList } from '../../desk/long-list.tsx';
import { Button, buttonClass } from '../../ui/button.tsx';
import { EmptyDrawing } from '../../ui/empty-drawing.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Page } from '../../ui/shell.tsx';
import { ObjectStatus } from '../../ui/status.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { usePages } from '../merchant.ts';
import { DayFilters, NamedFilters } from '../parts/day-filters.tsx';
import { ExportDialog } from '../parts/export-dialog.tsx';
import { SaleSum } from '../parts/sale-sum.tsx';
import { useChosenDays } from '../parts/time-zone.ts';
import { useLive } from '../parts/use-live.ts';

const PAGE = 50;

export const REFUND_COLUMNS: readonly Column<Refund>[] = [
  { name: 'Amount', number: true, cell: ({ id, amount }) => <SaleSum id={id} amount={amount} /> },
  { name: 'Status', cell: ({ status }) => <ObjectStatus status={status} /> },
  { name: 'Reason', cell: ({ reason }) => reason ?? '' },
  { name: 'Requested', cell: ({ created }) => <Time at={created} /> },
];

export function Refunds(): ReactNode {
  const filters = useFilters();
  const days = useChosenDays(filters);
  const [isExporting, setIsExporting] = useState(false);
  const status = filters.get('status') as Refund['status'] | undefined;
  const pages = usePages('GET /accounts/{account}/{mode}/refunds', (cursor) => ({
    query: { limit: PAGE, cursor, ...days, status },
  }));
  useLive('refund.', pages.at(filters.cursor).queryKey);
  return (
    <Page title="Refunds" actions={<Button onClick={() => setIsExporting(true)}>Export</Button>}>
      <FilterBar filters={filters} below={<NamedFilters filters={filters} />}>
        <FilterSelect
          filters={filters}
          name="status"
          label="Status"
          all="Any"
          options={[
            ['pending', 'Pending'],
            ['succeeded', 'Succeeded'],
            ['failed', 'Failed'],
          ]}
        />
        <DayFilters filters={filters} />
      </FilterBar>
      <LongList
        label="Refunds"
        pages={pages}
        columns={REFUND_COLUMNS}
        inPairs
        keyOf={({ id }) => id}
        filters={filters}
        empty={<NoRefunds />}
      />
      {isExporting ? <ExportDialog of="refunds" onClose={() => setIsExporting(false)} /> : null}
    </Page>
  );
}

function NoRefunds(): ReactNode {
  return (
    <EmptyState
      drawing={<EmptyDrawing name="sales" />}
      title="No refunds yet"
      action={
        <Link href="/dashboard/payments" className={buttonClass({})}>
          Go to payments
        </Link>
      }
    >
      Open a payment to refund all or part of it.
    </EmptyState>
  );
}
