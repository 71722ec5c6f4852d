import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { present } from '#core/assert.ts';
import { systemClock } from '#core/clock.ts';
import { silentLog } from '#observability/log.ts';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import type { PaymentCall } from '#settlement/contract/contract-calls.ts';
import { selectUnknownHere } from '#settlement/network-recovery-queries.ts';
import { reconcileOnce } from '#settlement/reconciliation/reconcile-once.ts';
import type { Reply } from '#testkit/apis/api-client.ts';
import type { Seen } from '#testkit/fixtures/payments/store-payments.ts';
import {
  CONTRACT_INVARIANTS,
  readBothSides,
} from '#testkit/simulation/invariants/contract-invariants.ts';
import { violationsOf } from '#testkit/simulation/invariants/invariant.ts';
import {
  AMOUNT,
  DRAWN_BY_NOBODY,
  openRestoreGround,
  REST_MS,
  type RecoveryRow,
  type RestoreGround,
} from '#testkit/simulation/restore-ground.ts';

/** Restores one backup after every kind of later change. */

/** Amount with the fees of behavior.md 6.2, minus the cashback. */
const CHARGE = 2_511_250n;

let world: RestoreGround;

before(async () => {
  world = await openRestoreGround(2);
});
after(() => world?.close());

async function numberOf(intent: unknown): Promise<bigint> {
  const [row] = await world.db.query<{ number: bigint }>(
    'select settlement_number as number from payment_intents where id = $1',
    [intent],
  );
  return present(row, 'intent').number;
}

async function alarms(subject: string): Promise<string[]> {
  const rows = await world.db.query<{ kind: string }>(
    'select kind from chain_alarms where subject = $1 and not livemode',
    [subject],
  );
  return rows.map(({ kind }) => kind);
}

/** Replaces the two sums that a violation compares with their difference. */
function withDifference(detail: string): string {
  const sums = /^(merchant \d+ has|the contract holds|the books of \S+ have) (-?\d+)\D+?(-?\d+)/;
  const [, subject, first, second] = sums.exec(detail) ?? [];
  if (first === undefined || second === undefined) return detail;
  return `${subject} ${BigInt(first) - BigInt(second)} more`;
}

