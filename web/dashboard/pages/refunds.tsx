import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { Refund } from '../../data/types/dashboard.ts';
import { useFilters } from '../../desk/filters.tsx';
import { LongList } from '../../desk/long-list.tsx';
import { buttonClass } from '../../ui/button.tsx';
import { priceOf } from '../../ui/quoted-price.ts';
import { Page } from '../../ui/shell.tsx';
import { ObjectStatus } from '../../ui/status.tsx';
import type { Column } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { given } from '../../ui/text/untranslated-parts.ts';
import { Time } from '../../ui/time.tsx';
import { ExportButton } from '../exports/export-dialog.tsx';
import { SaleSum } from '../payments/sale-sum.tsx';
import { useChosenDays } from '../statistics/chosen-days.ts';
import { ListFilters, StatusFilter } from '../statistics/day-filters.tsx';
import { useLive } from '../statistics/use-live-refresh.ts';
import { usePages } from '../use-merchant.ts';

// Loaded as one file with this page, because each further file costs the first load some bytes.
export { RefundPage } from './refund.tsx';

export const refundColumns = (): readonly Column<Refund>[] => [
  {
    name: t('dashboard.field.amount'),
    number: true,
    cell: ({ id, amount, presentment }) => (
      <SaleSum id={id} atoms={BigInt(amount)} price={priceOf(presentment)} />
    ),
  },
  { name: t('dashboard.field.status'), cell: ({ status }) => <ObjectStatus status={status} /> },
  { name: t('dashboard.field.reason'), cell: ({ reason }) => given(reason) },
  { name: t('dashboard.field.requested'), cell: ({ created }) => <Time at={created} /> },
];

export function Refunds(): ReactNode {
  const filters = useFilters();
  const days = useChosenDays(filters);
  const status = filters.get('status') as Refund['status'] | undefined;
  const pages = usePages('GET /accounts/{account}/{mode}/refunds', { query: { ...days, status } });
  useLive('refund.', pages.at(filters.cursor).queryKey);
  return (
    <Page title={t('dashboard.page.refunds')} actions={<ExportButton of="refunds" />}>
      <ListFilters filters={filters}>
        <StatusFilter
          filters={filters}
          options={[
            ['pending', t('dashboard.status.pending')],
            ['succeeded', t('dashboard.status.succeeded')],
            ['failed', t('dashboard.status.failed')],
          ]}
        />
      </ListFilters>
      <LongList
        label={t('dashboard.page.refunds')}
        pages={pages}
        columns={refundColumns()}
        inPairs
        keyOf={({ id }) => id}
        filters={filters}
        empty={{
          drawing: 'sales',
          title: t('dashboard.refunds.empty.heading'),
          text: t('dashboard.refunds.empty'),
          action: (
            <Link href="/dashboard/payments" className={buttonClass({})}>
              {t('dashboard.refunds.empty.link')}
            </Link>
          ),
        }}
      />
    </Page>
  );
}
