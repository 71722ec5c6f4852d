import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createManagerCode } from '#accounts/manager-code.ts';
import { only, present } from '#core/assert.ts';
import { refundReference } from '#core/ids.ts';
import { type Payment, paymentStatus } from '#payments/payment.ts';
import type { RefundRequest } from '#refunds/create-refund.ts';
import type { AskedAmount } from '#refunds/refund-share.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { tally } from '#testkit/fixtures/core/tally.ts';
import { putRates } from '#testkit/fixtures/payments/rates.ts';
import {
  addMerchant,
  addTerminal,
  newRequest,
  openStore,
  type TestStore,
} from '#testkit/fixtures/payments/store.ts';
import {
  addPayment,
  addStore,
  eventTypes,
  findPayment,
  lastSnapshot,
  playRefunds,
  type Seen,
  see,
} from '#testkit/fixtures/payments/store-payments.ts';
import { refund as requestRefund } from '#testkit/fixtures/payments/store-requests.ts';

let clock: FakeClock;
let store: TestStore;
let payment: Payment;
const shared = openForTests(openStore);
beforeEach(async () => {
  clock = new FakeClock();
  store = await addStore(shared, clock);
  payment = await addPayment(store, 1_000);
});

type Asked = Partial<RefundRequest> & {
  readonly amount?: AskedAmount;
  readonly refunded?: Payment;
};

function ask({ amount = null, refunded = payment, ...request }: Asked = {}): Promise<Seen> {
  const paymentId = refunded.id;
  const more = { reason: 'cold', metadata: { a: 'b' }, source: 'api' as const };
  const input = { paymentId, amount, ...more };
  return requestRefund(store, { paymentId, amount, input, ...request }).then(see);
}

/** Waits until each request has a response or is waiting for the chain. */
async function untilDecided(refunds: readonly Promise<Seen>[]): Promise<void> {
  let answered = 0;
  for (const refund of refunds) {
    refund.then(
      () => answered++,
      () => answered++,
    );
  }
  for (;;) {
    const rows = await store.db.query(`select from chain_requests where kind = 'refund'
      and status = 'queued'`);
    if (rows.length + answered === refunds.length) return;
    await sleep(2);
  }
}

/** Requests all refunds concurrently, and simulates the chain's result. */
async function settleAll(refunds: readonly Promise<Seen>[], failure?: 'insufficient_balance') {
  await untilDecided(refunds);
  await playRefunds(store, failure);
  return Promise.all(refunds);
}

async function settle(refund: Promise<Seen>, failure?: 'insufficient_balance'): Promise<Seen> {
  return only(await settleAll([refund], failure), 'refund');
}

async function limitPerDay(limit: number): Promise<void> {
  const { accountId } = store.merchant.tenant;
  const values = [accountId, limit];
  await store.db.query('update accounts set refund_daily_limit = $2 where id = $1', values);
}

async function readPayment(): Promise<{ reserved: bigint; refunded: bigint; status: string }> {
  const result = await findPayment(store, payment.payment_intent_id);
  assert.ok(result !== undefined);
  const { amount_reserved: reserved, amount_refunded: refunded } = result;
  const status = paymentStatus(result);
  return { reserved, refunded, status };
}

const count = (seen: readonly Seen[]) =>
  tally(seen.map(({ said, body }) => String(body.failure_code ?? said)));

test('a refund waits for the chain and is answered with its result', async () => {
  const seen = await settle(ask({ amount: 400 }));
  assert.equal(seen.status, 201);
  const { object, amount, status, reason, metadata, source, failure_code } = seen.body;
  assert.deepEqual(
    { object, amount, status, reason, metadata, source, failure_code },
    {
      object: 'refund',
      amount: 400,
      status: 'succeeded',
      reason: 'cold',
      metadata: { a: 'b' },
      source: 'api',
      failure_code: null,
    },
  );
  assert.match(String(seen.body.tx_hash), /^0x/);
  assert.deepEqual(await readPayment(), {
    reserved: 400n,
    refunded: 400n,
    status: 'partially_refunded',
  });
});

