import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import type { Refund } from '../../data/types/dashboard.ts';
import { FilterBar, FilterSelect, useFilters } from '../../desk/filters.tsx';
import { LongList } from '../../desk/long-list.tsx';
import { Button, buttonClass } from '../../ui/button.tsx';
import { EmptyDrawing } from '../../ui/empty-drawing.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { priceOf } from '../../ui/quoted-price.ts';
import { Page } from '../../ui/shell.tsx';
import { ObjectStatus } from '../../ui/status.tsx';
import type { Column } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { given } from '../../ui/text/untranslated-parts.ts';
import { Time } from '../../ui/time.tsx';
import { useChosenDays } from '../account/time-zone.ts';
import { ExportDialog } from '../exports/export-dialog.tsx';
import { SaleSum } from '../payments/sale-sum.tsx';
import { DayFilters, NamedFilters } from '../statistics/day-filters.tsx';
import { useLive } from '../statistics/use-live-refresh.ts';
import { usePages } from '../use-merchant.ts';

const PAGE = 50;

export const refundColumns = (): readonly Column<Refund>[] => [
  {
    name: t('dashboard.field.amount'),
    number: true,
    cell: ({ id, amount, presentment }) => (
      <SaleSum id={id} amount={amount} price={priceOf(presentment)} />
    ),
  },
  { name: t('dashboard.field.status'), cell: ({ status }) => <ObjectStatus status={status} /> },
  { name: t('dashboard.field.reason'), cell: ({ reason }) => given(reason) },
  { name: t('dashboard.field.requested'), cell: ({ created }) => <Time at={created} /> },
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
    <Page
      title={t('dashboard.page.refunds')}
      actions={<Button onClick={() => setIsExporting(true)}>{t('dashboard.button.export')}</Button>}
    >
      <FilterBar filters={filters} below={<NamedFilters filters={filters} />}>
        <FilterSelect
          filters={filters}
          name="status"
          label={t('dashboard.field.status')}
          all={t('dashboard.filter.any')}
          options={[
            ['pending', t('dashboard.status.pending')],
            ['succeeded', t('dashboard.status.succeeded')],
            ['failed', t('dashboard.status.failed')],
          ]}
        />
        <DayFilters filters={filters} />
      </FilterBar>
      <LongList
        label={t('dashboard.page.refunds')}
        pages={pages}
        columns={refundColumns()}
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
      title={t('dashboard.refunds.empty.heading')}
      action={
        <Link href="/dashboard/payments" className={buttonClass({})}>
          {t('dashboard.refunds.empty.link')}
        </Link>
      }
    >
      {t('dashboard.refunds.empty')}
    </EmptyState>
  );
}
