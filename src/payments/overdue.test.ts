import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { applySettlements, declineOverdue } from '#payments/apply-settlements.ts';
import { methodOf } from '#payments/payment.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import {
  addPayer,
  bodyOf,
  openSale,
  openStore,
  pay,
  playChain,
} from '#testkit/fixtures/payments/store.ts';
import {
  eventTypes,
  findPayment,
  settleAfterDecline,
  storedStatus,
} from '#testkit/fixtures/payments/store-payments.ts';
import { cancel } from '#testkit/fixtures/payments/store-requests.ts';

/**
 * The database rounds to milliseconds, so a stored `now()` may be half a millisecond in the future.
 */
const OVER = `deadline = now() - interval '1 second'`;

const store = openForTests(openStore);

const decline = () => declineOverdue(store);

/** Taps without waiting for the settlement. */
async function tap(): Promise<{ intentId: string; pass: string }> {
  const { intentId, pass } = await openSale(store);
  await pay(store, { intentId, pass, hangUp: true });
  return { intentId, pass };
}

async function requestOf(intentId: string) {
  const [row] = await store.db.query<{ left: number; settle_within: number; status: string }>(
    `select extract(epoch from deadline - now())::float as left, settle_within, status
     from chain_requests where subject_id = $1 order by id desc`,
    [intentId],
  );
  assert.ok(row);
  return row;
}

async function move(intentId: string, change: string): Promise<void> {
  await store.db.query(`update chain_requests set ${change} where subject_id = $1`, [intentId]);
}

async function readIntent(intentId: string) {
  const [row] = await store.db.query<{
    status: string;
    last_payment_error: { decline_code: string; reason_code: string } | null;
  }>('select status, last_payment_error from payment_intents where id = $1', [intentId]);
  return row;
}

describe('a payment that was never signed', () => {
  beforeEach(async () => {
    await playChain(store);
  });

  test('has the configured number of seconds from its tap, in real time', async () => {
    const { intentId } = await tap();
    const { left, settle_within } = await requestOf(intentId);
    assert.equal(settle_within, 60);
    assert.ok(left > 50 && left <= 60, String(left));
  });

  test('waits until its deadline', async () => {
    const { intentId } = await tap();
    await move(intentId, `deadline = now() + interval '1 second'`);
    await decline();
    assert.equal(await storedStatus(store, intentId), 'processing');
  });

  test('is declined at its deadline, and the intent is open for another tap', async () => {
    const { intentId, pass } = await tap();
    await move(intentId, OVER);
    await decline();
    const intent = await readIntent(intentId);
    assert.equal(intent?.status, 'requires_payment_method');
    assert.equal(intent?.last_payment_error?.decline_code, 'settlement_failed');
    assert.equal(intent?.last_payment_error?.reason_code, 'SETTLEMENT_UNAVAILABLE');
    const types = await eventTypes(store, intentId);
    assert.equal(types.at(-1), 'payment_intent.payment_failed');
    assert.equal(await playChain(store), 0, 'nothing of it is left to be sent');
    await pay(store, { intentId, pass, hangUp: true });
    assert.equal((await requestOf(intentId)).status, 'queued');
  });

  test('is declined once, for any number of processes', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, tap));
    for (const { intentId } of ids) await move(intentId, OVER);
    await Promise.all(Array.from({ length: 8 }, decline));
    await applySettlements(store);
    for (const { intentId } of ids) {
      const types = await eventTypes(store, intentId);
      const failures = types.filter((type) => type === 'payment_intent.payment_failed');
      assert.equal(failures.length, 1);
    }
  });

  test('gives its client the decline when the tap is sent again', async () => {
    const { intentId, pass } = await openSale(store);
    await pay(store, { intentId, pass, key: 'late', hangUp: true });
    await move(intentId, OVER);
    await decline();
    const again = bodyOf(await pay(store, { intentId, pass, key: 'late' }));
    assert.equal(again.status, 'requires_payment_method');
    assert.equal(again.last_payment_error?.reason_code, 'SETTLEMENT_UNAVAILABLE');
  });
});

describe('a payment that was signed once', () => {
  async function staysProcessing(intentId: string): Promise<void> {
    await move(intentId, OVER);
    await decline();
    assert.equal(await storedStatus(store, intentId), 'processing');
  }

  test('and is being sent is not declined by the clock', async () => {
    const { intentId } = await tap();
    await sign(intentId);
    await staysProcessing(intentId);
  });

  test('and waits for another signature is not declined by the clock', async () => {
    const { intentId } = await tap();
    await move(intentId, 'tries = 1');
    await staysProcessing(intentId);
  });

  async function sign(intentId: string): Promise<void> {
    await store.db.query(
      `with sender as (
         insert into relayer_senders (livemode, sender, role, address, next_nonce)
         values (false, 0, 'operator', '0x', 1) returning sender
       ), signed as (
         insert into chain_transactions
           (livemode, sender, nonce, kind, status, created, target, input, gas_limit)
         select false, sender, 0, 'payment', 'signed', now(), '0x', '', 0 from sender returning id
       )
       update chain_requests set status = 'submitted', transaction_id = (select id from signed)
       where subject_id = $1`,
      [intentId],
    );
  }
});

describe('a payment that the chain settles after it was declined', () => {
  async function declined(): Promise<string> {
    const { intentId } = await tap();
    await playChain(store, 'settlement_failed');
    assert.equal(await storedStatus(store, intentId), 'requires_payment_method');
    return intentId;
  }

  test('succeeds with its payment and the usual events', async () => {
    const intentId = await declined();
    await settleAfterDecline(store, intentId);
    const intent = await readIntent(intentId);
    assert.deepEqual(intent, { status: 'succeeded', last_payment_error: null });
    const payment = await findPayment(store, intentId);
    assert.equal(payment?.tx_hash, `0x${'ef'.repeat(32)}`);
    assert.deepEqual(payment && methodOf(payment.credential_type), methodOf('nfc_id'));
    assert.equal((await eventTypes(store, intentId)).at(-1), 'payment_intent.succeeded');
    const types = await eventTypes(store, payment?.id ?? '');
    assert.deepEqual(types, ['payment.succeeded', 'payment.cashback_paid']);
  });

  test('succeeds even if the merchant has canceled its intent meanwhile', async () => {
    const intentId = await declined();
    await cancel(store, intentId);
    assert.equal(await storedStatus(store, intentId), 'canceled');
    await settleAfterDecline(store, intentId);
    assert.equal(await storedStatus(store, intentId), 'succeeded');
  });

  test('waits for the result of another attempt in progress', async () => {
    const intentId = await declined();
    const { pass } = await addPayer(store);
    await pay(store, { intentId, pass, hangUp: true });
    // The chain has already used the settlement number, so the second attempt fails too.
    await store.db.query(
      `update chain_requests set status = 'failed', applied_at = null,
         outcome = '{"succeeded": false, "reason": "settlement_failed", "txHash": null}'
       where id = (select max(id) from chain_requests where subject_id = $1)`,
      [intentId],
    );
    await settleAfterDecline(store, intentId);
    await applySettlements(store);
    assert.equal(await storedStatus(store, intentId), 'succeeded');
    const types = await eventTypes(store, intentId);
    assert.deepEqual(types.slice(-2), [
      'payment_intent.payment_failed',
      'payment_intent.succeeded',
    ]);
  });
});
