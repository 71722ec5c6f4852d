import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Facilitator, paywallOf } from '../../x402/src/index.ts';
import { decodeHeader, type Settled } from '../../x402/src/payment-requirements.ts';

const NETWORK = 'eip155:31337';

test('while a service does not answer, the same payment can be sent again', async () => {
  const fault = new Error('connect ECONNREFUSED');
  const paid: Settled = { success: true, transaction: '0x1', network: NETWORK };
  const outcomes: (() => Promise<Settled>)[] = [
    () => Promise.reject(fault),
    () => Promise.resolve(paid),
  ];
  const facilitator = {
    requirements: () => ({ network: NETWORK }),
    requirementsFor: async () => ({ network: NETWORK }),
    settle: () => outcomes.shift()?.(),
  } as unknown as Facilitator;
  const errors: unknown[] = [];
  const paywall = paywallOf(facilitator, { onError: (error) => errors.push(error) });
  const headers = { 'PAYMENT-SIGNATURE': btoa('{}') };
  const request = () => new Request('https://shop.test/forecast', { headers });

  const first = await paywall(request(), { price: 1 });
  assert.ok(first instanceof Response);
  assert.deepEqual([first.status, first.headers.get('Retry-After')], [503, '2']);
  // A 402 would make the client sign a second payment.
  assert.equal(first.headers.get('PAYMENT-REQUIRED'), null);
  const settled = decodeHeader(first.headers.get('PAYMENT-RESPONSE') ?? '') as Settled;
  assert.deepEqual([settled.success, settled.errorReason], [false, 'settlement_pending']);
  const message = 'The result is unknown. Send the same request again.';
  assert.deepEqual(await first.json(), { error: 'settlement_pending', message });
  assert.deepEqual(errors, [fault]);

  const second = await paywall(request(), { price: 1 });
  assert.ok(!(second instanceof Response));
  assert.equal(second.transaction, '0x1');
});
