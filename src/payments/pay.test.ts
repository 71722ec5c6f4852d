import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { newSecret } from '#core/bearer-secrets.ts';
import { HOUR_MS } from '#core/durations.ts';
import { newId } from '#core/ids.ts';
import { createPass } from '#payers/create-pass.ts';
import { createPayer } from '#payers/create-payer.ts';
import { revokePassRow, updatePayerBlocked } from '#payers/payer-queries.ts';
import type { PreflightResult } from '#payments/assess-payment.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import {
  addIntent,
  addMerchant,
  addPayer,
  addTerminal,
  bodyOf,
  openSale,
  openStore,
  pay,
  payAndSettle,
  playChain,
  settled,
  summaryOf,
  type TestStore,
} from '#testkit/fixtures/payments/store.ts';
import { addStore, eventTypes } from '#testkit/fixtures/payments/store-payments.ts';
import { blockPayer, limitPayer, setRiskRules } from '#testkit/fixtures/payments/store-requests.ts';

const NOON = new Date('2026-10-01T12:00:00.000Z');

let clock: FakeClock;
let store: TestStore;
let preflight: PreflightResult = { ok: true };

before(async () => {
  clock = new FakeClock(NOON);
  store = await openStore({ clock, preflight: async () => preflight });
});
after(() => store.close());

function requestsFor(intentId: string): Promise<{ status: string; payload: unknown }[]> {
  return store.db.query('select status, payload from chain_requests where subject_id = $1', [
    intentId,
  ]);
}

describe('a tap', () => {
  test('with a valid pass is settled and answered with the payment', async () => {
    const { intentId, pass } = await openSale(store);
    const intent = bodyOf(await payAndSettle(store, { intentId, pass }));
    assert.equal(intent.status, 'succeeded');
    assert.match(intent.payment ?? '', /^pay_/);
    assert.equal(intent.tapped_at, NOON.toISOString());
    assert.deepEqual(await eventTypes(store, intentId), [
      'payment_intent.created',
      'payment_intent.processing',
      'payment_intent.succeeded',
    ]);
  });

  test('asks the chain for exactly the amount, the payer and the merchant', async () => {
    const { intentId, pass, payer } = await openSale(store, { amount: 1_234_567 });
    await payAndSettle(store, { intentId, pass });
    const [request, ...more] = await requestsFor(intentId);
    assert.equal(more.length, 0);
    const payload = request?.payload as Record<string, string>;
    assert.equal(payload.amount, '1234567');
    assert.equal(payload.payer, payer.address);
    assert.equal(payload.merchantNumber, store.merchant.merchantNumber?.toString());
  });

  test('of another terminal is refused as if there were no such intent', async () => {
    const { intentId, pass } = await openSale(store);
    const other = await addTerminal(store.db, store.merchant, NOON);
    const counter = { merchant: store.merchant, terminalId: other.terminalId };
    assert.equal(summaryOf(await pay(store, { intentId, pass, counter })), 'resource_missing');
    assert.equal((await requestsFor(intentId)).length, 0);
  });

  test('of another account is refused as if there were no such intent', async () => {
    const { intentId, pass } = await openSale(store);
    const merchant = await addMerchant(store.db, { now: NOON });
    const counter = { merchant, terminalId: store.terminalId };
    assert.equal(summaryOf(await pay(store, { intentId, pass, counter })), 'resource_missing');
  });

  test('after the expiry is refused even before the expiry was written', async () => {
    const { intentId, pass } = await openSale(store, { expiresIn: 30 });
    const late = new Date(NOON.getTime() + 30_000);
    const answer = await pay(store, { intentId, pass, now: late });
    assert.equal(summaryOf(answer), 'payment_intent_unexpected_state');
  });

  test('one millisecond before the expiry still pays', async () => {
    const { intentId, pass } = await openSale(store, { expiresIn: 30 });
    const now = new Date(NOON.getTime() + 29_999);
    assert.equal(bodyOf(await payAndSettle(store, { intentId, pass, now })).status, 'succeeded');
  });

  test('while the chain is unreachable changes nothing and frees its key', async () => {
    const { intentId, pass } = await openSale(store);
    preflight = 'unavailable';
    const away = await pay(store, { intentId, pass, key: 'chain-away' });
    preflight = { ok: true };
    assert.equal(summaryOf(away), 'service_unavailable');
    assert.equal((await eventTypes(store, intentId)).length, 1);
    const again = await payAndSettle(store, { intentId, pass, key: 'chain-away' });
    assert.equal(summaryOf(again), 'succeeded');
  });
});

