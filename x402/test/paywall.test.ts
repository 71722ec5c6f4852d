import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Hex, type Log, numberToHex, pad, toEventSelector } from 'viem';
import { hasMoved } from '../src/find-arrival.ts';
import { type Facilitator, paywallOf } from '../src/index.ts';
import { decodeHeader, type Settled } from '../src/payment-requirements.ts';

const NETWORK = 'eip155:31337';

test('a used nonce has paid only if the token logs the transfer directly after it', () => {
  const usdc = numberToHex(0x05dc, { size: 20 });
  const [from, to, other] = [1, 2, 3].map((one) => numberToHex(one, { size: 20 })) as [
    Hex,
    Hex,
    Hex,
  ];
  const nonce = numberToHex(7, { size: 32 });
  const word = (address: Hex) => pad(address, { size: 32 });
  const used = [toEventSelector('AuthorizationUsed(address,bytes32)'), word(from), nonce];
  const moved = (recipient: Hex) => {
    return [toEventSelector('Transfer(address,address,uint256)'), word(from), word(recipient)];
  };
  const log = (topics: Hex[], logIndex: number, address = usdc) => {
    const data = topics[0] === used[0] ? '0x' : numberToHex(5, { size: 32 });
    return { address, topics, data, logIndex } as unknown as Log;
  };
  const hasPaid = (...logs: Log[]) => hasMoved(usdc, logs, { from, nonce, to, value: 5n });
  assert.equal(hasPaid(log(used, 0), log(moved(to), 1)), true);
  assert.equal(hasPaid(log(used, 0)), false, 'no transfer');
  assert.equal(hasPaid(log(moved(to), 1)), false, 'another nonce');
  assert.equal(hasPaid(log(used, 0), log(moved(other), 1)), false, 'another recipient');
  assert.equal(hasPaid(log(used, 0), log(moved(to), 2)), false, 'the transfer of another nonce');
  assert.equal(hasPaid(log(used, 0), log(moved(to), 1, other)), false, 'another token');
});

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
