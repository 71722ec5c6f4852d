import { kybObject } from '#accounts/kyb-review.ts';
import { EXAMPLE_STATES } from '#apis/merchant/event-example-states.ts';
import { OFFLINE_PAYMENT_EXAMPLE } from '#apis/merchant/offline-schema.ts';
import { REFUND_EXAMPLE } from '#apis/merchant/refund-schema.ts';
import { SHIFT_REPORT_EXAMPLE } from '#apis/merchant/shift-schema.ts';
import { TERMINAL_EXAMPLE } from '#apis/merchant/terminal-schema.ts';
import type { Json } from '#core/canonical-json.ts';
import { type IdKind, newId } from '#core/ids.ts';
import type { EventType } from '#events/event-types.ts';
import { PAYMENT_EXAMPLE, PAYMENT_INTENT_EXAMPLE } from '#payments/api-examples.ts';
import { paymentError } from '#payments/decline-codes.ts';

/** Every type can be triggered, except `ping`, which only an endpoint's own test sends. */
export type SampleType = Exclude<EventType, 'ping'>;

type JsonObject = { [key: string]: Json };

export interface Sample {
  readonly objectId: string;
  readonly object: JsonObject;
  readonly previousAttributes?: JsonObject;
}

/** Draws the IDs of one made-up sale. Its objects share them. */
function createIds(now: Date) {
  const ids = new Map<IdKind, string>();
  return (kind: IdKind) => {
    const id = ids.get(kind) ?? newId(kind, now);
    ids.set(kind, id);
    return id;
  };
}

type Ids = ReturnType<typeof createIds>;

function intent(ids: Ids, now: Date, changes: JsonObject): Sample {
  const object = {
    ...PAYMENT_INTENT_EXAMPLE,
    id: ids('paymentIntent'),
    terminal: ids('terminal'),
    created: now.toISOString(),
    expires_at: new Date(now.getTime() + 120_000).toISOString(),
    ...changes,
  };
  return { objectId: object.id, object: structuredClone(object) as JsonObject };
}

function payment(ids: Ids, now: Date, changes: JsonObject = {}): Sample {
  const object = {
    ...PAYMENT_EXAMPLE,
    id: ids('payment'),
    terminal: ids('terminal'),
    payment_intent: ids('paymentIntent'),
    settled_at: now.toISOString(),
    created: now.toISOString(),
    ...changes,
  };
  return { objectId: object.id, object: structuredClone(object) as JsonObject };
}

function refund(ids: Ids, now: Date, changes: JsonObject): Sample {
  const at = now.toISOString();
  const object = { ...REFUND_EXAMPLE, id: ids('refund'), payment: ids('payment') };
  const changed = { ...object, created: at, updated: at, ...changes };
  return { objectId: object.id, object: structuredClone(changed) as JsonObject };
}

function terminal(ids: Ids, changes: JsonObject = {}): Sample {
  const object = { ...TERMINAL_EXAMPLE, id: ids('terminal'), ...changes };
  return { objectId: object.id, object: structuredClone(object) as JsonObject };
}

function offlinePayment(
  type: SampleType & `offline_payment.${string}`,
  ids: Ids,
  now: Date,
): Sample {
  const object = {
    ...OFFLINE_PAYMENT_EXAMPLE,
    id: ids('offlinePayment'),
    terminal: ids('terminal'),
    payment_intent: ids('paymentIntent'),
    payment: ids('payment'),
    accepted_at: new Date(now.getTime() - 3_600_000).toISOString(),
    created: now.toISOString(),
    ...EXAMPLE_STATES[type],
  };
  return { objectId: object.id, object: structuredClone(object) as JsonObject };
}

function exported(now: Date): Sample {
  const object = {
    object: 'export',
    url: 'https://example.com/api/dashboard/v1/exports/sample',
    format: 'csv',
    ...{ from: '2026-09-01', to: '2026-09-30', entries: 214 },
    expires_at: new Date(now.getTime() + 604_800_000).toISOString(),
  };
  return { objectId: 'export month 2026-09-01', object };
}

function shift(ids: Ids, now: Date): Sample {
  const object = {
    ...SHIFT_REPORT_EXAMPLE,
    id: ids('shift'),
    terminal: ids('terminal'),
    ended_at: now.toISOString(),
  };
  return { objectId: object.id, object: structuredClone(object) as JsonObject };
}

