import type { Json } from '#core/canonical-json.ts';
import { networkOf } from '#core/mode.ts';

export type DeliveryStatus = 'pending' | 'succeeded' | 'failed';

export const DELIVERY_STATUSES = ['pending', 'succeeded', 'failed'] as const;

export interface DeliveryRow {
  id: string;
  account_id: string;
  livemode: boolean;
  endpoint_id: string;
  event_id: string;
  event_type: string;
  /** Its position in lists, which is that of its event. */
  event_created: Date;
  event_position: bigint;
  status: DeliveryStatus;
  attempt: number;
  response_status: number | null;
  response_body: string | null;
  error: string | null;
  duration_ms: number | null;
  next_attempt_at: Date | null;
  created: Date;
  updated: Date;
}

/** The delivery object of behavior.md 11. */
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
