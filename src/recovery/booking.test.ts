import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { selectMerchantNumbers } from '#accounts/account-queries.ts';
import { present } from '#core/assert.ts';
import { silentLog } from '#observability/log.ts';
import { applySettlements } from '#payments/apply-settlements.ts';
import { giveUpUnpaid } from '#payments/cancel-after-data-loss.ts';
import { selectPayable } from '#payments/intent-queries.ts';
import type { Payment } from '#payments/payment.ts';
import { rebuildRegistration } from '#payouts/rebuild-registration.ts';
import { bookPayments } from '#recovery/book-payments.ts';
import { bookTransfers } from '#recovery/book-transfers.ts';
import { countAwaitingPayment } from '#recovery/lost-queries.ts';
import type { RecoveryDeps } from '#recovery/recovery-lease.ts';
import { createRefund } from '#refunds/create-refund.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { merchantNumberOf } from '#settlement/contract-versions.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import {
  addIntent,
  addPayer,
  newRequest,
  openStore,
  pay,
  type TestStore,
} from '#testkit/fixtures/payments/store.ts';
import {
  addPayment,
  addStore,
  eventTypes,
  findPayment,
  playRefunds,
  see,
} from '#testkit/fixtures/payments/store-payments.ts';
import { startTestNetwork, type TestNetwork } from '#testkit/network/test-network.ts';

/** Later than any timestamp in these tests. */
const LATER = new Date('2100-01-01T00:00:00Z');
const BLOCK = 70n;
const RANGE = {
  fromBlock: BLOCK,
  toBlock: BLOCK,
  events: [],
  times: new Map<bigint, Date>(),
};

let shared: TestStore;
let network: TestNetwork;
let store: TestStore;
let deps: RecoveryDeps;
before(async () => {
  [shared, network] = await Promise.all([openStore(), startTestNetwork()]);
});
beforeEach(async () => {
  const clock = new FakeClock();
  store = await addStore(shared, clock);
  const { db } = store;
  deps = { ...store.ctx, chains: [network.chain], chain: network.chain };
  await db.query('delete from chain_payments');
  await db.query('delete from chain_transfers');
});
after(async () => {
  await network.stop();
  await shared.close();
});

/** Taps and disconnects, which leaves a settlement job that waits for the relayer. */
async function tapped(key: string) {
  const { payer, pass } = await addPayer(store);
  const intentId = await addIntent(store);
  await pay(store, { intentId, pass, key, hangUp: true });
  return { intentId, payer };
}

interface RequestRow {
  readonly id: bigint;
  readonly number: bigint;
  readonly status: string;
  readonly applied_at: Date | null;
  readonly in_time: boolean;
}

async function requestOf(intentId: string): Promise<RequestRow> {
  const rows = await store.db.query<RequestRow>(
    `select id, number, status, applied_at, deadline > now() as in_time from chain_requests
     where kind = 'payment' and subject_id = $1`,
    [intentId],
  );
  assert.ok(rows[0] !== undefined && rows.length === 1);
  return rows[0];
}

/** Settles the intent on the chain for this payer, in a transaction unknown to the service. */
async function settleOnChain(intentId: string, payer: string, tip = 0): Promise<void> {
  await store.db.query(
    `insert into chain_payments (livemode, number, batch_number, payer, merchant_number, amount,
       order_id, fee_acquirer, fee_protocol, cashback, tx_hash, block_number, log_index, block_time)
     select false, settlement_number, 1, $2, $3, amount + $6, order_id, 7500, 5000, 1250, $4, $5, 0,
       now()
     from payment_intents where id = $1`,
    [intentId, payer, store.merchant.merchantNumber, `0x${'ef'.repeat(32)}`, BLOCK, tip],
  );
}

async function refundOnChain(
  {
    settlement_number: settlementNumber,
    payer_address: payerAddress,
  }: Pick<Payment, 'settlement_number' | 'payer_address'>,
  paid: { readonly txHash: string; readonly reference: Buffer; readonly amount?: number },
): Promise<void> {
  const { txHash, reference, amount = 1_000 } = paid;
  const { merchantNumber } = store.merchant;
  await store.db.query(
    `insert into chain_transfers (livemode, tx_hash, log_index, kind, number, merchant_number,
       recipient, amount, block_number, block_time, reference)
     values (false, $1, 0, 'refund', $2, $3, $4, $5, $6, now(), $7)`,
    [txHash, settlementNumber, merchantNumber, payerAddress, amount, BLOCK, reference],
  );
}

const bookAll = () => store.db.transaction((tx) => bookTransfers(tx, deps, RANGE));

const book = () =>
  store.db.transaction((tx) =>
    bookPayments(tx, deps, { range: RANGE, after: { block: -1n, logIndex: -1 }, limit: 100 }),
  );

