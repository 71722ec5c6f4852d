import { Link } from 'wouter';
import type { WebhookDelivery } from '../../data/types/dashboard.ts';
import { ObjectStatus } from '../../ui/status.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { answerWords } from './told.tsx';

export const DELIVERY_COLUMNS: readonly Column<WebhookDelivery>[] = [
  {
    name: 'Delivery',
    cell: ({ id, webhook_endpoint: endpoint }) => (
      <Link className="id" href={`/dashboard/webhooks/${endpoint}/${id}`}>
        {id}
      </Link>
    ),
  },
  { name: 'Event', cell: ({ event_type }) => event_type },
  { name: 'Status', cell: ({ status }) => <ObjectStatus status={status} /> },
  { name: 'Response', cell: answerWords },
  { name: 'Attempts', number: true, cell: ({ attempt }) => String(attempt) },
  { name: 'Last change', cell: ({ updated }) => <Time at={updated} /> },
];
