import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createKeysInProgress } from '#idempotency/keys-in-progress.ts';
import { fingerprint, type IdempotentRequest } from '#idempotency/request-fingerprint.ts';

const REQUEST: IdempotentRequest = {
  tenant: { accountId: 'acct_one', livemode: false },
  caller: '',
  key: 'order-1',
  method: 'POST',
  path: '/v1/payment_intents',
  fingerprint: fingerprint('POST', '/v1/payment_intents', { amount: 1 }),
  docsUrl: 'http://docs.test',
};
const OTHER_BODY = fingerprint('POST', '/v1/payment_intents', { amount: 2 });

/** Starts a first request, whose work lasts until the test ends it. */
function runFirst() {
  const runKeyed = createKeysInProgress();
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  return { runKeyed, first: runKeyed(REQUEST, () => promise), resolve, reject };
}

const codeOf = (result: unknown) => (result as { readonly code?: string }).code ?? result;

describe('a key whose first request is still running', () => {
  test('is refused at once, and its work does not run again', async () => {
    const { runKeyed, first, resolve } = runFirst();
    const again = await runKeyed(REQUEST, () => assert.fail('it ran'));
    assert.equal(codeOf(again), 'idempotency_request_in_progress');
    resolve('done');
    assert.equal(await first, 'done');
  });

  test('is distinguished from its use with another body', async () => {
    const { runKeyed, first, resolve } = runFirst();
    const other = { ...REQUEST, fingerprint: OTHER_BODY };
    const refused = await runKeyed(other, () => assert.fail('it ran'));
    assert.equal(codeOf(refused), 'idempotency_key_reused');
    resolve('done');
    await first;
  });

  const strangers: Record<string, Partial<IdempotentRequest>> = {
    'another account': { tenant: { accountId: 'acct_two', livemode: false } },
    'the other mode': { tenant: { accountId: 'acct_one', livemode: true } },
    'another caller of the account': { caller: 'tml_1' },
  };
  for (const [name, change] of Object.entries(strangers)) {
    test(`does not block ${name}`, async () => {
      const { runKeyed, first, resolve } = runFirst();
      assert.equal(await runKeyed({ ...REQUEST, ...change }, async () => 'ran'), 'ran');
      resolve('done');
      await first;
    });
  }

  test('is free again when the work has ended, successfully or not', async () => {
    const { runKeyed, first, reject } = runFirst();
    reject(new Error('lost'));
    await assert.rejects(first, /lost/);
    for (const said of ['ran', 'ran again']) {
      assert.equal(await runKeyed(REQUEST, async () => said), said);
    }
  });
});