test('partial refunds work until nothing is left, and no further', async () => {
  await settle(ask({ amount: 400 }));
  await settle(ask({ amount: 599 }));
  const tooMuch = await ask({ amount: 2 });
  assert.deepEqual([tooMuch.status, tooMuch.said], [400, 'amount_too_large']);
  assert.equal((await settle(ask())).body.amount, 1);
  assert.deepEqual(await readPayment(), { reserved: 1_000n, refunded: 1_000n, status: 'refunded' });
  const nothing = await ask();
  assert.deepEqual([nothing.status, nothing.said], [409, 'payment_already_refunded']);
});

describe('at the same time', () => {
  test('of ten simultaneous full refunds of one payment, one succeeds', async () => {
    const seen = await settleAll(Array.from({ length: 10 }, () => ask()));
    assert.deepEqual(count(seen), { succeeded: 1, payment_already_refunded: 9 });
    assert.deepEqual(await readPayment(), {
      reserved: 1_000n,
      refunded: 1_000n,
      status: 'refunded',
    });
    assert.equal((await eventTypes(store)).filter((type) => type === 'refund.created').length, 1);
  });

  test('of ten refunds of 300 from 1000, three succeed; refusals say what is left', async () => {
    const seen = await settleAll(Array.from({ length: 10 }, () => ask({ amount: 300 })));
    assert.deepEqual(count(seen), { succeeded: 3, amount_too_large: 7 });
    assert.equal((await readPayment()).refunded, 900n);
  });

  test('the daily limit allows three of ten refunds, over all payments', async () => {
    await limitPerDay(350);
    const payments = [];
    for (let i = 0; i < 10; i++) payments.push(await addPayment(store, 100));
    const seen = await settleAll(payments.map((refunded) => ask({ refunded })));
    assert.deepEqual(count(seen), { succeeded: 3, refund_daily_limit_exceeded: 7 });
    assert.ok(seen.every(({ status }) => status === 201));
  });

  test('ten requests with one key make one refund', async () => {
    const idempotency = newRequest(store);
    const seen = await settleAll(
      Array.from({ length: 10 }, () => ask({ amount: 10, idempotency })),
    );
    assert.deepEqual(count(seen), { succeeded: 1, idempotency_request_in_progress: 9 });
    const again = await ask({ amount: 10, idempotency });
    assert.deepEqual([again.replayed, again.said], [true, 'succeeded']);
    assert.equal((await readPayment()).refunded, 10n);
  });
});

describe('the account’s limits', () => {
  test('past the window a refund fails with its events, and reserves nothing', async () => {
    clock.advance(180 * 86_400_000);
    const idempotency = newRequest(store);
    const seen = await ask({ idempotency });
    assert.deepEqual([seen.status, seen.said], [201, 'failed']);
    assert.equal(seen.body.failure_code, 'refund_window_expired');
    assert.match(String(seen.body.failure_message), /window/);
    assert.deepEqual(await eventTypes(store, String(seen.body.id)), [
      'refund.created',
      'refund.failed',
    ]);
    assert.deepEqual(await readPayment(), { reserved: 0n, refunded: 0n, status: 'succeeded' });
    assert.deepEqual(await ask({ idempotency }), { ...seen, replayed: true });
  });

  test('a refund in the last millisecond of the window succeeds', async () => {
    clock.advance(180 * 86_400_000 - 1);
    assert.equal((await settle(ask())).said, 'succeeded');
  });

  test('the daily limit counts pending refunds, not failed ones, from 00:00 UTC on', async () => {
    await limitPerDay(700);
    await settle(ask({ amount: 500 }), 'insufficient_balance');
    const pending = ask({ amount: 500 });
    await untilDecided([pending]);
    const over = await ask({ amount: 201 });
    assert.equal(over.body.failure_code, 'refund_daily_limit_exceeded');
    const both = await settleAll([pending, ask({ amount: 200 })]);
    assert.deepEqual(count(both), { succeeded: 2 });
    clock.advance(12 * 3_600_000 - 1);
    assert.equal((await ask({ amount: 1 })).body.failure_code, 'refund_daily_limit_exceeded');
    clock.advance(1);
    assert.equal((await settle(ask({ amount: 1 }))).said, 'succeeded', 'tomorrow');
  });
});

