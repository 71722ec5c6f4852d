import { type ReactNode, useState } from 'react';
import { useLocation } from 'wouter';
import type { WebhookEndpoint, WebhookEndpointWithSecret } from '../../data/types/dashboard.ts';
import { FormDialog } from '../../desk/form-dialog.tsx';
import { List } from '../../desk/short-list.tsx';
import { ShownOnce } from '../../desk/shown-once.tsx';
import { useSend } from '../../desk/use-send.ts';
import { Button } from '../../ui/button.tsx';
import { Page } from '../../ui/shell.tsx';
import { ObjectStatus } from '../../ui/status.tsx';
import type { Column } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { Time } from '../../ui/time.tsx';
import { ObjectLink } from '../payments/object-link.tsx';
import { useMerchant, useRead } from '../use-merchant.ts';
import {
  ENDPOINT_FIELDS,
  type EndpointDraft,
  EndpointFields,
  endpointBody,
} from '../webhooks/endpoint-fields.tsx';
import { ReceiverCheck } from '../webhooks/receiver-check.tsx';
import { Undelivered } from '../webhooks/undelivered-events.tsx';

// Loaded as one file with this page, because each further file costs the first load some bytes.
export { DeliveryPage, WebhookPage } from './webhook.tsx';

/** Polling interval. Programs and colleagues add endpoints too, and no event tells of them. */
const WATCH_MS = 5_000;

const columns = (): readonly Column<WebhookEndpoint>[] => [
  { name: t('dashboard.field.endpoint'), cell: ({ id }) => <ObjectLink id={id} /> },
  {
    name: t('dashboard.webhooks.address.column'),
    cell: ({ url }) => <span className="id">{url}</span>,
  },
  { name: t('dashboard.field.status'), cell: ({ status }) => <ObjectStatus status={status} /> },
  {
    name: t('dashboard.webhooks.failing_since.column'),
    cell: ({ failing_since: since }) => (since === null ? '' : <Time at={since} />),
  },
];

export function Webhooks(): ReactNode {
  const { may } = useMerchant();
  const [isAdding, setIsAdding] = useState(false);
  const [made, setMade] = useState<WebhookEndpointWithSecret | null>(null);
  const [, navigate] = useLocation();
  const query = useRead('GET /accounts/{account}/{mode}/webhook_endpoints', undefined, {
    everyMs: WATCH_MS,
  });
  const add = may('admin') ? (
    <Button kind="primary" onClick={() => setIsAdding(true)}>
      {t('dashboard.button.add_endpoint')}
    </Button>
  ) : null;
  return (
    <Page title={t('dashboard.page.webhooks')} actions={add}>
      <List
        label={t('dashboard.webhooks.webhook_endpoints.label')}
        query={query}
        columns={columns()}
        keyOf={({ id }) => id}
        empty={{
          drawing: 'post',
          title: t('dashboard.webhooks.empty.heading'),
          text: t('dashboard.webhooks.empty'),
        }}
      />
      {query.data === undefined || query.data.data.length === 0 ? null : <Undelivered />}
      {isAdding ? (
        <AddEndpointDialog
          onAdded={(endpoint) => {
            setIsAdding(false);
            setMade(endpoint);
          }}
          onClose={() => setIsAdding(false)}
        />
      ) : null}
      {made === null ? null : (
        <ShownOnce
          title={t('dashboard.webhooks.the_signing_secret.heading')}
          label={t('dashboard.field.signing_secret')}
          secret={made.secret}
          onClose={() => navigate(`/dashboard/webhooks/${made.id}`)}
        >
          <p className="soft">{t('dashboard.webhooks.secret.text')}</p>
          <ReceiverCheck id={made.id} />
        </ShownOnce>
      )}
    </Page>
  );
}

interface AddEndpointDialogProps {
  readonly onAdded: (endpoint: WebhookEndpointWithSecret) => void;
  readonly onClose: () => void;
}

const NEW_ENDPOINT: EndpointDraft = { url: '', events: ['*'], description: '' };

function AddEndpointDialog({ onAdded, onClose }: AddEndpointDialogProps): ReactNode {
  const { call } = useMerchant();
  const [draft, setDraft] = useState(NEW_ENDPOINT);
  const sending = useSend(ENDPOINT_FIELDS);
  const add = async () => {
    if (draft.url.trim() === '')
      return sending.refuse('url', t('dashboard.webhooks.add.address_missing'));
    if (draft.events.length === 0)
      return sending.refuse('enabled_events', t('dashboard.webhooks.add.events_missing'));
    const made = await sending.send(() =>
      call('POST /accounts/{account}/{mode}/webhook_endpoints', { body: endpointBody(draft) }),
    );
    if (made !== null) onAdded(made);
  };
  return (
    <FormDialog
      title={t('dashboard.webhooks.new_endpoint.heading')}
      onClose={onClose}
      sending={sending}
      onSend={add}
      send={t('dashboard.button.add_endpoint')}
    >
      <EndpointFields draft={draft} onChange={setDraft} sending={sending} />
    </FormDialog>
  );
}
