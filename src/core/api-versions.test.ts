import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defineVersions, type VersionChange } from '#core/api-versions.ts';

const renamed: VersionChange = {
  version: '2027-01-15',
  summary: 'payment_intent.order_id is called reference.',
  upgradeRequest: {
    createPaymentIntent: ({ order_id: reference = null, ...rest }) => ({ ...rest, reference }),
  },
  downgradeObject: {
    payment_intent: ({ reference = null, ...rest }) => ({ ...rest, order_id: reference }),
  },
};

const split: VersionChange = {
  version: '2027-06-01',
  summary: 'payment_intent.amount is an object.',
  downgradeObject: {
    payment_intent: ({ amount, ...rest }) => ({
      ...rest,
      amount: (amount as { value: number }).value,
    }),
  },
};

const versions = defineVersions('2026-09-28', [renamed, split]);
const intent = { object: 'payment_intent', amount: { value: 5 }, reference: 'A-1' };

test('the newest version gets the stored text, byte for byte', () => {
  const text = '{"object": "payment_intent"}';
  assert.equal(versions.downgrade(text, '2027-06-01'), text);
});

test('each change in between is undone, newest first', () => {
  const text = JSON.stringify(intent);
  assert.deepEqual(JSON.parse(versions.downgrade(text, '2027-01-15')), {
    object: 'payment_intent',
    reference: 'A-1',
    amount: 5,
  });
  assert.deepEqual(JSON.parse(versions.downgrade(text, '2026-09-28')), {
    object: 'payment_intent',
    amount: 5,
    order_id: 'A-1',
  });
});

test('objects inside lists and events are rewritten, and an event names its version', () => {
  const event = { object: 'event', api_version: '2027-06-01', data: { object: intent } };
  const text = JSON.stringify({ object: 'list', data: [event] });
  const shown = JSON.parse(versions.downgrade(text, '2026-09-28'));
  assert.equal(shown.data[0].api_version, '2026-09-28');
  assert.equal(shown.data[0].data.object.order_id, 'A-1');
});

test('an older request is upgraded to the newest shape', () => {
  const body = { amount: 5, order_id: 'A-1' };
  assert.deepEqual(versions.upgradeRequest('createPaymentIntent', body, '2026-09-28'), {
    amount: 5,
    reference: 'A-1',
  });
  assert.deepEqual(versions.upgradeRequest('createPaymentIntent', body, '2027-06-01'), body);
  assert.deepEqual(versions.upgradeRequest('createRefund', body, '2026-09-28'), body);
});

test('versions out of order are refused when the service starts', () => {
  assert.throws(() => defineVersions('2026-09-28', [split, renamed]), /ascending order/);
});