describe('a refund of a payment', () => {
  test('of another account or mode is refused; at another till it needs a manager', async () => {
    const { tenant } = await addMerchant(store.db, { now: clock.now() });
    const { terminalId } = await addTerminal(store.db, store.merchant, clock.now());
    const live = { ...store.merchant.tenant, livemode: true };
    const requests = [
      [{ tenant }, 400, 'parameter_invalid'],
      [{ tenant: live }, 400, 'parameter_invalid'],
      [{ terminalId }, 403, 'manager_required'],
    ] as const;
    for (const [request, status, code] of requests) {
      const idempotency = { ...newRequest(store), ...request };
      const seen = await ask({ ...request, idempotency });
      assert.deepEqual([seen.status, seen.said], [status, code]);
      const keys = await store.db.query('select from idempotency_keys where key = $1', [
        idempotency.key,
      ]);
      assert.equal(keys.length, 0);
    }
    assert.deepEqual(await readPayment(), { reserved: 0n, refunded: 0n, status: 'succeeded' });
  });
});

/** Turns off the rules that require confirmations, so that payments settle immediately. */
async function askNobody(): Promise<void> {
  await store.db.query(
    `insert into risk_settings (account_id, livemode, updated) values ($1, false, $2)`,
    [store.merchant.tenant.accountId, clock.now()],
  );
}

test('a till refunds 500 USDC of one sale in total; one atom more needs a manager', async () => {
  await askNobody();
  payment = await addPayment(store, 900_000_000);
  const atTill = { terminalId: store.terminalId };
  const whole = await ask({ ...atTill, amount: 500_000_001 });
  assert.deepEqual([whole.status, whole.said], [403, 'manager_required']);
  assert.equal((await readPayment()).reserved, 0n, 'nothing was done');
  const first = await settle(ask({ ...atTill, amount: 499_999_999 }));
  assert.equal(first.said, 'succeeded');
  const inParts = await ask({ ...atTill, amount: 2 });
  assert.deepEqual([inParts.status, inParts.said], [403, 'manager_required']);
  const last = await settle(ask({ ...atTill, amount: 1 }));
  assert.equal(last.said, 'succeeded', 'to the atom');
  const byServer = await settle(ask({ amount: 1 }));
  assert.equal(byServer.said, 'succeeded', 'the limit is of tills alone');
  const actor = { type: 'system', name: 'test' } as const;
  const { tenant } = store.merchant;
  const { code: managerCode } = await store.db.transaction((tx) =>
    createManagerCode(tx, { tenant, actor, now: clock.now() }),
  );
  const rest = await settle(ask({ ...atTill, managerCode }));
  assert.equal(rest.body.amount, 399_999_999);
});

test('a refusal of too much frees the key: the amount can be corrected with it', async () => {
  const idempotency = newRequest(store);
  assert.equal((await ask({ amount: 1_001, idempotency })).said, 'amount_too_large');
  assert.equal((await settle(ask({ amount: 1_000, idempotency }))).said, 'succeeded');
});

describe('after a restore of the database to an earlier time', () => {
  const rowOf = async (id: unknown) => {
    const rows = await store.db.query<{ reference: Buffer }>(
      'select reference from refunds where id = $1',
      [id],
    );
    return rows[0]?.reference.toString('hex');
  };

  /** Adds a succeeded refund as recovery would rebuild it. */
  async function addRebuilt(key: string, amount: number | null): Promise<Seen> {
    const seen = await settle(ask({ idempotency: newRequest(store, key), amount }));
    await store.db.query(`update refunds set recovered = true where id = $1`, [seen.body.id]);
    await store.db.query('delete from idempotency_keys where key = $1', [key]);
    return seen;
  }

  test('a refund with the same key has the same reference and id again', async () => {
    const idempotency = newRequest(store, 'lost refund');
    const { body } = await settle(ask({ idempotency, amount: 100 }));
    const reference = await rowOf(body.id);
    assert.equal(reference, refundReference(store.idKey, idempotency).toString('hex'));
    await store.db.query('delete from chain_requests where subject_id = $1', [body.id]);
    await store.db.query('delete from refunds where id = $1', [body.id]);
    await store.db.query('delete from idempotency_keys where key = $1', [idempotency.key]);
    const again = await settle(ask({ idempotency, amount: 100 }));
    assert.equal(again.body.id, body.id);
    assert.equal(await rowOf(again.body.id), reference);
  });

  test('a rebuilt refund answers its request again, and nothing is paid', async () => {
    const rebuilt = await addRebuilt('back again', 300);
    const idempotency = newRequest(store, 'back again');
    for (let n = 0; n < 2; n++) {
      const seen = await ask({ idempotency, amount: 300 });
      assert.deepEqual([seen.status, seen.replayed], [201, true]);
      assert.deepEqual([seen.body.id, seen.body.recovered], [rebuilt.body.id, true]);
    }
    assert.equal((await findPayment(store, payment.payment_intent_id))?.amount_reserved, 300n);
  });

  test('a refund of everything left is found again, though nothing is left', async () => {
    const rebuilt = await addRebuilt('all of it', null);
    const seen = await ask({ idempotency: newRequest(store, 'all of it'), amount: null });
    assert.deepEqual([seen.status, seen.replayed, seen.body.id], [201, true, rebuilt.body.id]);
  });

  test('another amount or payment with its key is refused', async () => {
    await addRebuilt('other', 300);
    const idempotency = newRequest(store, 'other');
    assert.equal((await ask({ idempotency, amount: 301 })).said, 'idempotency_key_reused');
    const refunded = await addPayment(store, 1_000);
    assert.equal(
      (await ask({ idempotency, amount: 300, refunded })).said,
      'idempotency_key_reused',
    );
  });

  test('a key that is used again after 48 hours creates another refund', async () => {
    const idempotency = newRequest(store, 'two days');
    const made = [];
    for (let n = 0; n < 2; n++) {
      made.push(await settle(ask({ idempotency, amount: 10 })));
      clock.advance(49 * 3_600_000);
    }
    assert.deepEqual(
      made.map(({ status, replayed }) => [status, replayed]),
      [
        [201, false],
        [201, false],
      ],
    );
    assert.notEqual(made[0]?.body.id, made[1]?.body.id);
  });
});

