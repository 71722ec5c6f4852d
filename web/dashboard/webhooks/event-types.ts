/** Event families. Each can be selected with a wildcard, such as `payment.*`. */
export const FAMILIES = [
  'payment_intent',
  'payment',
  'offline_payment',
  'refund',
  'terminal',
  'balance',
  'webhook_endpoint',
  'kyb',
  'export',
  'shift',
] as const;

/** Returns the family of a name such as `payment.*`, or `null` for one exact type. */
export function familyOf(name: string): (typeof FAMILIES)[number] | null {
  return FAMILIES.find((family) => name === `${family}.*`) ?? null;
}

/** Event types offered as filters of the list. */
export const EVENT_TYPES: readonly string[] = [
  'payment_intent.created',
  'payment_intent.requires_action',
  'payment_intent.processing',
  'payment_intent.succeeded',
  'payment_intent.canceled',
  'payment_intent.payment_failed',
  'payment.succeeded',
  'payment.refunded',
  'payment.cashback_paid',
  'offline_payment.succeeded',
  'offline_payment.bounced',
  'refund.created',
  'refund.succeeded',
  'refund.failed',
  'refund.updated',
  'terminal.created',
  'terminal.updated',
  'kyb.status_changed',
  'balance.withdrawal_paid',
  'webhook_endpoint.disabled',
  'export.ready',
  'shift.ended',
  'ping',
];
