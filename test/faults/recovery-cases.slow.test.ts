import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { present } from '#core/assert.ts';
import { systemClock } from '#core/clock.ts';
import type { IdKey } from '#core/ids.ts';
import { openIdKey } from '#db/id-key.ts';
import { silentLog } from '#observability/log.ts';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import { idSealingKey } from '#settings/config.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import type { PaymentCall } from '#settlement/contract/contract-calls.ts';
import { selectUnknownHere } from '#settlement/network-recovery-queries.ts';
import { reconcileOnce } from '#settlement/reconciliation/reconcile-once.ts';
import type { Reply } from '#testkit/apis/api-client.ts';
import { askToWithdraw } from '#testkit/fixtures/payments/ask-to-withdraw.ts';
import type { Seen } from '#testkit/fixtures/payments/store-payments.ts';
import {
  type OutsideService,
  outsideService,
} from '#testkit/fixtures/settlement/outside-service.ts';
import {
  CONTRACT_INVARIANTS,
  readBothSides,
} from '#testkit/simulation/invariants/contract-invariants.ts';
import { violationsOf } from '#testkit/simulation/invariants/invariant.ts';
import {
  openRestoreGround,
  REST_MS,
  type RecoveryRow,
  type RestoreGround,
} from '#testkit/simulation/restore-ground.ts';

/** Restores one backup after every kind of later change. */

const AMOUNT = 2_500_000n;
/** Amount with the fees of behavior.md 6.2, minus the cashback. */
const CHARGE = 2_511_250n;
/** First of the settlement numbers that the service has not drawn. */
const DRAWN_BY_NOBODY = 900_000_000n;

let world: RestoreGround;
let outside: OutsideService;
let idKey: IdKey;

before(async () => {
  world = await openRestoreGround(2);
  outside = outsideService(world.ground.testnet.config);
  idKey = await openIdKey(world.db, idSealingKey(world.ground.secret));
});
after(() => world?.close());

function withdraw(key: string, amount: bigint): Promise<Seen> {
  const { db, sandbox } = world;
  const accountId = sandbox.account;
  return world.onChain((chain) => askToWithdraw({ db, chain, idKey }, { accountId, key, amount }));
}

interface Known {
  readonly merchantNumber: bigint;
  readonly payer: Hex;
}

/** Returns the demo merchant and the payer of pass `ok`, as the contract identifies them. */
async function selectKnown(): Promise<Known> {
  const [row] = await world.db.query<{ merchant_number: bigint; address: Hex }>(
    `select m.merchant_number, y.address from account_modes m, passes s
     join payers y on y.id = s.payer_id
     where m.account_id = $1 and not m.livemode and s.label = $2 and not y.livemode`,
    [world.sandbox.account, 'Demo: ok'],
  );
  const { merchant_number: merchantNumber, address: payer } = present(row, 'demo payer');
  return { merchantNumber, payer };
}

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
  const number = (place: number) => DRAWN_BY_NOBODY + BigInt(place);
  const read = async (order: string) => {
    const { body } = await world.node(0).merchant.get(`/payment_intents/${intentOf(order)}`);
    return body;
  };

  before(async () => {
    for (const order of ['ONCE', 'CANCELED', 'EXPIRED', 'NUMBER', 'TAKEN']) {
      intents.set(order, (await world.create(0, order)).body.id);
    }
    await world.pay('EARLIER');
    const { node, db, ground } = world;
    await node(0).merchant.post(`/payment_intents/${intentOf('CANCELED')}/cancel`);
    await db.query('update payment_intents set expires_at = now() where id = $1', [
      intentOf('EXPIRED'),
    ]);
    const numbers = new Map<string, bigint>();
    for (const [order, id] of intents) numbers.set(order, await numberOf(id));
    const known = await selectKnown();
    const { request_count: requestCount } = await world.recovery();
    await ground.database.copy('early');

    const [payer] = await db.query<{ address: Hex }>(
      `select y.address from passes s join payers y on y.id = s.payer_id
       where s.label = 'Demo: ok_2' and not y.livemode`,
    );
    const address = present(payer, 'payer').address;
    const before = await outside.usdcOf(address);
    once = await world.tap(0, intentOf('ONCE'), 'tap ONCE', 'ok_2');
    withdrawn = await withdraw('withdraw 1', 1_000_000n);
    await world.pay('LOST');
    await waitUntil(async () => {
      const rows = await db.query(`select from withdrawals where status = 'succeeded'`);
      return rows.length === 1;
    }, REST_MS);
    const pay = (order: string, payment: Partial<PaymentCall> = {}): PaymentCall => ({
      ...known,
      amount: AMOUNT,
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
      pay('NUMBER', { amount: AMOUNT + 1n }),
      pay('TAKEN', { number: number(1) }),
      pay('DIRECT', { number: number(2) }),
      pay('ALIEN-1', { number: number(3), merchantNumber: strangers.merchantNumber }),
      pay('ALIEN-2', { number: number(4), payer: strangers.payer }),
    ]);
    await ground.database.putBack('early');
    twice = await world.tap(1, intentOf('ONCE'), 'tap ONCE', 'ok_2');
    row = await world.recovered(requestCount);
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
    const booked = await world.db.query<{ count: bigint }>(
      `select count(*) as count from payments where recovered`,
    );
    assert.equal(booked[0]?.count, 7n);
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
    const again = await withdraw('withdraw 1', 1_000_000n);
    assert.deepEqual([again.status, again.replayed], [201, true]);
    assert.equal(again.body.id, withdrawn.body.id);
    assert.deepEqual([again.body.status, again.body.recovered], ['succeeded', true]);
  });

  it('agrees with the chain, except for the settlement that number_taken names', async () => {
    const taken = await numberOf(intentOf('NUMBER'));
    const { merchantNumber } = await selectKnown();
    const { found, charged } = await world.onChain(async (chain) => {
      // The merchant of settlement 3 has no account.
      const sides = await readBothSides(world.db, chain, new Set([number(3)]));
      const one = present(sides.settled.find((each) => each.number === taken) ?? null, 'charge');
      const charged = one.amount + one.feeAcquirer + one.feeProtocol - one.cashback;
      return { found: await violationsOf(CONTRACT_INVARIANTS, sides), charged };
    });
    const expected = [
      `settlement ${taken} of the chain is no payment of ours`,
      `merchant ${merchantNumber} has ${AMOUNT + 1n} more`,
      `the books of ${world.sandbox.account} have ${-AMOUNT - 1n} more`,
      `the contract holds ${charged} more`,
    ];
    assert.deepEqual(
      found.map(({ detail }) => withDifference(detail)).toSorted(),
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
