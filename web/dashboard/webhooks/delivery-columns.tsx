import { Link } from 'wouter';
import type { WebhookDelivery } from '../../data/types/dashboard.ts';
import { ObjectStatus } from '../../ui/status.tsx';
import type { Column } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { given } from '../../ui/text/untranslated-parts.ts';
import { Time } from '../../ui/time.tsx';
import { answerWords } from './delivery-answer.tsx';

export const deliveryColumns = (): readonly Column<WebhookDelivery>[] => [
  {
    name: t('dashboard.delivery_columns.delivery.column'),
    cell: ({ id, webhook_endpoint: endpoint }) => (
      <Link className="id" href={`/dashboard/webhooks/${endpoint}/${id}`}>
        {id}
      </Link>
    ),
  },
  { name: t('dashboard.field.event'), cell: ({ event_type }) => given(event_type) },
  { name: t('dashboard.field.status'), cell: ({ status }) => <ObjectStatus status={status} /> },
  { name: t('dashboard.delivery_columns.response.column'), cell: answerWords },
  {
    name: t('dashboard.delivery_columns.attempts.column'),
    number: true,
    cell: ({ attempt }) => String(attempt),
  },
  { name: t('dashboard.field.last_change'), cell: ({ updated }) => <Time at={updated} /> },
];