async function countAlarms(kind: string, intentId: string): Promise<number> {
  const sql = `select from chain_alarms where kind = $1 and details ->> 'intent' = $2`;
  return (await store.db.query(sql, [kind, intentId])).length;
}

const replay = (intentId: string, key: string) =>
  pay(store, { intentId, pass: 'any', key }).then(see);

describe('a payment whose request is under way in the restored copy', () => {
  it('is booked for the payer that the chain has charged', async () => {
    const { intentId, payer } = await tapped('tap 1');
    await settleOnChain(intentId, payer.address);
    await book();
    assert.equal((await requestOf(intentId)).status, 'succeeded');
  });

  it('is booked as the chain has it when another attempt has paid, with a tip', async () => {
    const { payer, pass } = await addPayer(store);
    const intentId = await addIntent(store, { tipping: { percentages: [10] } });
    await pay(store, { intentId, pass, key: 'tap 8', hangUp: true });
    await settleOnChain(intentId, payer.address, 250_000);
    await book();
    const payment = await findPayment(store, intentId);
    assert.deepEqual([payment?.amount, payment?.tip], [2_750_000n, 0n]);
    assert.equal(payment?.recovered, true);
    const { body } = await replay(intentId, 'tap 8');
    assert.deepEqual([body.status, body.amount, body.tip], ['succeeded', 2_500_000, 0]);
  });

  it('is not booked when the chain charged more than sale and tip can be', async () => {
    const { intentId, payer } = await tapped('tap 9');
    await settleOnChain(intentId, payer.address, 1);
    await book();
    assert.equal(await findPayment(store, intentId), undefined);
    assert.equal(await countAlarms('number_taken', intentId), 1);
  });

  it('is not booked when the chain names another order under its number', async () => {
    const { intentId, payer } = await tapped('tap 10');
    await settleOnChain(intentId, payer.address);
    await store.db.query(`update chain_payments set order_id = 'SOMEBODY'`);
    await book();
    assert.equal(await findPayment(store, intentId), undefined);
    assert.equal(await countAlarms('number_taken', intentId), 1);
  });

  it('is booked to another payer when the chain has charged that one', async () => {
    const { intentId } = await tapped('tap 2');
    const { payer: other } = await addPayer(store);
    await settleOnChain(intentId, other.address);
    await book();
    const request = await requestOf(intentId);
    assert.equal(request.status, 'failed');
    assert.ok(request.applied_at !== null);
    const payment = await findPayment(store, intentId);
    assert.equal(payment?.payer_id, other.id);
    assert.equal((await eventTypes(store, intentId)).at(-1), 'payment_intent.succeeded');
    const [key] = await store.db.query<{ status: string }>(
      `select status from idempotency_keys where resource = $1 and key = 'tap 2'`,
      [intentId],
    );
    assert.equal(key?.status, 'completed');
  });
});

describe('a refund that the chain has paid before its payment is applied here', () => {
  it('raises no alarm, and is booked once its payment is', async () => {
    const { intentId, payer } = await tapped('tap 11');
    await settleOnChain(intentId, payer.address);
    await book();
    const { number } = await requestOf(intentId);
    const txHash = `0x${'ab'.repeat(32)}`;
    const payment = { settlement_number: number, payer_address: payer.address };
    await refundOnChain(payment, { txHash, reference: Buffer.alloc(16, 7), amount: 400_000 });
    const range = { livemode: false, fromBlock: BLOCK, toBlock: BLOCK };
    const refunds = () =>
      store.db.query<{ status: string; amount: bigint }>(
        'select status, amount from refunds where tx_hash = $1',
        [txHash],
      );
    assert.equal(await countAwaitingPayment(store.db, range), 1);
    await bookAll();
    const alarms = await store.db.query('select from chain_alarms where subject = $1', [
      `refund ${number}/${txHash}`,
    ]);
    assert.deepEqual([alarms.length, (await refunds()).length], [0, 0]);
    await applySettlements({ ...store, log: silentLog });
    assert.equal(await countAwaitingPayment(store.db, range), 0);
    await bookAll();
    assert.deepEqual(await refunds(), [{ status: 'succeeded', amount: 400_000n }]);
  });
});

