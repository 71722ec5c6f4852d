import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import Type from 'typebox';
import { type EventObjects, eventCatalog } from '#apis/merchant/event-catalog.ts';
import { PaymentIntentSchema, PaymentSchema } from '#apis/merchant/payment-schema.ts';
import { REFUND_EXAMPLE, RefundSchema } from '#apis/merchant/refund-schema.ts';
import { SHIFT_REPORT_EXAMPLE, ShiftReportSchema } from '#apis/merchant/shift-schema.ts';
import { TERMINAL_EXAMPLE, TerminalSchema } from '#apis/merchant/terminal-schema.ts';
import { ENDPOINT_EXAMPLE, EndpointSchema } from '#apis/merchant/webhook-schema.ts';
import { EVENT_FAMILIES, EVENT_TYPES } from '#events/event-types.ts';
import { CURRENT_API_VERSION, renderEventForVersion } from '#events/event-versions.ts';
import { compileCheck } from '#http/validate-by-schema.ts';
import { PAYMENT_EXAMPLE, PAYMENT_INTENT_EXAMPLE } from '#payments/api-examples.ts';

const other = { schema: Type.Object({ object: Type.String() }), example: { object: 'other' } };

const objects: EventObjects = {
  payment_intent: { schema: PaymentIntentSchema, example: PAYMENT_INTENT_EXAMPLE },
  payment: { schema: PaymentSchema, example: PAYMENT_EXAMPLE },
  refund: { schema: RefundSchema, example: REFUND_EXAMPLE },
  terminal: { schema: TerminalSchema, example: TERMINAL_EXAMPLE },
  webhook_endpoint: { schema: EndpointSchema, example: ENDPOINT_EXAMPLE },
  offline_payment: other,
  withdrawal: other,
  kyb: other,
  export: other,
  shift: { schema: ShiftReportSchema, example: SHIFT_REPORT_EXAMPLE },
};

describe('the catalog of events', () => {
  test('lists every type once, with a description, a schema and an example that matches it', () => {
    const catalog = eventCatalog(objects);
    assert.deepEqual(
      catalog.map((entry) => entry.type),
      EVENT_TYPES,
    );
    for (const { type, when, schema, example } of catalog) {
      assert.ok(when.length > 20, type);
      assert.equal(compileCheck(schema, 'body')(example), null, type);
      assert.notEqual(compileCheck(schema, 'body')({ ...example, type: 'x' }), null, type);
      assert.notEqual(compileCheck(schema, 'body')({ ...example, data: {} }), null, type);
    }
  });

  test('only *.updated events carry previous_attributes', () => {
    for (const { type, example } of eventCatalog(objects)) {
      const { data } = example as { data: object };
      assert.equal('previous_attributes' in data, type.endsWith('.updated'), type);
    }
  });

  test('the event families match the event types', () => {
    assert.deepEqual(EVENT_FAMILIES, [
      'payment_intent.*',
      'payment.*',
      'refund.*',
      'offline_payment.*',
      'terminal.*',
      'kyb.*',
      'balance.*',
      'webhook_endpoint.*',
      'export.*',
      'shift.*',
    ]);
  });
});

describe('pinned versions', () => {
  test('the newest version gets the stored bytes', () => {
    const body = '{"id":"evt_1","data":{"object":{"amount":1}}}';
    assert.equal(renderEventForVersion(body, CURRENT_API_VERSION), body);
  });

  test('rendering an unknown version throws instead of guessing a shape', () => {
    assert.throws(() => renderEventForVersion('{}', '1999-01-01'));
  });
});
