import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { createManagerCode } from '#accounts/manager-code.ts';
import { changePin } from '#people/cashier-pins.ts';
import { deleteMembership, insertMembership } from '#people/membership-queries.ts';
import type { Caller } from '#testkit/apis/api-client.ts';
import { errorCodeOf } from '#testkit/apis/error-code.ts';
import { addOwner } from '#testkit/apis/people.ts';
import { openServedStore, type StoreServer } from '#testkit/apis/store-server.ts';
import { sellAt } from '#testkit/apis/tap.ts';
import { accepted } from '#testkit/fixtures/core/accepted.ts';
import { addMerchant, addTerminal, type TestStore } from '#testkit/fixtures/payments/store.ts';

const actor = { type: 'system', name: 'test' } as const;
const MINUTE = 60_000;

let store: TestStore;
let server: StoreServer;

before(async () => {
  ({ store, server } = await openServedStore({ settles: true, refunds: true }));
});

after(() => server.close());

let people = 0;

interface Person {
  readonly userId: string;
  readonly pin: string;
}

async function setPin(userId: string, pin: string | null, accountId = ownAccount()) {
  const ref = { accountId, actor, now: store.clock.now() };
  accepted(await changePin(store, ref, { userId, pin }));
}

const ownAccount = () => store.merchant.tenant.accountId;

async function addCashier(
  rights: { readonly limit?: number; readonly mayDiscount?: boolean } = {},
  accountId = ownAccount(),
): Promise<Person> {
  const { userId } = await addOwner(store, `cashier${++people}@till.test`);
  const now = store.clock.now();
  // No two people at a till share a name.
  await store.db.query('update users set name = $2 where id = $1', [userId, `Cashier ${people}`]);
  const membership = { accountId, userId, role: 'cashier', now } as const;
  await store.db.transaction((tx) => insertMembership(tx, membership));
  await store.db.query(
    `update memberships set refund_limit = $3, may_discount = $4
     where account_id = $1 and user_id = $2`,
    [accountId, userId, rights.limit ?? 0, rights.mayDiscount ?? false],
  );
  const pin = String(4_927 + people);
  await setPin(userId, pin, accountId);
  return { userId, pin };
}

let till: Caller;
let terminalId = '';

beforeEach(async () => {
  const made = await addTerminal(store.db, store.merchant, new Date());
  till = server.device(made.deviceKey);
  terminalId = made.terminalId;
});

const start = ({ userId, pin }: Person, at = till) => at.post('/shift', { cashier: userId, pin });

async function comeIn(person: Person) {
  const started = await start(person);
  assert.equal(started.status, 201, JSON.stringify(started.body));
  return started.body;
}

const sell = (amount = 2_000_000) => sellAt(store, till, { amount });

async function managerCode(): Promise<string> {
  const { tenant } = store.merchant;
  const request = { tenant, actor, now: store.clock.now() };
  return (await store.db.transaction((tx) => createManagerCode(tx, request))).code;
}