describe('a settlement that waits when a loss is shown', () => {
  const giveUp = (before = LATER) =>
    store.db.transaction((tx) =>
      giveUpUnpaid(tx, { livemode: false, before, now: store.clock.now() }),
    );

  it('is declined and canceled if it was never signed', async () => {
    const { intentId } = await tapped('tap 3');
    await giveUp();
    const request = await requestOf(intentId);
    assert.equal(request.status, 'failed');
    assert.ok(request.applied_at !== null);
    assert.deepEqual((await eventTypes(store, intentId)).slice(-2), [
      'payment_intent.payment_failed',
      'payment_intent.canceled',
    ]);
    const { body } = await replay(intentId, 'tap 3');
    assert.deepEqual([body.status, body.cancellation_reason], ['canceled', 'recovered']);
  });

  it('is left to the chain if it was signed, and is not signed again', async () => {
    const { intentId } = await tapped('tap 4');
    await store.db.query('update chain_requests set tries = 1 where subject_id = $1', [intentId]);
    await giveUp();
    const { status, in_time: inTime } = await requestOf(intentId);
    assert.deepEqual([status, inTime], ['queued', false]);
    const created = ['payment_intent.created', 'payment_intent.processing'];
    assert.deepEqual(await eventTypes(store, intentId), created);
  });

  it('is sent again if a reorganization has undone it after it was paid', async () => {
    const { intentId } = await tapped('tap 6');
    await store.db.query('update chain_requests set applied_at = now() where subject_id = $1', [
      intentId,
    ]);
    await giveUp();
    const { status, in_time: inTime } = await requestOf(intentId);
    assert.deepEqual([status, inTime], ['queued', true]);
  });

  it('continues if it was created after the loss', async () => {
    const { intentId } = await tapped('tap 5');
    await giveUp(new Date(0));
    const { status, in_time: inTime } = await requestOf(intentId);
    assert.deepEqual([status, inTime], ['queued', true]);
  });
});

async function paidOnChain(payment: Payment, refund: unknown, txHash: string): Promise<void> {
  const select = 'select reference from refunds where id = $1';
  const [row] = await store.db.query<{ reference: Buffer }>(select, [refund]);
  await refundOnChain(payment, { txHash, ...present(row, 'refund') });
}

/** Requests a refund, and returns its answer, which comes once the refund has a result. */
const askRefund = (payment: Payment) =>
  createRefund(store.ctx, {
    tenant: store.merchant.tenant,
    keyHash: null,
    idempotency: newRequest(store),
    requestId: 'req_test',
    now: store.clock.now(),
    input: { paymentId: payment.id, amount: 1_000, reason: null, metadata: {}, source: 'api' },
  }).then(see);

describe('a refund that went back to the queue', () => {
  it('gets its result if its first transaction has paid it after all', async () => {
    const payment = await addPayment(store);
    const answer = askRefund(payment);
    const select = `select id, status from refunds where payment_id = $1`;
    let row: { id: string; status: string } | undefined;
    while (row === undefined)
      [row] = await store.db.query<{ id: string; status: string }>(select, [payment.id]);
    const hash = `0x${'cd'.repeat(32)}`;
    await store.db.query(
      `with sender as (
         insert into relayer_senders (livemode, sender, role, address, next_nonce)
         values (false, 90, 'operator', '0x90', 901)
       ), given_up as (
         insert into chain_transactions
           (livemode, sender, nonce, kind, status, created, target, input, gas_limit)
         values (false, 90, 900, 'refund', 'foreign', now(), '0x', '', 0) returning id
       )
       insert into chain_attempts
         (tx_hash, transaction_id, raw, cancels, max_fee_per_gas, max_priority_fee_per_gas, created)
       select $1, id, '', false, 0, 0, now() from given_up`,
      [hash],
    );
    await paidOnChain(payment, row.id, hash);
    await bookAll();
    const [request] = await store.db.query<{ status: string; hash: string }>(
      `select status, outcome -> 'facts' ->> 'txHash' as hash from chain_requests
       where kind = 'refund' and subject_id = $1`,
      [row.id],
    );
    assert.deepEqual(request, { status: 'succeeded', hash });
    await playRefunds(store);
    assert.equal((await answer).body.status, 'succeeded');
  });
});

describe('a refund that is failed in the ledger', () => {
  it('raises paid_after_failure if the chain has paid it, and stays failed', async () => {
    const payment = await addPayment(store);
    const answer = askRefund(payment);
    while ((await playRefunds(store, 'insufficient_balance')) === 0);
    const { body } = await answer;
    assert.equal(body.status, 'failed');
    const hash = `0x${'ce'.repeat(32)}`;
    await paidOnChain(payment, body.id, hash);
    await bookAll();
    const alarms = await store.db.query<{ kind: string }>(
      'select kind from chain_alarms where subject = $1',
      [`refund ${payment.settlement_number}/${hash}`],
    );
    assert.deepEqual(alarms, [{ kind: 'paid_after_failure' }]);
    const refunds = await store.db.query<{ status: string }>(
      'select status from refunds where payment_id = $1',
      [payment.id],
    );
    assert.deepEqual(refunds, [{ status: 'failed' }]);
  });
});