describe('a refund of a sale in the shop’s currency', () => {
  const part = (minorUnits: number): AskedAmount => ({ minorUnits });
  const quotedIn = (seen: Seen) => Object(seen.body.presentment);
  let refunded: Payment;
  beforeEach(async () => {
    await putRates(store.db, { eur: '1.085422772171', usd: '1' }, { now: clock.now() });
    refunded = await addPayment(store, { currency: 'eur', amount: 1_000 });
    await putRates(store.db, { eur: '3', usd: '1' }, { now: clock.now() });
  });
  const refund = (amount: AskedAmount, failure?: 'insufficient_balance') =>
    settle(ask({ refunded, amount }), failure);

  test("returns its share of the paid atoms, independently of today's rate", async () => {
    const first = await refund(part(333));
    assert.deepEqual([first.said, first.body.amount], ['succeeded', 3_614_457]);
    const quoted = quotedIn(first);
    assert.deepEqual([quoted.currency, quoted.amount, quoted.rate], ['eur', 333, '1.085422772171']);
    const told = await lastSnapshot(store, 'refund.succeeded');
    assert.deepEqual(told?.presentment, quoted);
    const inAtoms = await refund(1_085_423);
    assert.equal(quotedIn(inAtoms).amount, 100);
    const over = await ask({ refunded, amount: part(568) });
    assert.deepEqual([over.status, over.said], [400, 'amount_too_large']);
    const last = await refund(part(567));
    assert.equal(last.body.amount, 10_854_227 - 3_614_457 - 1_085_423);
    const after = present(await findPayment(store, refunded.payment_intent_id), 'payment');
    assert.equal(paymentStatus(after), 'refunded');
  });

  test('that failed does not count', async () => {
    const failed = await refund(part(999), 'insufficient_balance');
    assert.equal(failed.said, 'failed');
    const whole = await refund(part(1_000));
    assert.equal(whole.body.amount, 10_854_227);
  });

  test('without an amount returns the rest of both', async () => {
    await refund(part(1));
    const rest = await refund(null);
    const sums = [rest.body.amount, quotedIn(rest).amount];
    assert.deepEqual(sums, [10_854_227 - 10_854, 999]);
  });

  test('never returns more than the whole, for any number of concurrent requests', async () => {
    const answer = Array.from({ length: 6 }, () => ask({ refunded, amount: part(300) }));
    const seen = await settleAll(answer);
    assert.deepEqual(count(seen), { succeeded: 3, amount_too_large: 3 });
  });

  test('of a sale in USDC is refused', async () => {
    const refused = await ask({ amount: part(1) });
    assert.deepEqual([refused.status, refused.said], [400, 'parameter_invalid']);
  });
});
