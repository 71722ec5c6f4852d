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
import { t } from '../../ui/text/t.ts';
import { useChosenDays, useDays } from '../account/time-zone.ts';
import { ExportDialog } from '../exports/export-dialog.tsx';
import { readSearch, searchProblem } from '../payments/classify-search-text.ts';
import { paymentColumns } from '../payments/payment-columns.tsx';
import { DayFilters, NamedFilters } from '../statistics/day-filters.tsx';
import { useLive } from '../statistics/use-live-refresh.ts';
import { TerminalFilter } from '../terminals/terminal-filter.tsx';
import { usePages } from '../use-merchant.ts';

const PAGE = 50;

function usePayments(filters: Filters) {
  const search = filters.get('search');
  const common = { limit: PAGE, ...useChosenDays(filters), terminal: filters.get('terminal') };
  const status = filters.get('status') as Payment['status'] | undefined;
  const listed = usePages('GET /accounts/{account}/{mode}/payments', (cursor) => ({
    query: { ...common, cursor, status },
  }));
  const payments = usePages('GET /accounts/{account}/{mode}/payments/search', (cursor) => ({
    query: { ...common, cursor, ...readSearch(search ?? '') },
  }));
  return search === undefined ? listed : payments;
}

export function Payments(): ReactNode {
  const filters = useFilters();
  const pages = usePayments(filters);
  useLive('payment.', pages.at(filters.cursor).queryKey);
  const days = useDays(filters);
  const [isExporting, setIsExporting] = useState(false);
  return (
    <Page
      title={t('dashboard.page.payments')}
      actions={<Button onClick={() => setIsExporting(true)}>{t('dashboard.button.export')}</Button>}
    >
      <FilterBar filters={filters} below={<NamedFilters filters={filters} />}>
        <FilterText
          filters={filters}
          name="search"
          label={t('dashboard.payments.search.label')}
          placeholder={t('dashboard.payments.order_wallet_amount.placeholder')}
          check={searchProblem}
        />
        {filters.get('search') === undefined ? <StatusFilter filters={filters} /> : null}
        <TerminalFilter filters={filters} />
        <DayFilters filters={filters} />
      </FilterBar>
      <LongList
        label={t('dashboard.page.payments')}
        pages={pages}
        columns={paymentColumns()}
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

function StatusFilter({ filters }: { readonly filters: Filters }): ReactNode {
  return (
    <FilterSelect
      filters={filters}
      name="status"
      label={t('dashboard.field.status')}
      all={t('dashboard.filter.any')}
      options={[
        ['succeeded', t('dashboard.status.succeeded')],
        ['partially_refunded', t('dashboard.status.partly_refunded')],
        ['refunded', t('dashboard.field.refunded')],
      ]}
    />
  );
}

function NoPayments(): ReactNode {
  return (
    <EmptyState
      drawing={<EmptyDrawing name="sales" />}
      title={t('dashboard.payments.empty.heading')}
      action={
        <Link href="/dashboard/terminals" className={buttonClass({ kind: 'primary' })}>
          {t('dashboard.payments.empty.link')}
        </Link>
      }
    >
      {t('dashboard.payments.empty')}
    </EmptyState>
  );
}