describe('a restored copy of the database', () => {
  let row: RecoveryRow;
  let once: Reply;
  let twice: Reply;
  let paidByOnce: bigint;
  let withdrawn: Seen;
  const intents = new Map<string, unknown>();
  const intentOf = (order: string) => present(intents.get(order), `intent of ${order}`);
  const number = (position: number) => DRAWN_BY_NOBODY + BigInt(position);
  const read = (order: string) => world.readIntent(intentOf(order));

  before(async () => {
    for (const order of ['ONCE', 'CANCELED', 'EXPIRED', 'NUMBER', 'TAKEN']) {
      intents.set(order, (await world.create(0, order)).body.id);
    }
    await world.pay('EARLIER');
    const { node, db, outside } = world;
    await node(0).merchant.post(`/payment_intents/${intentOf('CANCELED')}/cancel`);
    await db.query('update payment_intents set expires_at = now() where id = $1', [
      intentOf('EXPIRED'),
    ]);
    const numbers = new Map<string, bigint>();
    for (const [order, id] of intents) numbers.set(order, await numberOf(id));
    const merchantNumber = await world.merchantNumber();
    const known = { merchantNumber, payer: (await world.payerOf('ok')).address };
    const restore = await world.backUp('early');

    const { address } = await world.payerOf('ok_2');
    const before = await outside.usdcOf(address);
    once = await world.tap(0, intentOf('ONCE'), 'tap ONCE', 'ok_2');
    withdrawn = await world.withdraw('withdraw 1', 1_000_000n);
    await world.pay('LOST');
    const paidOut = `select count(*) from withdrawals where status = 'succeeded'`;
    await waitUntil(async () => (await world.count(paidOut)) === 1, REST_MS);
    const pay = (order: string, payment: Partial<PaymentCall> = {}): PaymentCall => ({
      ...known,
      amount: BigInt(AMOUNT),
      orderId: order,
      number: numbers.get(order) ?? 0n,
      ...payment,
    });
    const strangers = {
      merchantNumber: await outside.addMerchant(),
      payer: await outside.addPayer(),
    };
    await outside.settle([
      pay('CANCELED'),
      pay('EXPIRED'),
      pay('NUMBER', { amount: BigInt(AMOUNT) + 1n }),
      pay('TAKEN', { number: number(1) }),
      pay('DIRECT', { number: number(2) }),
      pay('ALIEN-1', { number: number(3), merchantNumber: strangers.merchantNumber }),
      pay('ALIEN-2', { number: number(4), payer: strangers.payer }),
    ]);
    const meanwhile = async () => {
      twice = await world.tap(1, intentOf('ONCE'), 'tap ONCE', 'ok_2');
    };
    row = await restore({ meanwhile });
    paidByOnce = before - (await outside.usdcOf(address));
  });

  it('charges the payer of an intent of 2,500,000 exactly 2,511,250, once', async () => {
    assert.equal(once.body.status, 'succeeded', JSON.stringify(once.body));
    assert.equal(twice.body.status, 'succeeded', JSON.stringify(twice.body));
    assert.equal(twice.body.payment, once.body.payment);
    assert.equal(paidByOnce, CHARGE);
    assert.equal(await world.settledOnChain('ONCE'), 1);
  });

  it('is recovered by one of two workers, and each loss is booked once', async () => {
    assert.ok(row.loss_shown);
    // Counts the orders ONCE, LOST, CANCELED, EXPIRED, TAKEN, DIRECT, ALIEN-2.
    assert.equal(row.payments, 7);
    assert.equal(await world.count('select count(*) from payments where recovered'), 7);
  });

  for (const order of ['CANCELED', 'EXPIRED']) {
    it(`shows an intent as succeeded that it had as ${order.toLowerCase()}`, async () => {
      const body = await read(order);
      assert.equal(body.status, 'succeeded', JSON.stringify(body));
      assert.equal(body.recovered, true);
    });
  }

  it('books settlements that an operator key made outside the service', async () => {
    const created = await world.create(0, 'DIRECT');
    assert.deepEqual([created.status, created.body.status], [201, 'succeeded']);
    assert.deepEqual(await alarms(`payment ${number(2)}`), []);
  });

  it('raises foreign_settlement for an unknown merchant', async () => {
    assert.deepEqual(await alarms(`payment ${number(3)}`), ['foreign_settlement']);
  });

  it('books the payment of an unknown payer', async () => {
    const rows = await world.db.query(
      `select p.recovered, y.address = p.payer_address as known from payments p
       join payers y on y.id = p.payer_id where p.settlement_number = $1`,
      [number(4)],
    );
    assert.deepEqual(rows, [{ recovered: true, known: true }]);
    assert.deepEqual(await alarms(`payment ${number(4)}`), []);
  });

  it('raises number_taken for an intent whose number has settled another sale', async () => {
    assert.deepEqual(await alarms(`payment ${await numberOf(intentOf('NUMBER'))}`), [
      'number_taken',
    ]);
    assert.equal((await read('NUMBER')).status, 'requires_payment_method');
  });

  it('books a payment whose order_id belongs to another intent, and says so', async () => {
    const rows = await world.db.query<{ payment_intent_id: string }>(
      `select payment_intent_id from payments where settlement_number = $1 and order_id = 'TAKEN'`,
      [number(1)],
    );
    assert.equal(rows.length, 1);
    assert.deepEqual(await alarms(rows[0]?.payment_intent_id ?? ''), ['order_id_taken']);
    assert.equal((await read('TAKEN')).status, 'canceled');
  });

  it('answers a create for a rebuilt intent with it, whatever the key', async () => {
    const own = await world.create(0, 'LOST');
    const other = await world.create(1, 'LOST', { key: 'another key' });
    for (const { status, headers } of [own, other]) {
      assert.deepEqual([status, headers.get('Idempotent-Replayed')], [201, 'true']);
    }
    assert.equal(other.body.id, own.body.id);
    assert.deepEqual([own.body.status, own.body.recovered], ['succeeded', true]);
  });

  it('refuses a create for a rebuilt intent with another amount', async () => {
    const answer = await world.create(0, 'LOST', { key: 'more', amount: 2_500_001 });
    assert.equal(answer.status, 409);
    assert.deepEqual(Object(answer.body.error).code, 'order_id_in_use');
  });

  it('rebuilds a withdrawal under its id, and answers the repeated request with it', async () => {
    assert.equal(withdrawn.status, 201, JSON.stringify(withdrawn.body));
    assert.equal(row.withdrawals, 1);
    const again = await world.withdraw('withdraw 1', 1_000_000n);
    assert.deepEqual([again.status, again.replayed], [201, true]);
    assert.equal(again.body.id, withdrawn.body.id);
    assert.deepEqual([again.body.status, again.body.recovered], ['succeeded', true]);
  });

  it('agrees with the chain, except for the settlement that number_taken names', async () => {
    const taken = await numberOf(intentOf('NUMBER'));
    const merchantNumber = await world.merchantNumber();
    const { found: result, charged } = await world.onChain(async (chain) => {
      // The merchant of settlement 3 has no account.
      const sides = await readBothSides(world.db, chain, new Set([number(3)]));
      const one = present(sides.settled.find((each) => each.number === taken) ?? null, 'charge');
      const charged = one.amount + one.feeAcquirer + one.feeProtocol - one.cashback;
      return { found: await violationsOf(CONTRACT_INVARIANTS, sides), charged };
    });
    const expected = [
      `settlement ${taken} of the chain is no payment of ours`,
      `merchant ${merchantNumber} has ${AMOUNT + 1} more`,
      `the books of ${world.sandbox.account} have ${-AMOUNT - 1} more`,
      `the contract holds ${charged} more`,
    ];
    assert.deepEqual(
      result.map(({ detail }) => withDifference(detail)).toSorted(),
      expected.toSorted(),
    );
  });

  it('is not recovered again because of reported alarms', async () => {
    const { db } = world;
    await world.onChain((chain) =>
      reconcileOnce({ chain, db, clock: systemClock, log: silentLog }, { graceMs: 0 }),
    );
    assert.equal((await selectUnknownHere(db, false)).count, 0);
  });
});