describe('a shift', () => {
  test('is started by a person, handed over without closing, and ended', async () => {
    const [ada, ben] = [await addCashier(), await addCashier()];
    const { body: list } = await till.get('/cashiers');
    const data = list.data as { id: string }[];
    for (const { userId } of [ada, ben]) assert.ok(data.some(({ id }) => id === userId));
    assert.deepEqual(Object.keys(data[0] ?? {}), ['id', 'name', 'role', 'lifts']);
    assert.equal((await till.get('/terminal')).body.shift, null);
    const first = await comeIn(ada);
    const { id, object, cashier, started_at, ended_at } = first;
    assert.deepEqual([object, cashier, ended_at], ['shift', ada.userId, null]);
    const handed = await comeIn(ben);
    assert.deepEqual([handed.id, handed.cashier, handed.started_at], [id, ben.userId, started_at]);
    assert.deepEqual((await till.get('/terminal')).body.shift, handed);
    const ended = await till.send('DELETE', '/shift');
    assert.deepEqual([ended.status, ended.body.id], [200, id]);
    assert.ok(ended.body.ended_at);
    assert.equal((await till.send('DELETE', '/shift')).status, 404);
    assert.equal((await till.get('/terminal')).body.shift, null);
    assert.notEqual((await comeIn(ada)).id, id, 'the next shift is another one');
  });

  test('is opened once if several people sign in at the same time', async () => {
    const both = [await addCashier(), await addCashier()];
    const started = await Promise.all(both.map((person) => start(person)));
    assert.equal(new Set(started.map(({ body }) => body.id)).size, 1);
  });

  test('names its person at intents, payments and refunds, and in the totals', async () => {
    const [ada, ben] = [await addCashier({ limit: 1_000_000 }), await addCashier()];
    const before = await sell();
    assert.equal(before.cashier, null);
    await comeIn(ada);
    const paid = await sell();
    assert.equal(paid.cashier, ada.userId);
    const { body: list } = await till.get('/payments?limit=1');
    assert.equal((list.data as { cashier: string }[])[0]?.cashier, ada.userId);
    const back = await till.post('/refunds', { payment: paid.payment, amount: 1_000_000 });
    assert.deepEqual([back.status, back.body.cashier], [201, ada.userId]);
    await comeIn(ben);
    assert.equal((await sell()).cashier, ben.userId);
    await till.send('DELETE', '/shift');
    assert.equal((await sell()).cashier, null);
    const { body: totals } = await till.get('/totals');
    const lines = totals.cashiers as { cashier_id: string | null; payments: number }[];
    const countOf = (id: string | null) => lines.find((line) => line.cashier_id === id)?.payments;
    assert.deepEqual([ada.userId, ben.userId, null].map(countOf), [1, 1, 2]);
    const own = lines.find((line) => line.cashier_id === ada.userId);
    const { cashier, refunds, refunded } = own as unknown as Record<string, unknown>;
    assert.deepEqual([cashier, refunds, refunded], ['Cashier 5', 1, 1_000_000]);
  });

  test('names its person at a sale that a server sends to the till', async () => {
    const ada = await addCashier();
    await comeIn(ada);
    const merchant = await server.merchant();
    const sale = { amount: 1_000_000, terminal: terminalId };
    const { body } = await merchant.post('/payment_intents', sale);
    assert.equal(body.cashier, ada.userId);
  });
});

describe('a wrong PIN', () => {
  test('is refused with one response for strangers and for people of another account', async () => {
    const ada = await addCashier();
    const other = await addMerchant(store.db, { now: store.clock.now() });
    const foreign = await addCashier({}, other.tenant.accountId);
    const nobody = { userId: 'usr_0000000000000000000000', pin: '4927' };
    const answers = [];
    for (const who of [{ ...ada, pin: '0000' }, foreign, nobody]) answers.push(await start(who));
    for (const { status, body } of answers) {
      assert.deepEqual([status, errorCodeOf(body)], [403, 'pin_invalid']);
    }
    const [, message] = answers.map(({ body }) => body.error?.message);
    for (const { body } of answers) {
      assert.equal(body.error?.message, message);
      assert.ok(!JSON.stringify(body).includes('4927'));
    }
    for (const pin of ['123', '123456789', 'abcd', 4927]) {
      const refused = await till.post('/shift', { cashier: ada.userId, pin });
      assert.equal(errorCodeOf(refused.body), 'parameter_invalid', String(pin));
    }
  });

  test('five times blocks that person only, for ten minutes at every till', async () => {
    const [ada, ben] = [await addCashier(), await addCashier()];
    for (let tries = 0; tries < 5; tries++) {
      assert.equal((await start({ ...ada, pin: '0000' })).status, 403);
    }
    const second = await addTerminal(store.db, store.merchant, new Date());
    for (const at of [till, server.device(second.deviceKey)]) {
      const late = await start(ada, at);
      assert.deepEqual([late.status, errorCodeOf(late.body)], [429, 'rate_limit_exceeded']);
    }
    await comeIn(ben);
    const [row] = await store.db.query<{ until: Date; now: Date }>(
      'select pin_blocked_until as until, now() as now from memberships where user_id = $1 ' +
        'and account_id = $2',
      [ada.userId, ownAccount()],
    );
    const leftMs = Number(row?.until) - Number(row?.now);
    assert.ok(leftMs > 9 * MINUTE && leftMs <= 10 * MINUTE, `${leftMs} ms`);
    await store.db.query(
      "update memberships set pin_blocked_until = now() - interval '1 s' where user_id = $1",
      [ada.userId],
    );
    await comeIn(ada);
  });

  test('guessed in parallel, five are answered and the rest are refused alike', async () => {
    const ada = await addCashier();
    const guesses = ['0000', '0001', '0002', '0003', '0004', '0005', '0006', '0007'];
    const answers = await Promise.all(guesses.map((pin) => start({ ...ada, pin })));
    const wrong = answers.filter(({ status }) => status === 403);
    assert.equal(wrong.length, 5);
    assert.equal((await start(ada)).status, 429, 'the right one, too');
  });

  test('is limited per terminal, whoever it is for', async () => {
    const guess = (n: number) =>
      start({ userId: `usr_${String(n).padStart(22, '0')}`, pin: '0000' });
    for (let n = 0; n < 30; n++) assert.equal((await guess(n)).status, 403, String(n));
    assert.equal((await guess(30)).status, 429);
    const ada = await addCashier();
    assert.equal((await start(ada)).status, 429);
  });

  test('no longer works after it was changed, and a new PIN ends a block', async () => {
    const ada = await addCashier();
    for (let tries = 0; tries < 5; tries++) await start({ ...ada, pin: '0000' });
    await setPin(ada.userId, '86420975');
    assert.equal(errorCodeOf((await start(ada)).body), 'pin_invalid');
    await comeIn({ ...ada, pin: '86420975' });
  });

  test('two people may have the same PIN, and each signs in under their own name', async () => {
    const [ada, ben] = [await addCashier(), await addCashier()];
    await setPin(ben.userId, ada.pin);
    assert.equal((await comeIn({ ...ben, pin: ada.pin })).cashier, ben.userId);
    assert.equal((await comeIn(ada)).cashier, ada.userId);
    const rows = await store.db.query<{ pin_hash: string }>(
      'select pin_hash from memberships where user_id = any($1) and pin_hash is not null',
      [[ada.userId, ben.userId]],
    );
    assert.equal(new Set(rows.map((row) => row.pin_hash)).size, 2);
  });
});

