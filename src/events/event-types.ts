/** Every event type (behavior.md 10.2). */
export const EVENT_TYPES = [
  'ping',
  'payment_intent.created',
  'payment_intent.requires_action',
  'payment_intent.processing',
  'payment_intent.succeeded',
  'payment_intent.canceled',
  'payment_intent.payment_failed',
  'payment.succeeded',
  'payment.refunded',
  'payment.cashback_paid',
  'refund.created',
  'refund.succeeded',
  'refund.failed',
  'refund.updated',
  'offline_payment.succeeded',
  'offline_payment.bounced',
  'terminal.created',
  'terminal.updated',
  'kyb.status_changed',
  'balance.withdrawal_paid',
  'webhook_endpoint.disabled',
  'export.ready',
  'shift.ended',
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

/**
 * Returns the family of a type, such as `payment_intent.*` for `payment_intent.created`, to which
 * endpoints may subscribe.
 */
export function familyOf(type: string): string {
  return `${type.split('.')[0]}.*`;
}

export const EVENT_FAMILIES: readonly string[] = [
  ...new Set(EVENT_TYPES.filter((type) => type.includes('.')).map(familyOf)),
];
