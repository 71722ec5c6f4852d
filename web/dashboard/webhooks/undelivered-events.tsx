import type { ReactNode } from 'react';
import type { WebhookDelivery } from '../../data/types/dashboard.ts';
import { FilterBar, useFilters } from '../../desk/filters.tsx';
import { LongList } from '../../desk/long-list.tsx';
import { EmptyDrawing } from '../../ui/empty-drawing.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import type { Column } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { useChosenDays } from '../account/time-zone.ts';
import { ObjectLink } from '../payments/object-link.tsx';
import { DayFilters, NamedFilters } from '../statistics/day-filters.tsx';
import { usePages } from '../use-merchant.ts';
import { deliveryColumns } from './delivery-columns.tsx';

const PAGE = 50;

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
  const pages = usePages('GET /accounts/{account}/{mode}/undelivered', (cursor) => ({
    query: { limit: PAGE, cursor, ...days },
  }));
  return (
    <section className="stack">
      <h2>{t('dashboard.undelivered.failed_deliveries.heading')}</h2>
      <FilterBar filters={filters} below={<NamedFilters filters={filters} />}>
        <DayFilters filters={filters} />
      </FilterBar>
      <LongList
        label={t('dashboard.undelivered.failed_deliveries.label')}
        pages={pages}
        columns={columns()}
        keyOf={({ id }) => id}
        filters={filters}
        empty={
          <EmptyState
            drawing={<EmptyDrawing name="post" />}
            title={t('dashboard.undelivered.empty.heading')}
          >
            {t('dashboard.undelivered.empty')}
          </EmptyState>
        }
      />
    </section>
  );
}
