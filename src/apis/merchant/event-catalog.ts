import Type, { type TSchema } from 'typebox';
import { EXAMPLE_STATES } from '#apis/merchant/event-example-states.ts';
import { DATA, eventFields } from '#apis/merchant/event-schema.ts';
import { EVENT_TYPES, type EventType } from '#events/event-types.ts';
import { CURRENT_API_VERSION } from '#events/event-versions.ts';

export interface ObjectDeclaration {
  readonly schema: TSchema;
  readonly example: { readonly [key: string]: unknown };
}

/**
 * The resources that events contain, by the family of their events. Each resource's folder
 * declares its own. The code that assembles the API reference passes them in, so that this folder
 * depends on no domain.
 */
export interface EventObjects {
  readonly payment_intent: ObjectDeclaration;
  readonly payment: ObjectDeclaration;
  readonly refund: ObjectDeclaration;
  readonly offline_payment: ObjectDeclaration;
  readonly terminal: ObjectDeclaration;
  readonly withdrawal: ObjectDeclaration;
  readonly kyb: ObjectDeclaration;
  readonly export: ObjectDeclaration;
  readonly shift: ObjectDeclaration;
  readonly webhook_endpoint: ObjectDeclaration;
}

interface TypeDeclaration {
  readonly object: keyof EventObjects;
  readonly when: string;
  /** True if the event carries `previous_attributes`. */
  readonly changes?: true;
}

/**
 * The resource that each event type contains, and when the event is sent. A missing type does not
 * compile.
 */
const TYPES: Readonly<Record<EventType, TypeDeclaration>> = {
  ping: {
    object: 'webhook_endpoint',
    when:
      'A test of this endpoint was requested. It is sent to this endpoint only, once, ' +
      'whatever it subscribes to.',
  },
  'payment_intent.created': {
    object: 'payment_intent',
    when: 'A payment intent was created, by the API or on a terminal.',
  },
  'payment_intent.requires_action': {
    object: 'payment_intent',
    when: 'The payer has to confirm the payment in the payer app, within 60 seconds.',
  },
  'payment_intent.processing': {
    object: 'payment_intent',
    when: 'The settlement was requested. The result follows in another event.',
  },
  'payment_intent.succeeded': {
    object: 'payment_intent',
    when: 'The payment is settled on the blockchain.',
  },
  'payment_intent.canceled': {
    object: 'payment_intent',
    when: 'The intent was canceled or expired. Nothing was charged.',
  },
  'payment_intent.payment_failed': {
    object: 'payment_intent',
    when: 'A payment was declined; last_payment_error says why. Nothing was charged.',
  },
  'payment.succeeded': {
    object: 'payment',
    when: 'A payment is settled and is in the merchant balance.',
  },
  'payment.refunded': {
    object: 'payment',
    when: 'A refund of the payment succeeded, in part or in full.',
  },
  'payment.cashback_paid': {
    object: 'payment',
    when: 'The payer received the cashback of the payment.',
  },
  'refund.created': { object: 'refund', when: 'A refund was requested.' },
  'refund.succeeded': { object: 'refund', when: 'The refund was paid to the payer.' },
  'refund.failed': { object: 'refund', when: 'The refund failed. No money moved.' },
  'refund.updated': {
    object: 'refund',
    when: 'A refund changed after it was created.',
    changes: true,
  },
  'offline_payment.succeeded': {
    object: 'offline_payment',
    when: 'A sale that a till had accepted offline is settled.',
  },
  'offline_payment.bounced': {
    object: 'offline_payment',
    when:
      'A sale that a till had accepted offline cannot be paid; bounce_reason says why. ' +
      'Nothing was charged, and the merchant bears the loss.',
  },
  'terminal.created': { object: 'terminal', when: 'A terminal was added in the dashboard.' },
  'terminal.updated': {
    object: 'terminal',
    when: 'A terminal was renamed, activated, deactivated, or got other limits of offline sales.',
    changes: true,
  },
  'kyb.status_changed': {
    object: 'kyb',
    when: 'The business verification was decided. Sent in both modes.',
  },
  'balance.withdrawal_paid': {
    object: 'withdrawal',
    when: 'A withdrawal has reached the settlement wallet.',
  },
  'export.ready': {
    object: 'export',
    when: 'A period of the export schedule has ended: `url` downloads its statement.',
  },
  'shift.ended': {
    object: 'shift',
    when: 'A shift at a terminal has ended. The event carries its report.',
  },
  'webhook_endpoint.disabled': {
    object: 'webhook_endpoint',
    when:
      'The service disabled an endpoint after five days of failures or a 410 Gone response. Sent ' +
      "to the account's other endpoints.",
  },
};

export interface CatalogEntry {
  readonly type: EventType;
  readonly when: string;
  readonly schema: TSchema;
  readonly example: { readonly [key: string]: unknown };
}

const exampleFields = {
  id: 'evt_01QzXo1SdW6tWR3qXn9Uo4',
  object: 'event',
  api_version: CURRENT_API_VERSION,
  livemode: false,
  network: 'testnet',
  created: '2026-10-01T12:00:21.214Z',
  sequence: 42,
} as const;

/** An example of an event in the API reference, with a shortened object. */
export const EVENT_EXAMPLE = {
  ...exampleFields,
  type: 'payment.succeeded',
  data: { object: { id: 'pay_01QzXo1SdW6tWR3qXn9Uo4', object: 'payment', amount: 2500000 } },
} as const;

const PreviousAttributes = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: true,
  minProperties: 1,
  description: 'The fields that changed, with the values that they had before.',
});

function entryOf(type: EventType, objects: EventObjects): CatalogEntry {
  const { object, when, changes } = TYPES[type];
  const { schema, example: plain } = objects[object];
  const example = { ...plain, ...EXAMPLE_STATES[type] };
  const constant = Type.Literal(type, { description: 'The type of the event.' });
  const data =
    changes === undefined
      ? Type.Object({ object: schema }, DATA)
      : Type.Object({ object: schema, previous_attributes: PreviousAttributes }, DATA);
  return {
    type,
    when,
    schema: Type.Object(
      { ...eventFields, type: constant, data },
      { title: `Event ${type}`, description: when },
    ),
    example: {
      ...exampleFields,
      type,
      data:
        changes === undefined
          ? { object: example }
          : { object: example, previous_attributes: { status: 'pending' } },
    },
  };
}

export function eventCatalog(objects: EventObjects): readonly CatalogEntry[] {
  return EVENT_TYPES.map((type) => entryOf(type, objects));
}
