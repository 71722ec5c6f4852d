import type { Json } from '#core/canonical-json.ts';
import { networkOf } from '#core/mode.ts';
import { as, type Row, table } from '#db/table.ts';

export type DeliveryStatus = 'pending' | 'succeeded' | 'failed';

export const DELIVERY_STATUSES = ['pending', 'succeeded', 'failed'] as const;

/** Columns that locate a delivery. Lists are ordered by the event's position. */
const PLACE = {
  endpoint_id: 'text',
  event_created: 'timestamptz',
  event_position: 'bigint',
  id: 'text',
  account_id: 'text',
  livemode: 'boolean',
  event_id: 'text',
  event_type: 'text',
  created: 'timestamptz',
} as const;

/** Columns with the response to the latest attempt. */
const ANSWER = {
  attempt: 'int',
  response_status: 'int?',
  response_body: 'text?',
  error: 'text?',
  duration_ms: 'int?',
} as const;

/** Deliveries that wait for their first attempt or a retry. */
export const webhookDue = table('webhook_due', {
  ...PLACE,
  ...ANSWER,
  updated: 'timestamptz',
  due_at: 'timestamptz',
});

/** Deliveries that have ended. */
export const webhookDeliveries = table('webhook_deliveries', {
  ...PLACE,
  ...ANSWER,
  updated: 'timestamptz',
  status: as<'succeeded' | 'failed'>('text'),
});

export const PLACE_COLUMNS = Object.keys(PLACE).join(', ');
export const ANSWER_COLUMNS = Object.keys(ANSWER).join(', ');

export type DeliveryRow = Omit<Row<typeof webhookDeliveries>, 'status'> & {
  status: DeliveryStatus;
  next_attempt_at: Date | null;
};

/** Renders the delivery object of behavior.md 11. */
export function renderDelivery(row: DeliveryRow): { [key: string]: Json } {
  return {
    id: row.id,
    object: 'webhook_delivery',
    livemode: row.livemode,
    network: networkOf(row.livemode),
    webhook_endpoint: row.endpoint_id,
    event: row.event_id,
    event_type: row.event_type,
    status: row.status,
    attempt: row.attempt,
    response_status: row.response_status,
    response_body: row.response_body,
    error: row.error,
    duration_ms: row.duration_ms,
    next_attempt_at: row.next_attempt_at?.toISOString() ?? null,
    created: row.created.toISOString(),
    updated: row.updated.toISOString(),
  };
}