describe('a refund', () => {
  test('beyond the limit of the person needs a manager, over all refunds of the sale', async () => {
    await comeIn(await addCashier({ limit: 1_000_000 }));
    const { payment } = await sell(3_000_000);
    const refund = (fields: object) => till.post('/refunds', { payment, ...fields });
    const tooMuch = await refund({ amount: 1_000_001 });
    assert.deepEqual([tooMuch.status, errorCodeOf(tooMuch.body)], [403, 'manager_required']);
    assert.equal((await refund({ amount: 600_000 })).status, 201);
    const second = await refund({ amount: 400_001 });
    assert.equal(errorCodeOf(second.body), 'manager_required');
    const manager_code = await managerCode();
    assert.equal((await refund({ amount: 400_001, manager_code })).status, 201);
    assert.equal(errorCodeOf((await refund({ amount: 1 })).body), 'manager_required');
  });

  test('at the same time as others never exceeds the limit in sum', async () => {
    await comeIn(await addCashier({ limit: 1_000_000 }));
    const { payment } = await sell(3_000_000);
    const both = await Promise.all(
      [1, 2, 3].map(() => till.post('/refunds', { payment, amount: 600_000 })),
    );
    assert.deepEqual(both.map(({ status }) => status).sort(), [201, 403, 403]);
  });

  test('of a person without a limit needs a manager from the first atom', async () => {
    await comeIn(await addCashier());
    const { payment } = await sell();
    const refused = await till.post('/refunds', { payment, amount: 1 });
    assert.equal(errorCodeOf(refused.body), 'manager_required');
  });
});

