import { type ReactNode, useState } from 'react';
import { useLocation } from 'wouter';
import type { WebhookEndpoint, WebhookEndpointWithSecret } from '../../data/types/dashboard.ts';
import { Form } from '../../desk/form.tsx';
import { List } from '../../desk/list.tsx';
import { useSend } from '../../desk/send.ts';
import { ShownOnce } from '../../desk/shown-once.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { EmptyDrawing } from '../../ui/empty-drawing.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Page } from '../../ui/shell.tsx';
import { ObjectStatus } from '../../ui/status.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { useMerchant, useRead } from '../merchant.ts';
import {
  ENDPOINT_FIELDS,
  type EndpointDraft,
  EndpointFields,
  endpointBody,
} from '../parts/endpoint-fields.tsx';
import { ObjectLink } from '../parts/object-link.tsx';
import { ReceiverCheck } from '../parts/receiver-check.tsx';
import { Undelivered } from '../parts/undelivered.tsx';

const COLUMNS: readonly Column<WebhookEndpoint>[] = [
  { name: 'Endpoint', cell: ({ id }) => <ObjectLink id={id} /> },
  { name: 'Address', cell: ({ url }) => <span className="id">{url}</span> },
  { name: 'Status', cell: ({ status }) => <ObjectStatus status={status} /> },
  {
    name: 'Failing since',
    cell: ({ failing_since: since }) => (since === null ? '' : <Time at={since} />),
  },
];

export function Webhooks(): ReactNode {
  const { may } = useMerchant();
  const [isAdding, setIsAdding] = useState(false);
  const [made, setMade] = useState<WebhookEndpointWithSecret | null>(null);
  const [, navigate] = useLocation();
  const query = useRead('GET /accounts/{account}/{mode}/webhook_endpoints');
  const add = may('admin') ? (
    <Button kind="primary" onClick={() => setIsAdding(true)}>
      Add endpoint
    </Button>
  ) : null;
  return (
    <Page title="Webhooks" actions={add}>
      <List
        label="Webhook endpoints"
        query={query}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        empty={
          <EmptyState drawing={<EmptyDrawing name="post" />} title="No endpoints yet">
            An endpoint is an address on your server. We send each event as it happens, signed, and
            retry for three days.
          </EmptyState>
        }
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
          title="The signing secret"
          label="Signing secret"
          secret={made.secret}
          onClose={() => navigate(`/dashboard/webhooks/${made.id}`)}
        >
          <p className="soft">
            Your server uses it to check each event’s signature. Once it has the secret, test that
            here: we send one valid event, and two that it should reject.
          </p>
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
    if (draft.url.trim() === '') return sending.refuse('url', 'Enter the address of your server.');
    if (draft.events.length === 0) return sending.refuse('enabled_events', 'Choose what to send.');
    const made = await sending.send(() =>
      call('POST /accounts/{account}/{mode}/webhook_endpoints', { body: endpointBody(draft) }),
    );
    if (made !== null) onAdded(made);
  };
  return (
    <Dialog title="New endpoint" onClose={onClose}>
      <Form sending={sending} onSend={add} send="Add endpoint" onCancel={onClose}>
        <EndpointFields draft={draft} onChange={setDraft} sending={sending} />
      </Form>
    </Dialog>
  );
}