describe('a decline', () => {
  test('is given to an unknown pass, without asking the chain', async () => {
    const intentId = await addIntent(store);
    const answer = bodyOf(await pay(store, { intentId, pass: newSecret('pass') }));
    assert.equal(answer.status, 'requires_payment_method');
    assert.equal(answer.last_payment_error?.decline_code, 'pass_unknown');
    assert.equal(answer.last_payment_error?.reason_code, 'PASS_UNKNOWN');
    assert.equal(answer.tapped_at, NOON.toISOString());
    const types = ['payment_intent.created', 'payment_intent.payment_failed'];
    assert.deepEqual(await eventTypes(store, intentId), types);
  });

  test('is given to a pass with an invalid checksum', async () => {
    const intentId = await addIntent(store);
    const answer = await pay(store, { intentId, pass: 'nfc_someotherchip' });
    assert.equal(summaryOf(answer), 'pass_unknown');
  });

  test('is given to a revoked pass, while the payer’s other pass still pays', async () => {
    const { intentId, pass, passId, payer } = await openSale(store);
    await store.db.transaction((tx) =>
      revokePassRow(tx, { id: passId, payerId: payer.id, now: NOON }),
    );
    assert.equal(summaryOf(await pay(store, { intentId, pass })), 'pass_revoked');
    const other = await store.db.transaction((tx) =>
      createPass(tx, { payerId: payer.id, label: 'ring', now: NOON }),
    );
    const answer = await payAndSettle(store, { intentId, pass: other.secret });
    assert.equal(summaryOf(answer), 'succeeded');
  });

  test('is given to a pass of the other network', async () => {
    const { pass } = await addPayer(store, { livemode: true });
    const intentId = await addIntent(store);
    assert.equal(summaryOf(await pay(store, { intentId, pass })), 'pass_unknown');
  });

  test('is given to a wallet on the account’s own list, with the rule’s name', async () => {
    const { intentId, pass, payer } = await openSale(store);
    await blockPayer(store, payer.address);
    const { last_payment_error: error } = bodyOf(await pay(store, { intentId, pass }));
    assert.equal(error?.decline_code, 'risk_blocked');
    assert.equal(error?.reason_code, 'BLOCKED_PAYER');
  });

  for (const decline of ['approval_insufficient', 'insufficient_funds'] as const) {
    test(`passes on the chain's verdict: ${decline}`, async () => {
      const { intentId, pass } = await openSale(store);
      preflight = { ok: false, decline };
      const answer = await pay(store, { intentId, pass });
      preflight = { ok: true };
      assert.equal(summaryOf(answer), decline);
      assert.equal((await requestsFor(intentId)).length, 0);
    });
  }

  test('is given above the payer’s limit per payment, and not at it', async () => {
    const { pass, payer } = await addPayer(store);
    await limitPayer(store, payer.id, { perPayment: 1_000_000 });
    const above = await addIntent(store, { amount: 1_000_001 });
    assert.equal(summaryOf(await pay(store, { intentId: above, pass })), 'limit_exceeded');
    const at = await addIntent(store, { amount: 1_000_000 });
    assert.equal(summaryOf(await payAndSettle(store, { intentId: at, pass })), 'succeeded');
  });

  test('is given above the day’s limit; the next UTC day starts over', async () => {
    const { pass, payer } = await addPayer(store);
    await limitPayer(store, payer.id, { perDay: 3_000_000 });
    const first = await addIntent(store, { amount: 2_000_000 });
    assert.equal(summaryOf(await payAndSettle(store, { intentId: first, pass })), 'succeeded');
    const second = await addIntent(store, { amount: 1_000_001 });
    assert.equal(summaryOf(await pay(store, { intentId: second, pass })), 'limit_exceeded');
    clock.advance(12 * HOUR_MS);
    const third = await addIntent(store, { amount: 3_000_000 });
    assert.equal(summaryOf(await payAndSettle(store, { intentId: third, pass })), 'succeeded');
    clock.advance(-12 * HOUR_MS);
  });

  test('is given if a payer pays more often in an hour than the policy allows', async () => {
    const shop = await addStore(store, clock);
    await setRiskRules(shop, { velocityPerHour: 2 });
    const { pass } = await addPayer(store);
    const payOnce = async () => {
      const intentId = await addIntent(shop);
      return bodyOf(await payAndSettle(shop, { intentId, pass }));
    };
    assert.equal((await payOnce()).status, 'succeeded');
    assert.equal((await payOnce()).status, 'succeeded');
    const third = await payOnce();
    assert.equal(third.last_payment_error?.decline_code, 'risk_blocked');
    assert.equal(third.last_payment_error?.reason_code, 'VELOCITY');
    clock.advance(HOUR_MS);
    assert.equal((await payOnce()).status, 'succeeded');
    clock.advance(-HOUR_MS);
  });

  test('is not undone by blocking: an unblocked payer pays again', async () => {
    const { pass, payer } = await addPayer(store);
    await store.db.transaction((tx) => updatePayerBlocked(tx, payer.id, NOON));
    const intentId = await addIntent(store);
    assert.equal(summaryOf(await pay(store, { intentId, pass })), 'risk_blocked');
    await store.db.transaction((tx) => updatePayerBlocked(tx, payer.id, null));
    assert.equal(summaryOf(await payAndSettle(store, { intentId, pass })), 'succeeded');
  });
});

