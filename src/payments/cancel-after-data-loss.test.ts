import assert from 'node:assert/strict';
import { test } from 'node:test';
import { giveUpUnpaid } from '#payments/cancel-after-data-loss.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { underWay, waitingForLocks } from '#testkit/fixtures/core/open-transactions.ts';
import { addIntent, bodyOf, openSale, openStore, pay } from '#testkit/fixtures/payments/store.ts';
import { addAsked, addPayment } from '#testkit/fixtures/payments/store-payments.ts';

const clock = new FakeClock();
const store = openForTests(() => openStore({ clock }));

const giveUp = (cutoff: Date, livemode = false) =>
  store.db.transaction((tx) => giveUpUnpaid(tx, { livemode, before: cutoff, now: clock.now() }));

async function stateOf(id: string): Promise<string> {
  const rows = await store.db.query<{ state: string }>(
    `select concat_ws(' ', status, cancellation_reason) as state
     from payment_intents where id = $1`,
    [id],
  );
  return rows[0]?.state ?? 'missing';
}

test('after a loss, older unpaid intents of this network are canceled', async () => {
  const open = await addIntent(store);
  const intent = await addAsked(store);
  const paid = await addPayment(store);
  clock.advance(1_000);
  const loss = clock.now();
  const newer = await addIntent(store);
  await giveUp(loss, true);
  assert.equal(await stateOf(open), 'requires_payment_method');
  assert.equal(await stateOf(intent), 'requires_action');
  await giveUp(loss);
  assert.equal(await stateOf(open), 'canceled recovered');
  assert.equal(await stateOf(intent), 'canceled recovered');
  assert.equal(await stateOf(paid.payment_intent_id), 'succeeded');
  assert.equal(await stateOf(newer), 'requires_payment_method');
});

test('after a loss, an intent that is being tapped keeps the state of that tap', async () => {
  const { intentId, pass } = await openSale(store);
  clock.advance(1_000);
  const held = await underWay(store.db, (tx) =>
    tx.query('select 1 as held from payment_intents where id = $1 for update', [intentId]),
  );
  const tap = pay(store, { intentId, pass, hangUp: true });
  await waitingForLocks(store.db, 1);
  const given = giveUp(clock.now());
  await waitingForLocks(store.db, 2);
  await held.commit();
  assert.equal(bodyOf(await tap).status, 'processing');
  await given;
  assert.equal(await stateOf(intentId), 'processing');
});

test('after a loss, settled intents are kept, open or waiting for a new transaction', async () => {
  const open = await addIntent(store);
  const intent = await addAsked(store);
  const { intentId: waiting, pass } = await openSale(store);
  await pay(store, { intentId: waiting, pass, hangUp: true });
  await store.db.query(
    `insert into chain_payments (livemode, number, batch_number, payer, merchant_number, amount,
       order_id, fee_acquirer, fee_protocol, cashback, tx_hash, block_number, log_index, block_time)
     select false, settlement_number, 1, 'nobody', 1, amount, order_id, 0, 0, 0, '0x', 1, 0, now()
     from payment_intents where id = any($1)`,
    [[open, intent, waiting]],
  );
  clock.advance(1_000);
  await giveUp(clock.now());
  assert.equal(await stateOf(open), 'requires_payment_method');
  assert.equal(await stateOf(intent), 'requires_action');
  assert.equal(await stateOf(waiting), 'processing');
});
