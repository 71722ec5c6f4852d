import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TSchema } from 'typebox';
import { sampleOf } from '#apis/test-helpers/sample-objects.ts';
import { merchantWebhooks } from '#app/merchant-webhooks.ts';
import { present } from '#core/assert.ts';
import { newId } from '#core/ids.ts';
import { EVENT_TYPES } from '#events/event-types.ts';
import { compileCheck } from '#http/validate-by-schema.ts';

test('the made-up object of each triggered event has the declared schema', () => {
  const declared = new Map(merchantWebhooks().map((one) => [one.type, one]));
  const now = new Date('2026-11-29T12:00:00.000Z');
  for (const type of EVENT_TYPES) {
    if (type === 'ping') continue;
    const { schema, example } = present(declared.get(type), type);
    const { object, previousAttributes } = sampleOf(type, newId('account', now), now);
    const changed =
      previousAttributes === undefined ? {} : { previous_attributes: previousAttributes };
    const event = { ...(example as object), data: { object, ...changed } };
    assert.equal(compileCheck(schema as TSchema, 'body')(event), null, type);
  }
});