function withdrawal(ids: Ids, now: Date): Sample {
  const id = ids('withdrawal');
  const object = {
    id,
    object: 'withdrawal',
    livemode: false,
    network: 'testnet',
    amount: 25000000,
    currency: 'usdc',
    shop_rate: null,
    wallet: PAYMENT_EXAMPLE.payer,
    status: 'succeeded',
    failure_code: null,
    failure_message: null,
    tx_hash: PAYMENT_EXAMPLE.tx_hash,
    automatic: false,
    period: null,
    created: now.toISOString(),
    updated: now.toISOString(),
  };
  return { objectId: id, object };
}

function endpoint(ids: Ids, now: Date): Sample {
  const id = ids('webhookEndpoint');
  const object = {
    id,
    object: 'webhook_endpoint',
    livemode: false,
    network: 'testnet',
    url: 'https://example.com/webhooks',
    enabled_events: ['*'],
    description: null,
    api_version: '2026-09-28',
    status: 'disabled',
    disabled_reason: 'persistent_failure',
    failing_since: now.toISOString(),
    created: now.toISOString(),
    updated: now.toISOString(),
  };
  return { objectId: id, object };
}

function failedPayment(now: Date): JsonObject {
  return { last_payment_error: { ...paymentError('insufficient_funds', now) } };
}

function intentSample(type: SampleType & `payment_intent.${string}`, ids: Ids, now: Date): Sample {
  switch (type) {
    case 'payment_intent.created':
      return intent(ids, now, {});
    case 'payment_intent.requires_action':
      return intent(ids, now, {
        status: 'requires_action',
        next_action: {
          type: 'payer_confirmation',
          reason_code: 'FIRST_MERCHANT_PAYMENT',
          expires_at: new Date(now.getTime() + 60_000).toISOString(),
        },
      });
    case 'payment_intent.processing':
      return intent(ids, now, { status: 'processing' });
    case 'payment_intent.succeeded': {
      const paid = { payment: ids('payment'), tx_hash: PAYMENT_EXAMPLE.tx_hash };
      return intent(ids, now, { status: 'succeeded', ...paid });
    }
    case 'payment_intent.canceled': {
      const reason = { cancellation_reason: 'requested_by_merchant' };
      return intent(ids, now, { status: 'canceled', canceled_at: now.toISOString(), ...reason });
    }
    case 'payment_intent.payment_failed':
      return intent(ids, now, failedPayment(now));
  }
}

function refundSample(type: SampleType & `refund.${string}`, ids: Ids, now: Date): Sample {
  switch (type) {
    case 'refund.created':
      return refund(ids, now, { status: 'pending', tx_hash: null });
    case 'refund.succeeded':
      return refund(ids, now, {});
    case 'refund.failed': {
      const failure_message = 'The merchant balance does not cover the refund.';
      const failure = { failure_code: 'insufficient_balance', failure_message, tx_hash: null };
      return refund(ids, now, { status: 'failed', ...failure });
    }
    case 'refund.updated': {
      const previousAttributes = { status: 'pending', tx_hash: null };
      return { ...refund(ids, now, {}), previousAttributes };
    }
  }
}

export function sampleOf(type: SampleType, accountId: string, now: Date): Sample {
  const ids = createIds(now);
  switch (type) {
    case 'payment.succeeded':
    case 'payment.cashback_paid':
      return payment(ids, now);
    case 'payment.refunded':
      return payment(ids, now, EXAMPLE_STATES['payment.refunded'] as JsonObject);
    case 'offline_payment.succeeded':
    case 'offline_payment.bounced':
      return offlinePayment(type, ids, now);
    case 'terminal.created':
      return terminal(ids);
    case 'terminal.updated':
      return { ...terminal(ids, { status: 'inactive' }), previousAttributes: { status: 'active' } };
    case 'kyb.status_changed': {
      const decision = { livemode: false, reason: null, now };
      const object = kybObject({ id: accountId, kyb_status: 'approved' }, decision);
      return { objectId: accountId, object };
    }
    case 'export.ready':
      return exported(now);
    case 'shift.ended':
      return shift(ids, now);
    case 'balance.withdrawal_paid':
      return withdrawal(ids, now);
    case 'webhook_endpoint.disabled':
      return endpoint(ids, now);
    case 'refund.created':
    case 'refund.succeeded':
    case 'refund.failed':
    case 'refund.updated':
      return refundSample(type, ids, now);
    default:
      return intentSample(type, ids, now);
  }
}
