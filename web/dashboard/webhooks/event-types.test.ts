import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EVENT_FAMILIES, EVENT_TYPES as SERVED } from '#events/event-types.ts';
import { EVENT_TYPES, FAMILIES } from './event-types.ts';

test('the dashboard offers each event type and each family of the server', () => {
  assert.deepEqual(EVENT_TYPES.toSorted(), SERVED.toSorted());
  assert.deepEqual(FAMILIES.map((family) => `${family}.*`).sort(), EVENT_FAMILIES.toSorted());
});