describe('a discount', () => {
  const sale = {
    amount: 900_000,
    line_items: [{ name: 'Tea', quantity: 1, unit_amount: 1_000_000, tax_rate: 0 }],
    discount: 100_000,
  };
  const lineSale = {
    amount: 900_000,
    line_items: [
      { name: 'Tea', quantity: 1, unit_amount: 1_000_000, tax_rate: 0, discount: 100_000 },
    ],
  };

  test('needs the right or a manager, whose code works once', async () => {
    await comeIn(await addCashier());
    for (const request of [sale, lineSale]) {
      const refused = await till.post('/payment_intents', request);
      assert.deepEqual([refused.status, errorCodeOf(refused.body)], [403, 'manager_required']);
    }
    const manager_code = await managerCode();
    const key = 'discount';
    const allowed = await till.post('/payment_intents', { ...sale, manager_code }, key);
    assert.equal(allowed.status, 201, JSON.stringify(allowed.body));
    const replayed = await till.post('/payment_intents', { ...sale, manager_code }, key);
    assert.deepEqual(replayed.body, allowed.body);
    const again = await till.post('/payment_intents', { ...sale, manager_code });
    assert.equal(errorCodeOf(again.body), 'manager_required');
    const [used] = await store.db.query<{ payment_intent_id: string }>(
      'select payment_intent_id from manager_codes where payment_intent_id is not null',
    );
    assert.equal(used?.payment_intent_id, allowed.body.id);
    const plain = { ...sale, amount: 1_000_000, discount: 0 };
    assert.equal((await till.post('/payment_intents', plain)).status, 201);
  });

  test('one code allows one of two sales at the same time', async () => {
    await comeIn(await addCashier());
    const manager_code = await managerCode();
    const both = await Promise.all(
      [1, 2].map(() => till.post('/payment_intents', { ...sale, manager_code })),
    );
    assert.deepEqual(both.map(({ status }) => status).sort(), [201, 403]);
  });

  test('needs no code from a cashier who may give it, or where nobody has a PIN', async () => {
    const mayDiscount = async () => (await till.get('/terminal')).body.may_discount;
    await addCashier();
    const refused = await till.post('/payment_intents', sale);
    assert.equal(errorCodeOf(refused.body), 'manager_required', 'nobody is signed in');
    assert.equal(await mayDiscount(), false);
    await store.db.query('update memberships set pin_hash = null, pin_id = null');
    assert.equal((await till.post('/payment_intents', sale)).status, 201);
    assert.equal(await mayDiscount(), true);
    await comeIn(await addCashier({ mayDiscount: true }));
    assert.equal((await till.post('/payment_intents', sale)).status, 201);
    assert.equal(await mayDiscount(), true);
    await comeIn(await addCashier());
    assert.equal(await mayDiscount(), false, 'the till knows it before the line is down');
  });

  test('with wrong codes is limited in the same way as refunds', async () => {
    await comeIn(await addCashier());
    const wrong = { ...sale, manager_code: 'AAAA-AAAA' };
    for (let tries = 0; tries < 10; tries++) {
      assert.equal((await till.post('/payment_intents', wrong)).status, 403);
    }
    assert.equal((await till.post('/payment_intents', wrong)).status, 429);
  });
});

describe('a person whose rights end during the shift', () => {
  const ENDS: Readonly<Record<string, (person: Person) => Promise<unknown>>> = {
    'by removal': ({ userId }) =>
      store.db.transaction((tx) => deleteMembership(tx, { accountId: ownAccount(), userId })),
    'by a new PIN': ({ userId }) => setPin(userId, '86420975'),
    'by the loss of the PIN': ({ userId }) => setPin(userId, null),
  };

  for (const [how, end] of Object.entries(ENDS)) {
    test(`${how} sells without a name, and refunds and discounts nothing`, async () => {
      const ada = await addCashier({ limit: 5_000_000, mayDiscount: true });
      const { id } = await comeIn(ada);
      await end(ada);
      const { body: device } = await till.get('/terminal');
      const shift = device.shift as { id: string; cashier: string | null };
      assert.deepEqual([shift.id, shift.cashier], [id, null]);
      const paid = await sell();
      assert.equal(paid.cashier, null);
      const back = await till.post('/refunds', { payment: paid.payment, amount: 1 });
      assert.equal(errorCodeOf(back.body), 'manager_required');
      const discounted = await till.post('/payment_intents', {
        amount: 1,
        line_items: [{ name: 'Tea', quantity: 1, unit_amount: 2, tax_rate: 0 }],
        discount: 1,
      });
      assert.equal(errorCodeOf(discounted.body), 'manager_required');
      assert.equal(errorCodeOf((await start(ada)).body), 'pin_invalid');
      const ben = await addCashier();
      assert.equal((await comeIn(ben)).id, id, 'a colleague takes the shift over');
    });
  }

  test('a person who joins again needs a new PIN', async () => {
    const ada = await addCashier({ limit: 5_000_000 });
    await comeIn(ada);
    const accountId = ownAccount();
    const { userId } = ada;
    await store.db.transaction((tx) => deleteMembership(tx, { accountId, userId }));
    const again = { accountId, userId, role: 'cashier', now: store.clock.now() } as const;
    await store.db.transaction((tx) => insertMembership(tx, again));
    assert.equal(errorCodeOf((await start(ada)).body), 'pin_invalid');
    await setPin(userId, ada.pin);
    const { body } = await till.get('/terminal');
    assert.equal((body.shift as { cashier: string | null }).cashier, null);
  });

  test('an inactive terminal and an ended key start no shift', async () => {
    const ada = await addCashier();
    await store.db.query("update terminals set status = 'inactive' where id = $1", [terminalId]);
    assert.equal(errorCodeOf((await start(ada)).body), 'terminal_inactive');
  });
});
