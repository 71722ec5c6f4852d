/** Families of events, and when each is sent. */
export const FAMILIES: Readonly<Record<string, string>> = {
  'payment_intent.*': 'A customer is asked to pay, pays, is declined, or does not pay',
  'payment.*': 'Money arrived, or was refunded',
  'refund.*': 'Refunds start and end',
  'terminal.*': 'Tills are added and changed',
  'balance.*': 'Money was paid out to your wallet',
  'webhook_endpoint.*': 'An endpoint was turned off because it failed',
  'kyb.*': 'The verification of your business',
};

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