describe('an object that recovery has booked', () => {
  /**
   * Returns the jobs that have a result. If a reorganization undoes a result, its job is `queued`
   * again, and the relayer sends the job's payload.
   */
  async function answeredRequests(subjectId: string) {
    return store.db.query<{ kind: string; payload: Record<string, unknown>; hash: string }>(
      `select kind, payload, outcome -> 'facts' ->> 'txHash' as hash from chain_requests
       where subject_id = $1 and status = 'succeeded' and transaction_id is null
         and applied_at is not null`,
      [subjectId],
    );
  }

  it('has one settlement job if it is a payment', async () => {
    const { payer } = await addPayer(store);
    const intentId = await addIntent(store);
    await settleOnChain(intentId, payer.address);
    await book();
    for (const _ of ['first', 'again']) {
      await bookAll();
    }
    const { merchantNumber } = store.merchant;
    const [request, ...more] = await answeredRequests(intentId);
    assert.ok(request !== undefined && more.length === 0);
    const { orderId, ...rest } = request.payload;
    assert.equal(typeof orderId, 'string');
    assert.deepEqual(
      { ...request, payload: rest },
      {
        kind: 'payment',
        hash: `0x${'ef'.repeat(32)}`,
        payload: {
          merchantNumber: String(merchantNumber),
          payer: payer.address,
          amount: '2500000',
        },
      },
    );
  });

  it('has its settlement job and its number if it is a withdrawal', async () => {
    const { merchantNumber } = store.merchant;
    const hash = `0x${'cb'.repeat(32)}`;
    const number = 7_000_000_001n;
    const wallet = `0x${'77'.repeat(20)}`;
    await store.db.query(
      `insert into chain_transfers (livemode, tx_hash, log_index, kind, number, merchant_number,
         recipient, amount, block_number, block_time)
       values (false, $1, 0, 'withdrawal', $2, $3, $4, 1000, $5, now())`,
      [hash, number, merchantNumber, wallet, BLOCK],
    );
    await bookAll();
    const [withdrawal] = await store.db.query<{ id: string }>(
      'select id from withdrawals where number = $1 and recovered',
      [number],
    );
    assert.ok(withdrawal);
    const payload = { amount: '1000', merchantNumber: String(merchantNumber), wallet };
    const expected = [{ kind: 'withdrawal', payload, hash }];
    assert.deepEqual(await answeredRequests(withdrawal.id), expected);
  });

  it('has its settlement job and its reference if it is a refund', async () => {
    const payment = await addPayment(store);
    const hash = `0x${'ca'.repeat(32)}`;
    const reference = `0x${'5a'.repeat(16)}`;
    await refundOnChain(payment, { txHash: hash, reference: Buffer.alloc(16, 0x5a) });
    await bookAll();
    const [refund] = await store.db.query<{ id: string; recovered: boolean }>(
      'select id, recovered from refunds where payment_id = $1',
      [payment.id],
    );
    assert.equal(refund?.recovered, true);
    const paymentNumber = String(payment.settlement_number);
    const payload = { amount: '1000', paymentId: payment.id, paymentNumber, reference };
    assert.deepEqual(await answeredRequests(refund.id), [{ kind: 'refund', payload, hash }]);
  });
});

describe('a registration that the ledger has lost', () => {
  const WALLET = `0x${'ab'.repeat(20)}` as const;
  const STRANGER = `0x${'cd'.repeat(20)}` as const;
  /** The account's merchant numbers on the second and third contract. */
  const SECOND = merchantNumberOf(1, 5);
  const THIRD = merchantNumberOf(2, 3);

  const rebuild = (livemode: boolean, merchantNumber: bigint, wallet: Hex) => {
    const tenant = { accountId: store.merchant.tenant.accountId, livemode };
    const registration = { tenant, merchantNumber, wallet };
    return store.db.transaction((tx) => rebuildRegistration(tx, registration, LATER));
  };

  it('is booked in live mode only for a wallet that the owner has confirmed', async () => {
    const live = { accountId: store.merchant.tenant.accountId, livemode: true };
    await store.db.query(
      `insert into account_modes (account_id, livemode, merchant_number, live_at, settlement_wallet)
       values ($1, true, 7, now(), $2)`,
      [store.merchant.tenant.accountId, WALLET.toUpperCase()],
    );
    assert.equal(await rebuild(true, SECOND, STRANGER), false);
    assert.deepEqual(await selectMerchantNumbers(store.db, live), [7n]);
    assert.equal(await rebuild(true, SECOND, WALLET), true);
    assert.deepEqual(await selectMerchantNumbers(store.db, live), [7n, SECOND]);
  });

  it('lets intents of the copy settle where the account was, even after two moves', async () => {
    const before = await addIntent(store);
    for (const number of [SECOND, THIRD]) assert.equal(await rebuild(false, number, WALLET), true);
    const payable = await selectPayable(store.db, [before, await addIntent(store)]);
    const at = new Map(payable.map((intent) => [intent.id === before, intent.merchant_number]));
    assert.deepEqual([at.get(true), at.get(false)], [store.merchant.merchantNumber, THIRD]);
  });
});
