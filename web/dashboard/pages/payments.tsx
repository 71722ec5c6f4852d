import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { Payment } from '../../data/types/dashboard.ts';
import { type Filters, FilterText, useFilters } from '../../desk/filters.tsx';
import { LongList } from '../../desk/long-list.tsx';
import { buttonClass } from '../../ui/button.tsx';
import { Page } from '../../ui/shell.tsx';
import { t } from '../../ui/text/t.ts';
import { ExportButton } from '../exports/export-dialog.tsx';
import { readSearch, searchProblem } from '../payments/classify-search-text.ts';
import { paymentColumns } from '../payments/payment-columns.tsx';
import { useChosenDays, useDays } from '../statistics/chosen-days.ts';
import { ListFilters, StatusFilter } from '../statistics/day-filters.tsx';
import { useLive } from '../statistics/use-live-refresh.ts';
import { TerminalFilter } from '../terminals/terminal-filter.tsx';
import { usePages } from '../use-merchant.ts';

// Loaded as one file with this page, because each further file costs the first load some bytes.
export { PaymentPage } from './payment.tsx';

function usePayments(filters: Filters) {
  const search = filters.get('search');
  const common = { ...useChosenDays(filters), terminal: filters.get('terminal') };
  const status = filters.get('status') as Payment['status'] | undefined;
  const listed = usePages('GET /accounts/{account}/{mode}/payments', {
    query: { ...common, status },
  });
  const payments = usePages('GET /accounts/{account}/{mode}/payments/search', {
    query: { ...common, ...readSearch(search ?? '') },
  });
  return search === undefined ? listed : payments;
}

export function Payments(): ReactNode {
  const filters = useFilters();
  const pages = usePayments(filters);
  useLive('payment.', pages.at(filters.cursor).queryKey);
  const days = useDays(filters);
  return (
    <Page
      title={t('dashboard.page.payments')}
      actions={<ExportButton of="payments" from={days.from} to={days.to} />}
    >
      <ListFilters filters={filters}>
        <FilterText
          filters={filters}
          name="search"
          label={t('dashboard.payments.search.label')}
          placeholder={t('dashboard.payments.order_wallet_amount.placeholder')}
          check={searchProblem}
        />
        {filters.get('search') === undefined ? (
          <StatusFilter
            filters={filters}
            options={[
              ['succeeded', t('dashboard.status.succeeded')],
              ['partially_refunded', t('dashboard.status.partly_refunded')],
              ['refunded', t('dashboard.field.refunded')],
            ]}
          />
        ) : null}
        <TerminalFilter filters={filters} />
      </ListFilters>
      <LongList
        label={t('dashboard.page.payments')}
        pages={pages}
        columns={paymentColumns()}
        inPairs
        keyOf={({ id }) => id}
        filters={filters}
        empty={{
          drawing: 'sales',
          title: t('dashboard.payments.empty.heading'),
          text: t('dashboard.payments.empty'),
          action: (
            <Link href="/dashboard/terminals" className={buttonClass({ kind: 'primary' })}>
              {t('dashboard.payments.empty.link')}
            </Link>
          ),
        }}
      />
    </Page>
  );
}
