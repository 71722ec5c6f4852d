import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { present } from '#core/assert.ts';
import { applyWithdrawalOutcomes } from '#payouts/apply-withdrawals.ts';
import { withdrawalObject } from '#payouts/render.ts';
import { selectSpokenFor, selectWithdrawal } from '#payouts/withdrawal-queries.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { putRates } from '#testkit/fixtures/payments/rates.ts';
import { openStore, type TestStore } from '#testkit/fixtures/payments/store.ts';
import {
  addPayment,
  addStore,
  eventTypes,
  playRefunds,
} from '#testkit/fixtures/payments/store-payments.ts';
import { refund } from '#testkit/fixtures/payments/store-requests.ts';
import { addWithdrawal } from '#testkit/simulation/healthy-store.ts';

let store: TestStore;

const shared = openForTests(openStore);
beforeEach(async () => {
  store = await addStore(shared, new FakeClock());
});

const FACTS = { txHash: `0x${'cd'.repeat(32)}`, blockNumber: '9', logIndex: 0 };

async function answer(id: string, outcome: { readonly succeeded: boolean }): Promise<void> {
  await store.db.query(
    `update chain_requests set status = $2, outcome = $3::text::jsonb, applied_at = null
     where subject_id = $1`,
    [id, outcome.succeeded ? 'succeeded' : 'failed', JSON.stringify(outcome)],
  );
  await applyWithdrawalOutcomes(store);
}

const paid = () => {
  const blockTime = store.clock.now().toISOString();
  return { succeeded: true, facts: { ...FACTS, blockTime } };
};
const refused = (reason: string) => ({ succeeded: false, reason, txHash: null });

const spokenFor = (tenant = store.merchant.tenant) =>
  store.db.transaction((tx) => selectSpokenFor(tx, tenant, 0n));

async function readWithdrawal(id: string) {
  const row = await selectWithdrawal(store.db, store.merchant.tenant, id);
  return withdrawalObject(present(row, 'withdrawal'));
}

test("a withdrawal that is paid stores the rate of the account's currency", async () => {
  const { accountId } = store.merchant.tenant;
  await store.db.query("update accounts set currency = 'eur' where id = $1", [accountId]);
  await putRates(store.db, { eur: '1.0854', usd: '1' }, { now: store.clock.now() });
  const [id, other] = [await addWithdrawal(store, 250n), await addWithdrawal(store, 250n)];
  assert.equal((await readWithdrawal(id)).shop_rate, null);
  await answer(id, paid());
  await answer(other, refused('insufficient_balance'));
  const rates = [(await readWithdrawal(id)).shop_rate, (await readWithdrawal(other)).shop_rate];
  assert.deepEqual(rates, ['1.0854', null]);
});

test('a withdrawal that is paid succeeds, with its event', async () => {
  const id = await addWithdrawal(store, 250n);
  await answer(id, paid());
  const { status, failure_code, failure_message, tx_hash } = await readWithdrawal(id);
  const expected = ['succeeded', null, null, FACTS.txHash];
  assert.deepEqual([status, failure_code, failure_message, tx_hash], expected);
  assert.deepEqual(await eventTypes(store, id), ['balance.withdrawal_paid']);
});

for (const [reason, words] of [
  ['wallet_changed', /settlement wallet changed/],
  ['insufficient_balance', /does not cover/],
  ['transaction_reverted', /refused/],
] as const) {
  test(`a withdrawal that fails with ${reason} explains why, and holds nothing`, async () => {
    const id = await addWithdrawal(store, 250n);
    await answer(id, refused(reason));
    const { status, failure_code, failure_message } = await readWithdrawal(id);
    assert.deepEqual([status, failure_code], ['failed', reason]);
    assert.match(String(failure_message), words);
    assert.equal(await spokenFor(), 0n);
    assert.deepEqual(await eventTypes(store, id), [], 'no event says that it was paid');
  });
}

test('a result that matches no pending withdrawal raises an alarm, and books nothing', async () => {
  const id = await addWithdrawal(store, 250n);
  await answer(id, paid());
  const before = await readWithdrawal(id);
  await answer(id, refused('transaction_reverted'));
  assert.deepEqual(await readWithdrawal(id), before);
  const alarms = await store.db.query(
    `select details->>'kind' as kind, details->>'status' as status from chain_alarms
     where kind = 'outcome_unfit' and subject = $1 and resolved_at is null`,
    [id],
  );
  assert.deepEqual(alarms, [{ kind: 'withdrawal', status: 'succeeded' }]);
});

test('pending withdrawals and refunds reduce the available balance until they end', async () => {
  const { tenant } = store.merchant;
  const payment = await addPayment(store, 1_000);
  assert.equal(await spokenFor(), 0n);
  const withdrawal = await addWithdrawal(store, 250n);
  assert.equal(await spokenFor(), 250n);
  const refunding = refund(store, { paymentId: payment.id, amount: 30 });
  for (let looks = 0; looks < 200 && (await spokenFor()) === 250n; looks++);
  assert.equal(await spokenFor(), 280n);
  assert.equal(await spokenFor({ ...tenant, livemode: true }), 0n);
  await playRefunds(store);
  await refunding;
  assert.equal(await spokenFor(), 250n);
  await answer(withdrawal, paid());
  assert.equal(await spokenFor(), 0n);
});
