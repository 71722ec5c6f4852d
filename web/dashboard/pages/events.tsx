import type { ReactNode } from 'react';
import { useParams } from 'wouter';
import { named } from '#i18n/bidi-isolates.ts';
import type { DashboardListEventsQuery, Event } from '../../data/types/dashboard.ts';
import { FilterSelect, useFilters } from '../../desk/filters.tsx';
import { Loaded } from '../../desk/loaded.tsx';
import { LongList } from '../../desk/long-list.tsx';
import { CodeWords } from '../../ui/code-words.tsx';
import { CopyId } from '../../ui/copy-id.tsx';
import { Page } from '../../ui/shell.tsx';
import { type Column, Fact, FactList } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { Time } from '../../ui/time.tsx';
import { ObjectLink } from '../payments/object-link.tsx';
import { OtherMode } from '../sessions/other-mode.tsx';
import { useChosenDays } from '../statistics/chosen-days.ts';
import { ListFilters } from '../statistics/day-filters.tsx';
import { usePages, useRead } from '../use-merchant.ts';
import { EVENT_TYPES, FAMILIES } from '../webhooks/event-types.ts';

function objectOf({ data }: Event): string {
  return typeof data.object.id === 'string' ? data.object.id : '';
}

const columns = (): readonly Column<Event>[] => [
  { name: t('dashboard.field.event'), cell: ({ id }) => <ObjectLink id={id} /> },
  { name: t('dashboard.field.type'), cell: ({ type }) => <CodeWords code={type} /> },
  { name: t('dashboard.field.object'), cell: (event) => <ObjectLink id={objectOf(event)} /> },
  {
    name: t('dashboard.events.time.column'),
    cell: ({ created }) => <Time at={created} shape="exact" />,
  },
];

const DELIVERED = { yes: true, no: false } as const;

export function Events(): ReactNode {
  const filters = useFilters();
  const days = useChosenDays(filters);
  const delivered = filters.get('delivered') as keyof typeof DELIVERED | undefined;
  const filter = {
    ...days,
    type: filters.get('type') as DashboardListEventsQuery['type'],
    delivery_success: delivered === undefined ? undefined : DELIVERED[delivered],
  };
  const pages = usePages('GET /accounts/{account}/{mode}/events', { query: filter });
  return (
    <Page title={t('dashboard.page.events')}>
      <ListFilters filters={filters}>
        <FilterSelect
          filters={filters}
          name="type"
          label={t('dashboard.field.type')}
          all={t('dashboard.filter.all')}
          options={[...FAMILIES.map((family) => `${family}.*`), ...EVENT_TYPES].map((type) => [
            type,
            named(type),
          ])}
        />
        <FilterSelect
          filters={filters}
          name="delivered"
          label={t('dashboard.events.delivered.label')}
          all={t('dashboard.filter.any')}
          options={[
            ['no', t('dashboard.events.pending_or_failed')],
            ['yes', t('dashboard.events.to_every_endpoint')],
          ]}
        />
      </ListFilters>
      <LongList
        label={t('dashboard.page.events')}
        pages={pages}
        columns={columns()}
        keyOf={({ id }) => id}
        filters={filters}
        empty={{
          drawing: 'post',
          title: t('dashboard.events.empty.heading'),
          text: t('dashboard.events.empty'),
        }}
      />
    </Page>
  );
}

export function EventPage(): ReactNode {
  const { id = '' } = useParams();
  const query = useRead('GET /accounts/{account}/{mode}/events/{id}', { path: { id } });
  return (
    <Page title={t('dashboard.field.event')}>
      <Loaded query={query} missing={<OtherMode />}>
        {(event) => (
          <>
            <div className="headline">
              <h2>{named(event.type)}</h2>
              <CopyId id={event.id} />
            </div>
            <section className="card stack">
              <FactList>
                <Fact name={t('dashboard.field.object')}>
                  <ObjectLink id={objectOf(event)} />
                </Fact>
                <Fact name={t('dashboard.events.happened.name')}>
                  <Time at={event.created} shape="exact" />
                </Fact>
                <Fact name={t('dashboard.events.position.name')}>{String(event.sequence)}</Fact>
                <Fact name={t('dashboard.field.api_version')}>{event.api_version}</Fact>
              </FactList>
              <pre className="code">{JSON.stringify(event.data, null, 2)}</pre>
            </section>
          </>
        )}
      </Loaded>
    </Page>
  );
}
