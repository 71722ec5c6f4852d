import type { ReactNode } from 'react';
import { useLocation, useParams } from 'wouter';
import { named } from '#i18n/bidi-isolates.ts';
import type { DashboardWebhookEndpoint, WebhookDelivery } from '../../data/types/dashboard.ts';
import { ActionButton } from '../../desk/action-button.tsx';
import { FilterBar, useFilters } from '../../desk/filters.tsx';
import { Headline } from '../../desk/headline.tsx';
import { Loaded } from '../../desk/loaded.tsx';
import { LongList } from '../../desk/long-list.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Page } from '../../ui/shell.tsx';
import { Fact, FactList } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { rich } from '../../ui/text/tagged-text.ts';
import { given } from '../../ui/text/untranslated-parts.ts';
import { Time } from '../../ui/time.tsx';
import { ObjectLink } from '../payments/object-link.tsx';
import { OtherMode } from '../sessions/other-mode.tsx';
import { StatusFilter } from '../statistics/day-filters.tsx';
import { useMerchant, usePages, useRead } from '../use-merchant.ts';
import { DeliveryAnswer } from '../webhooks/delivery-answer.tsx';
import { deliveryColumns } from '../webhooks/delivery-columns.tsx';
import { EndpointDialogs } from '../webhooks/endpoint-dialogs.tsx';
import { ReceiverCheck } from '../webhooks/receiver-check.tsx';

/** Polling interval. Deliveries finish within seconds. */
const WATCH_MS = 5_000;

export function WebhookPage(): ReactNode {
  const { id = '' } = useParams();
  const query = useRead(
    'GET /accounts/{account}/{mode}/webhook_endpoints/{id}',
    { path: { id } },
    { everyMs: WATCH_MS },
  );
  return (
    <Page title={t('dashboard.webhook.webhook_endpoint.page')}>
      <Loaded query={query} missing={<OtherMode />}>
        {(endpoint) => (
          <>
            <EndpointView endpoint={endpoint} />
            <Deliveries endpoint={id} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function EndpointView({ endpoint }: { readonly endpoint: DashboardWebhookEndpoint }): ReactNode {
  const { may } = useMerchant();
  const [, navigate] = useLocation();
  return (
    <>
      <Headline of={endpoint}>
        <h2 className="id">{endpoint.url}</h2>
      </Headline>
      {endpoint.failing_since === null ? null : (
        <Notice tone="warn">
          <strong>
            {rich('dashboard.webhook.failing.heading', {
              time: () => <Time at={endpoint.failing_since ?? ''} />,
            })}
          </strong>
          <p>{t('dashboard.webhook.failing.text')}</p>
        </Notice>
      )}
      <section className="card stack">
        <FactList>
          <Fact name={t('dashboard.page.events')}>{named(endpoint.enabled_events.join(', '))}</Fact>
          <Fact name={t('dashboard.webhook.note.name')}>{given(endpoint.description)}</Fact>
          <Fact name={t('dashboard.webhook.turned_off_because.name')}>
            {given(endpoint.disabled_reason)}
          </Fact>
          <Fact name={t('dashboard.field.api_version')}>{endpoint.api_version}</Fact>
          <Fact name={t('dashboard.field.added')}>
            <Time at={endpoint.created} />
          </Fact>
        </FactList>
        {may('admin') ? (
          <EndpointDialogs endpoint={endpoint} onDeleted={() => navigate('/dashboard/webhooks')} />
        ) : null}
      </section>
      {may('admin') ? (
        <section className="card stack">
          <h2>{t('dashboard.webhook.check.heading')}</h2>
          <p className="soft">{t('dashboard.webhook.check.text')}</p>
          <ReceiverCheck id={endpoint.id} />
        </section>
      ) : null}
    </>
  );
}

function Deliveries({ endpoint }: { readonly endpoint: string }): ReactNode {
  const filters = useFilters();
  const status = filters.get('status') as WebhookDelivery['status'] | undefined;
  const pages = usePages(
    'GET /accounts/{account}/{mode}/webhook_endpoints/{id}/deliveries',
    { path: { id: endpoint }, query: { status } },
    { everyMs: WATCH_MS },
  );
  return (
    <section className="stack">
      <h2>{t('dashboard.webhook.deliveries.heading')}</h2>
      <FilterBar filters={filters}>
        <StatusFilter
          filters={filters}
          options={[
            ['pending', t('dashboard.status.pending')],
            ['succeeded', t('dashboard.status.succeeded')],
            ['failed', t('dashboard.status.failed')],
          ]}
        />
      </FilterBar>
      <LongList
        label={t('dashboard.webhook.deliveries.label')}
        pages={pages}
        columns={deliveryColumns()}
        keyOf={({ id }) => id}
        filters={filters}
        empty={{
          drawing: 'post',
          title: t('dashboard.webhook.deliveries.empty.heading'),
          text: t('dashboard.webhook.deliveries.empty'),
        }}
      />
    </section>
  );
}

export function DeliveryPage(): ReactNode {
  const { id = '' } = useParams();
  const { may } = useMerchant();
  const query = useRead(
    'GET /accounts/{account}/{mode}/webhook_deliveries/{id}',
    { path: { id } },
    { everyMs: WATCH_MS },
  );
  const { call } = useMerchant();
  const resend = may('admin') ? (
    <ActionButton
      data-name="Resend"
      kind="primary"
      request={() =>
        call('POST /accounts/{account}/{mode}/webhook_deliveries/{id}/retry', { path: { id } })
      }
    >
      {t('dashboard.button.resend')}
    </ActionButton>
  ) : null;
  return (
    <Page title={t('dashboard.webhook.delivery.page')} actions={resend}>
      <Loaded query={query} missing={<OtherMode />}>
        {(delivery) => <DeliveryView delivery={delivery} />}
      </Loaded>
    </Page>
  );
}

function DeliveryView({ delivery }: { readonly delivery: WebhookDelivery }): ReactNode {
  const { data: event } = useRead('GET /accounts/{account}/{mode}/events/{id}', {
    path: { id: delivery.event },
  });
  return (
    <>
      <Headline of={delivery}>
        <h2>{named(delivery.event_type)}</h2>
      </Headline>
      <DeliveryAnswer delivery={delivery} />
      <section className="card stack">
        <FactList>
          <Fact name={t('dashboard.field.endpoint')}>
            <ObjectLink id={delivery.webhook_endpoint} />
          </Fact>
          <Fact name={t('dashboard.field.event')}>
            <ObjectLink id={delivery.event} />
          </Fact>
          <Fact name={t('dashboard.webhook.first_due.name')}>
            <Time at={delivery.created} shape="exact" />
          </Fact>
        </FactList>
        <h2>{t('dashboard.webhook.body.heading')}</h2>
        {event === undefined ? (
          <p className="soft">{t('dashboard.webhook.kept')}</p>
        ) : (
          <pre className="code">{JSON.stringify(event, null, 2)}</pre>
        )}
      </section>
    </>
  );
}