describe('a key', () => {
  test('that is sent again gets the stored response, byte for byte, and nothing runs', async () => {
    const { intentId, pass } = await openSale(store);
    const first = await payAndSettle(store, { intentId, pass, key: 'replayed' });
    const second = await pay(store, { intentId, pass, key: 'replayed' });
    assert.ok('body' in first && 'body' in second);
    assert.equal(second.body, first.body);
    assert.equal(second.headers?.['Idempotent-Replayed'], 'true');
  });

  test('gets the stored response even while the chain is unreachable', async () => {
    const { intentId, pass } = await openSale(store);
    await payAndSettle(store, { intentId, pass, key: 'chain-not-needed' });
    preflight = 'unavailable';
    const again = await pay(store, { intentId, pass, key: 'chain-not-needed' });
    preflight = { ok: true };
    assert.equal(summaryOf(again), 'succeeded');
  });

  test('that has expired pays again: its earlier response is deleted', async () => {
    const { intentId, pass } = await openSale(store);
    await payAndSettle(store, { intentId, pass, key: 'two days old' });
    clock.advance(48 * HOUR_MS);
    const { pass: other } = await addPayer(store);
    const newer = await addIntent(store);
    const again = await payAndSettle(store, { intentId: newer, pass: other, key: 'two days old' });
    assert.deepEqual([bodyOf(again).id, summaryOf(again)], [newer, 'succeeded']);
  });

  test('whose tap is still running is refused as in progress', async () => {
    const { intentId, pass } = await openSale(store);
    const first = pay(store, { intentId, pass, key: 'under-way' });
    while ((await requestsFor(intentId)).length === 0);
    const second = await pay(store, { intentId, pass, key: 'under-way' });
    assert.equal(summaryOf(second), 'idempotency_request_in_progress');
    assert.equal(summaryOf(await settled(store, first)), 'succeeded');
  });

  test('keeps `processing` as its response if the chain is slow; a webhook follows', async () => {
    const { intentId, pass } = await openSale(store);
    const hurried = {
      ...store,
      ctx: { ...store.ctx, settings: { ...store.ctx.settings, settlementWaitMs: 10 } },
    };
    const first = await pay(hurried, { intentId, pass, key: 'slow-chain' });
    assert.equal(summaryOf(first), 'processing');
    await playChain(store);
    assert.equal(summaryOf(await pay(store, { intentId, pass, key: 'slow-chain' })), 'processing');
    assert.equal((await eventTypes(store, intentId)).at(-1), 'payment_intent.succeeded');
  });

  test('stores refusals about the intent and its state: the same response again', async () => {
    const { intentId, pass } = await openSale(store);
    await payAndSettle(store, { intentId, pass });
    const refused = await pay(store, { intentId, pass, key: 'held' });
    assert.equal(summaryOf(refused), 'payment_intent_unexpected_state');
    const again = await pay(store, { intentId, pass, key: 'held' });
    assert.ok('headers' in again && again.headers?.['Idempotent-Replayed'] === 'true');
    const missing = { intentId: newId('paymentIntent', NOON), pass, key: 'about-nothing' };
    assert.equal(summaryOf(await pay(store, missing)), 'resource_missing');
    const repeated = await pay(store, missing);
    assert.ok('headers' in repeated && repeated.headers?.['Idempotent-Replayed'] === 'true');
  });
});

test('a wallet that signs in again is the same payer', async () => {
  const { payer } = await addPayer(store);
  const { address, livemode } = payer;
  const again = await store.db.transaction((tx) =>
    createPayer(tx, { livemode, address, now: NOON }),
  );
  assert.equal(again.id, payer.id);
});
