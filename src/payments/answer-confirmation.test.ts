import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isRefusal } from '#core/answer.ts';
import { revokePassRow, updatePayerBlocked } from '#payers/payer-queries.ts';
import { answerConfirmation, payerOf } from '#payments/answer-confirmation.ts';
import { selectIntent } from '#payments/intent-queries.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import {
  addIntent,
  addPayer,
  bodyOf,
  openSale,
  openStore,
  pay,
  payAndSettle,
  playChain,
  summaryOf,
} from '#testkit/fixtures/payments/store.ts';
import { eventTypes } from '#testkit/fixtures/payments/store-payments.ts';
import { blockPayer, cancel, limitPayer } from '#testkit/fixtures/payments/store-requests.ts';

const NOON = new Date('2026-10-01T12:00:00.000Z');
/** More than the 50 USDC from which a payer's first payment needs confirmation. */
const HIGH = 50_000_000;

const store = openForTests(() => openStore({ clock: new FakeClock(NOON) }));

interface Asked {
  readonly address: Hex;
  readonly intentId: string;
  readonly payerId: string;
  readonly passId: string;
  readonly pass: string;
}

/** Creates a payment at noon that its payer must confirm. */
async function ask(): Promise<Asked> {
  const { intentId, pass, payer, passId } = await openSale(store, { amount: HIGH });
  const intent = bodyOf(await pay(store, { intentId, pass }));
  assert.equal(intent.status, 'requires_action');
  return { intentId, address: payer.address, payerId: payer.id, passId, pass };
}

async function answer(request: Asked, approve: boolean, afterMs = 0): Promise<string> {
  const intent = await answerConfirmation(store.ctx, {
    intentId: request.intentId,
    mayAnswer: (one) => payerOf(one) === request.payerId,
    approve,
    now: new Date(NOON.getTime() + afterMs),
  });
  if (isRefusal(intent)) return intent.code;
  return intent.status === 'requires_payment_method'
    ? (intent.last_payment_error?.decline_code ?? '')
    : intent.status;
}

async function requestCount(intentId: string): Promise<number> {
  const rows = await store.db.query('select 1 from chain_requests where subject_id = $1', [
    intentId,
  ]);
  return rows.length;
}

describe('a first payment from 50 USDC', () => {
  test('asks its payer, with the deadline and the reason', async () => {
    const { intentId, pass } = await openSale(store, { amount: HIGH });
    const intent = bodyOf(await pay(store, { intentId, pass }));
    assert.equal(intent.status, 'requires_action');
    assert.equal(intent.next_action?.reason_code, 'FIRST_MERCHANT_PAYMENT');
    assert.equal(intent.next_action?.expires_at, '2026-10-01T12:01:00.000Z');
    assert.equal(await requestCount(intentId), 0);
  });

  test('one atom below does not', async () => {
    const { intentId, pass } = await openSale(store, { amount: HIGH - 1 });
    assert.equal(summaryOf(await payAndSettle(store, { intentId, pass })), 'succeeded');
  });

  test('the second payment of that payer does not, for any amount', async () => {
    const request = await ask();
    await answer(request, true);
    await playChain(store);
    const intentId = await addIntent(store, { amount: HIGH * 2 });
    const paid = await payAndSettle(store, { intentId, pass: request.pass });
    assert.equal(summaryOf(paid), 'succeeded');
  });

  test('must be confirmed for any amount if the payer has asked for that', async () => {
    const { intentId, pass, payer } = await openSale(store, { amount: 1 });
    await limitPayer(store, payer.id, { confirmFirst: true });
    const intent = bodyOf(await pay(store, { intentId, pass }));
    assert.equal(intent.next_action?.reason_code, 'FIRST_MERCHANT_PAYMENT');
  });
});

describe('a payer who rejects', () => {
  const tapOf = async (pass: string) => {
    const intentId = await addIntent(store, { amount: HIGH });
    const intent = bodyOf(await pay(store, { intentId, pass }));
    return { intentId, intent };
  };

  test('ten times in an hour gets no more questions from this merchant in that hour', async () => {
    const { pass, payer, passId } = await addPayer(store);
    for (let i = 0; i < 10; i++) {
      const { intentId, intent } = await tapOf(pass);
      assert.equal(intent.status, 'requires_action', `no. ${i + 1}`);
      const request = { intentId, address: payer.address, payerId: payer.id, passId, pass };
      assert.equal(await answer(request, false), 'payer_rejected');
    }
    const { intent } = await tapOf(pass);
    assert.equal(intent.last_payment_error?.decline_code, 'risk_blocked');
    assert.equal(intent.last_payment_error?.reason_code, 'REFUSED_OFTEN');
    const other = await tapOf((await addPayer(store)).pass);
    assert.equal(other.intent.status, 'requires_action', 'others have not rejected');
    await store.db.query("update payer_refusals set refused_at = refused_at - interval '1 hour'");
    assert.equal((await tapOf(pass)).intent.status, 'requires_action', 'the hour has passed');
  });

  test('and then approves is asked as before', async () => {
    const { pass, payer, passId } = await addPayer(store);
    const askAgain = async () => {
      const { intentId, intent } = await tapOf(pass);
      assert.equal(intent.status, 'requires_action');
      return { intentId, address: payer.address, payerId: payer.id, passId, pass };
    };
    for (let i = 0; i < 9; i++) await answer(await askAgain(), false);
    assert.equal(await answer(await askAgain(), true), 'processing');
    const rows = await store.db.query('select from payer_refusals where payer_id = $1', [payer.id]);
    assert.equal(rows.length, 0);
  });
});

