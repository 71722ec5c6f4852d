import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Answer } from '#core/answer.ts';
import { isRefusal, type Refusal } from '#core/refusal.ts';
import { payIntent } from '#payments/pay.ts';
import {
  addIntent,
  addPayer,
  newRequest,
  openStore,
  playChain,
  type TestStore,
} from '#testing/store.ts';

let store: TestStore;
before(async () => {
  store = await openStore();
});
after(() => store.close());

function bodyOf(answer: Answer | Refusal) {
  assert.ok(!isRefusal(answer), JSON.stringify(answer));
  return JSON.parse(answer.body);
}

test('a tap with a good pass is settled and answered with the payment', async () => {
  const { pass } = await addPayer(store);
  const intentId = await addIntent(store);
  const paying = payIntent(store.pay, {
    standing: store.standing,
    intentId,
    terminalId: store.terminalId,
    presented: { type: 'nfc_id', value: pass },
    idempotency: newRequest(store),
    requestId: 'req_test',
    now: store.clock.now(),
  });
  while ((await playChain(store)) === 0) await new Promise((r) => setTimeout(r, 10));
  const intent = bodyOf(await paying);
  assert.equal(intent.status, 'succeeded');
  assert.match(intent.payment, /^pay_/);
});
