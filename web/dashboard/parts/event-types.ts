/** Families of events, as `payment.*` names them all. */
export const FAMILIES = [
  'payment_intent',
  'payment',
  'refund',
  'terminal',
  'balance',
  'webhook_endpoint',
  'kyb',
] as const;

/** The family that all types of such a name belong to; null: it names one type. */
export function familyOf(name: string): (typeof FAMILIES)[number] | null {
  return FAMILIES.find((family) => name === `${family}.*`) ?? null;
}

/** All types that the list can be filtered by. */
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
  'refund.created',
  'refund.succeeded',
  'refund.failed',
  'refund.updated',
  'terminal.created',
  'terminal.updated',
  'kyb.status_changed',
  'balance.withdrawal_paid',
  'webhook_endpoint.disabled',
  'ping',
];