describe('an approval', () => {
  test('59.9 s after the tap is accepted', async () => {
    const request = await ask();
    assert.equal(await answer(request, true, 59_900), 'processing');
    await playChain(store);
    assert.deepEqual(await eventTypes(store, request.intentId), [
      'payment_intent.created',
      'payment_intent.requires_action',
      'payment_intent.processing',
      'payment_intent.succeeded',
    ]);
  });

  for (const afterMs of [60_000, 60_100]) {
    test(`${afterMs / 1000} s after the tap is refused even before a worker ran`, async () => {
      const request = await ask();
      assert.equal(await answer(request, true, afterMs), 'payment_intent_unexpected_state');
      assert.equal(await requestCount(request.intentId), 0);
    });
  }

  test('by another payer is refused as if it did not exist', async () => {
    const request = await ask();
    const { payer } = await addPayer(store);
    assert.equal(await answer({ ...request, payerId: payer.id }, true), 'resource_missing');
  });

  test('sent twice settles once and gets the same response', async () => {
    const request = await ask();
    assert.equal(await answer(request, true), 'processing');
    assert.equal(await answer(request, true), 'processing');
    await playChain(store);
    assert.equal(await answer(request, true), 'succeeded');
    assert.equal(await requestCount(request.intentId), 1);
  });

  test('after a rejection is refused', async () => {
    const request = await ask();
    assert.equal(await answer(request, false), 'payer_rejected');
    assert.equal(await answer(request, true), 'resource_missing');
  });

  test('of a payer who was blocked meanwhile declines', async () => {
    const request = await ask();
    await store.db.transaction((tx) => updatePayerBlocked(tx, request.payerId, NOON));
    assert.equal(await answer(request, true), 'risk_blocked');
  });

  test('of a payer whom the merchant has blocked meanwhile declines, under its rule', async () => {
    const request = await ask();
    const { tenant } = store.merchant;
    await blockPayer(store, request.address);
    assert.equal(await answer(request, true), 'risk_blocked');
    const intent = await selectIntent(store.db, tenant, request.intentId);
    assert.equal(intent?.last_payment_error?.reason_code, 'BLOCKED_PAYER');
  });

  test('with a pass that was revoked meanwhile declines', async () => {
    const request = await ask();
    const { passId: id, payerId } = request;
    await store.db.transaction((tx) => revokePassRow(tx, { id, payerId, now: NOON }));
    assert.equal(await answer(request, true), 'pass_revoked');
  });

  test('for an account that was disabled meanwhile is refused', async () => {
    const request = await ask();
    const { accountId } = store.merchant.tenant;
    await store.db.query(`update accounts set status = 'disabled' where id = $1`, [accountId]);
    assert.equal(await answer(request, true), 'account_not_live');
    await store.db.query(`update accounts set status = 'active' where id = $1`, [accountId]);
    assert.equal(await answer(request, true), 'processing');
  });

  test('that the chain refuses leaves the intent open for another tap', async () => {
    const request = await ask();
    await answer(request, true);
    await playChain(store, 'insufficient_funds');
    const intent = await selectIntent(store.db, store.merchant.tenant, request.intentId);
    assert.equal(intent?.status, 'requires_payment_method');
    assert.equal(intent?.last_payment_error?.decline_code, 'insufficient_funds');
  });
});

describe('a payment that waits for its payer', () => {
  test('cannot be tapped again, not even by the same payer', async () => {
    const { intentId, pass } = await ask();
    const again = await pay(store, { intentId, pass });
    assert.equal(summaryOf(again), 'payment_intent_unexpected_state');
  });

  test('can be canceled, and then not be confirmed', async () => {
    const request = await ask();
    assert.equal(bodyOf(await cancel(store, request.intentId)).status, 'canceled');
    assert.equal(await answer(request, true), 'resource_missing');
    assert.equal(await requestCount(request.intentId), 0);
  });

  test('counts toward the day’s limit: two such payments cannot both be approved', async () => {
    const { pass, payer } = await addPayer(store);
    await limitPayer(store, payer.id, { perDay: HIGH });
    const first = await addIntent(store, { amount: HIGH });
    const second = await addIntent(store, { amount: HIGH });
    assert.equal(summaryOf(await pay(store, { intentId: first, pass })), 'requires_action');
    assert.equal(summaryOf(await pay(store, { intentId: second, pass })), 'limit_exceeded');
  });
});
