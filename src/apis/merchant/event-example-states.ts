import type { EventType } from '#events/event-types.ts';

const TAPPED_AT = '2026-10-01T12:00:20.114Z';
const tapped = { picked_up_at: '2026-10-01T12:00:00.021Z', tapped_at: TAPPED_AT };

/** The fields whose values in an event's example differ from the default example of its object. */
export const EXAMPLE_STATES: Readonly<
  Partial<Record<EventType, { readonly [field: string]: unknown }>>
> = {
  'payment_intent.requires_action': {
    ...tapped,
    status: 'requires_action',
    next_action: {
      type: 'payer_confirmation',
      reason_code: 'FIRST_MERCHANT_PAYMENT',
      expires_at: '2026-10-01T12:01:20.114Z',
    },
  },
  'payment_intent.processing': { ...tapped, status: 'processing' },
  'payment_intent.succeeded': {
    ...tapped,
    status: 'succeeded',
    payment: 'pay_01QzXo1SdW6tWR3qXn9Uo4',
    tx_hash: '0x8f0b2c6d1e4a7f3905c8b1d2e6f7a4093b5c6d7e8f901a2b3c4d5e6f708192a3',
  },
  'payment_intent.canceled': {
    status: 'canceled',
    cancellation_reason: 'expired',
    canceled_at: '2026-10-01T12:02:00.000Z',
  },
  'payment_intent.payment_failed': {
    ...tapped,
    last_payment_error: {
      type: 'payment_error',
      code: 'payment_declined',
      decline_code: 'insufficient_funds',
      reason_code: 'INSUFFICIENT_FUNDS',
      message: 'The wallet does not hold enough USDC.',
      created: TAPPED_AT,
      customer_message: 'There is not enough money in your wallet for this payment.',
    },
  },
  'payment.refunded': {
    status: 'partially_refunded',
    amount_refunded: 1000000,
    customer_message: 'Paid. Part of it was sent back to your wallet.',
  },
  'offline_payment.bounced': {
    status: 'bounced',
    bounce_reason: 'insufficient_funds',
    payment_intent: null,
    payment: null,
  },
  'refund.created': { status: 'pending', tx_hash: null },
  'refund.failed': {
    status: 'failed',
    failure_code: 'insufficient_balance',
    failure_message: 'The merchant balance is smaller than the refund.',
    tx_hash: null,
  },
  'webhook_endpoint.disabled': {
    status: 'disabled',
    disabled_reason: 'persistent_failure',
    failing_since: '2026-09-26T12:00:00.000Z',
  },
};
