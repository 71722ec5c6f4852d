import type { ReactNode } from 'react';
import { useLocation, useParams } from 'wouter';
import type { DashboardWebhookEndpoint, WebhookDelivery } from '../../data/types/dashboard.ts';
import { ActionButton } from '../../desk/action-button.tsx';
import { FilterBar, FilterSelect, useFilters } from '../../desk/filters.tsx';
import { Loaded } from '../../desk/loaded.tsx';
import { LongList } from '../../desk/long-list.tsx';
import { CopyId } from '../../ui/copy-id.tsx';
import { EmptyDrawing } from '../../ui/empty-drawing.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Page } from '../../ui/shell.tsx';
import { ObjectStatus } from '../../ui/status.tsx';
import { Fact, FactList } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { useMerchant, usePages, useRead } from '../merchant.ts';
import { DELIVERY_COLUMNS } from '../parts/delivery-columns.tsx';
import { EndpointDialogs } from '../parts/endpoint-dialogs.tsx';
import { ObjectLink } from '../parts/object-link.tsx';
import { OtherMode } from '../parts/other-mode.tsx';
import { ReceiverCheck } from '../parts/receiver-check.tsx';
import { Told } from '../parts/told.tsx';

const PAGE = 50;
/** Deliveries end within seconds. */
const WATCH_MS = 5_000;

export function WebhookPage(): ReactNode {
  const { id = '' } = useParams();
  const query = useRead(
    'GET /accounts/{account}/{mode}/webhook_endpoints/{id}',
    { path: { id } },
    { everyMs: WATCH_MS },
  );
  return (
    <Page title="Webhook endpoint">
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
      <div className="headline">
        <h2 className="id">{endpoint.url}</h2>
        <ObjectStatus status={endpoint.status} />
        <CopyId id={endpoint.id} />
      </div>
      {endpoint.failing_since === null ? null : (
        <Notice tone="warn">
          <strong>
            Your server has accepted nothing since <Time at={endpoint.failing_since} />
          </strong>
          <p>After five days without a success, the endpoint is turned off.</p>
        </Notice>
      )}
      <section className="card stack">
        <FactList>
          <Fact name="Events">{endpoint.enabled_events.join(', ')}</Fact>
          <Fact name="Note">{endpoint.description}</Fact>
          <Fact name="Turned off because">{endpoint.disabled_reason?.replaceAll('_', ' ')}</Fact>
          <Fact name="API version">{endpoint.api_version}</Fact>
          <Fact name="Added">
            <Time at={endpoint.created} />
          </Fact>
        </FactList>
        {may('admin') ? (
          <EndpointDialogs endpoint={endpoint} onDeleted={() => navigate('/dashboard/webhooks')} />
        ) : null}
      </section>
      {may('admin') ? (
        <section className="card stack">
          <h2>Does your server check signatures?</h2>
          <p className="soft">
            We send one event with a valid signature, one signed by someone else, and one that is
            too old. Your server should accept the first and reject the others.
          </p>
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
    (cursor) => ({ path: { id: endpoint }, query: { limit: PAGE, cursor, status } }),
    { everyMs: WATCH_MS },
  );
  return (
    <section className="stack">
      <h2>Deliveries</h2>
      <FilterBar filters={filters}>
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
      </FilterBar>
      <LongList
        label="Deliveries"
        pages={pages}
        columns={DELIVERY_COLUMNS}
        keyOf={({ id }) => id}
        filters={filters}
        empty={
          <EmptyState drawing={<EmptyDrawing name="post" />} title="No deliveries yet">
            The next matching event is sent within a second. Send a test event to see one.
          </EmptyState>
        }
      />
    </section>
  );
}

/** One delivery: what was sent, and what came back. */
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
      kind="primary"
      request={() =>
        call('POST /accounts/{account}/{mode}/webhook_deliveries/{id}/retry', { path: { id } })
      }
    >
      Resend
    </ActionButton>
  ) : null;
  return (
    <Page title="Delivery" actions={resend}>
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
      <div className="headline">
        <h2>{delivery.event_type}</h2>
        <ObjectStatus status={delivery.status} />
        <CopyId id={delivery.id} />
      </div>
      <Told delivery={delivery} />
      <section className="card stack">
        <FactList>
          <Fact name="Endpoint">
            <ObjectLink id={delivery.webhook_endpoint} />
          </Fact>
          <Fact name="Event">
            <ObjectLink id={delivery.event} />
          </Fact>
          <Fact name="First due">
            <Time at={delivery.created} shape="exact" />
          </Fact>
        </FactList>
        <h2>Body</h2>
        {event === undefined ? (
          <p className="soft">Events are kept for 30 days.</p>
        ) : (
          <pre className="code">{JSON.stringify(event, null, 2)}</pre>
        )}
      </section>
    </>
  );
}
