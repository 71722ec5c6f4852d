import type { ReactNode } from 'react';
import type { WebhookDelivery } from '../../data/types/dashboard.ts';
import { useFilters } from '../../desk/filters.tsx';
import { LongList } from '../../desk/long-list.tsx';
import type { Column } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { ObjectLink } from '../payments/object-link.tsx';
import { useChosenDays } from '../statistics/chosen-days.ts';
import { ListFilters } from '../statistics/day-filters.tsx';
import { usePages } from '../use-merchant.ts';
import { deliveryColumns } from './delivery-columns.tsx';

const columns = (): readonly Column<WebhookDelivery>[] => [
  ...deliveryColumns().slice(0, 1),
  {
    name: t('dashboard.field.endpoint'),
    cell: ({ webhook_endpoint: endpoint }) => <ObjectLink id={endpoint} />,
  },
  ...deliveryColumns().slice(1),
];

/** Lists the events that no endpoint accepted. The overview's chart links here. */
export function Undelivered(): ReactNode {
  const filters = useFilters();
  const days = useChosenDays(filters);
  const pages = usePages('GET /accounts/{account}/{mode}/undelivered', { query: days });
  return (
    <section className="stack">
      <h2>{t('dashboard.undelivered.failed_deliveries.heading')}</h2>
      <ListFilters filters={filters}></ListFilters>
      <LongList
        label={t('dashboard.undelivered.failed_deliveries.label')}
        pages={pages}
        columns={columns()}
        keyOf={({ id }) => id}
        filters={filters}
        empty={{
          drawing: 'post',
          title: t('dashboard.undelivered.empty.heading'),
          text: t('dashboard.undelivered.empty'),
        }}
      />
    </section>
  );
}
