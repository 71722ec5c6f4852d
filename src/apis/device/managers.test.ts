import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, beforeEach, describe, test } from 'node:test';
import { createManagerCode } from '#accounts/manager-code.ts';
import { addStaff, changeStaffPin, removeStaff, type StaffEdit } from '#accounts/staff.ts';
import { changePin } from '#people/cashier-pins.ts';
import type { TillRole } from '#people/role-order.ts';
import type { Caller } from '#testkit/apis/api-client.ts';
import { errorCodeOf } from '#testkit/apis/error-code.ts';
import { addMember } from '#testkit/apis/people.ts';
import { openServedStore, type StoreServer } from '#testkit/apis/store-server.ts';
import { sellAt } from '#testkit/apis/tap.ts';
import { accepted } from '#testkit/fixtures/core/accepted.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { addMerchant, addTerminal, type TestStore } from '#testkit/fixtures/payments/store.ts';

/** Tests of staff at tills, of managers who lift limits there, and of tills without a person. */

const actor = { type: 'system', name: 'test' } as const;
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const STAFF = new URL('../../../migrations/0049_staff.sql', import.meta.url);

const clock = new FakeClock(new Date());
let store: TestStore;
let server: StoreServer;
let till: Caller;
let terminalId = '';

before(async () => {
  ({ store, server } = await openServedStore({ settles: true, refunds: true, clock }));
});

after(() => server.close());

beforeEach(async () => {
  const made = await addTerminal(store.db, store.merchant, new Date());
  till = server.device(made.deviceKey);
  terminalId = made.terminalId;
});

const ownAccount = () => store.merchant.tenant.accountId;
const refOf = (id: string, accountId = ownAccount()) => ({
  accountId,
  id,
  actor,
  now: clock.now(),
});

let people = 0;

interface Person {
  readonly id: string;
  readonly pin: string;
}

async function addPerson(
  role: TillRole,
  rights: Pick<StaffEdit, 'refund_limit' | 'may_discount'> = {},
  accountId = ownAccount(),
): Promise<Person> {
  const pin = String(830_517 + 7 * ++people);
  const input = { name: `Person ${people}`, role, pin, ...rights };
  const row = accepted(await addStaff(store, { accountId, actor, now: clock.now() }, input));
  return { id: row.id, pin };
}

const signIn = ({ id, pin }: Person, at = till) => at.post('/shift', { cashier: id, pin });

async function comeIn(person: Person) {
  const started = await signIn(person);
  assert.equal(started.status, 201, JSON.stringify(started.body));
  return started.body;
}

const sell = (amount = 2_000_000) => sellAt(store, till, { amount });

const DISCOUNTED = {
  amount: 900_000,
  line_items: [{ name: 'Tea', quantity: 1, unit_amount: 1_000_000, tax_rate: 0 }],
  discount: 100_000,
};

async function logged(objectId: unknown) {
  const rows = await store.db.query<{ action: string; actor: object; after: object }>(
    'select action, actor, after from audit_log where object_id = $1',
    [objectId],
  );
  return rows;
}

describe('staff', () => {
  test('sign in at tills like members, and sales and refunds name them', async () => {
    const ada = await addPerson('cashier', { refund_limit: 1_500_000, may_discount: true });
    const { body: list } = await till.get('/cashiers');
    const own = (list.data as { id: string }[]).find(({ id }) => id === ada.id);
    assert.deepEqual(own, { id: ada.id, name: `Person ${people}`, role: 'cashier', lifts: false });
    const shift = await comeIn(ada);
    const { cashier, refund_limit, refund_limit_presentment, may_discount } = shift;
    assert.deepEqual(
      [cashier, refund_limit, refund_limit_presentment, may_discount],
      [ada.id, 1_500_000, null, true],
    );
    assert.deepEqual((await till.get('/terminal')).body.shift, shift);
    const paid = await sell();
    assert.equal(paid.cashier, ada.id);
    const refund = { payment: paid.payment, amount: 1_500_000 };
    const back = await till.post('/refunds', refund);
    assert.deepEqual([back.status, back.body.cashier], [201, ada.id]);
    assert.equal((await till.post('/payment_intents', DISCOUNTED)).body.cashier, ada.id);
    const { body: totals } = await till.get('/totals');
    const [line] = totals.cashiers as { cashier_id: string; cashier: string; refunded: number }[];
    assert.deepEqual(
      [line?.cashier_id, line?.cashier, line?.refunded],
      [ada.id, `Person ${people}`, 1_500_000],
    );
  });

  test('have no limit of their own as managers, and no rights as cashiers', async () => {
    const manager = await comeIn(await addPerson('manager'));
    assert.deepEqual([manager.refund_limit, manager.may_discount], [null, true]);
    const { payment } = await sell(40_000_000);
    const back = await till.post('/refunds', { payment, amount: 40_000_000 });
    assert.equal(back.status, 201, JSON.stringify(back.body));
    const cashier = await comeIn(await addPerson('cashier'));
    assert.deepEqual([cashier.refund_limit, cashier.may_discount], [0, false]);
  });

  test('who are removed lose their rights at once, and the shift continues', async () => {
    const ada = await addPerson('cashier', { refund_limit: 2_000_000, may_discount: true });
    const shift = await comeIn(ada);
    const { payment } = await sell();
    const remove = { version: 1, erase: false };
    accepted(await store.db.transaction((tx) => removeStaff(tx, refOf(ada.id), remove)));
    const { body } = await till.get('/terminal');
    const now = body.shift as typeof shift;
    assert.deepEqual(
      [now.id, now.cashier, now.refund_limit, now.may_discount],
      [shift.id, null, 0, false],
    );
    assert.equal((await sell()).cashier, null);
    await addPerson('cashier');
    const refused = [
      await till.post('/refunds', { payment, amount: 1 }),
      await till.post('/payment_intents', DISCOUNTED),
      await signIn(ada),
    ];
    const codes = refused.map((reply) => errorCodeOf(reply.body));
    assert.deepEqual(codes, ['manager_required', 'manager_required', 'pin_invalid']);
    const { body: totals } = await till.get('/totals');
    const lines = totals.cashiers as { cashier_id: string | null; cashier: string }[];
    assert.ok(lines.some(({ cashier_id: id, cashier }) => id === ada.id && cashier !== null));
  });
});

describe('a manager at the till', () => {
  test('lifts a refund and a discount for one request, and the audit log names both', async () => {
    const [ada, mia] = [await addPerson('cashier'), await addPerson('manager')];
    await comeIn(ada);
    const { payment } = await sell();
    const refund = { payment, amount: 1_000_000 };
    assert.equal(errorCodeOf((await till.post('/refunds', refund)).body), 'manager_required');
    const back = await till.post('/refunds', { ...refund, manager: mia });
    assert.deepEqual([back.status, back.body.cashier], [201, ada.id], JSON.stringify(back.body));
    const sold = await till.post('/payment_intents', { ...DISCOUNTED, manager: mia });
    assert.deepEqual([sold.status, sold.body.cashier], [201, ada.id]);
    for (const [body, action] of [
      [back.body, 'refund.allowed'],
      [sold.body, 'discount.allowed'],
    ] as const) {
      const after = { manager: mia.id, cashier: ada.id };
      const till = { type: 'system', name: `terminal ${terminalId}` };
      assert.deepEqual(await logged(body.id), [{ action, actor: till, after }]);
    }
    assert.equal(errorCodeOf((await till.post('/refunds', refund)).body), 'manager_required');
  });

  test('lifts up to their own limit, over all refunds of the sale', async () => {
    await comeIn(await addPerson('cashier'));
    const mia = await addPerson('manager', { refund_limit: 1_000_000 });
    const { payment } = await sell();
    const refund = async (amount: number) =>
      (await till.post('/refunds', { payment, amount, manager: mia })).body;
    assert.equal(errorCodeOf(await refund(1_000_001)), 'manager_required');
    assert.equal((await refund(600_000)).status, 'succeeded');
    assert.equal(errorCodeOf(await refund(400_001)), 'manager_required');
    assert.equal((await refund(400_000)).status, 'succeeded');
  });

  test('is refused alike for a wrong id, PIN, right and account', async () => {
    const ada = await addPerson('cashier', { refund_limit: 0 });
    await comeIn(ada);
    const mia = await addPerson('manager');
    const other = await addMerchant(store.db, { now: clock.now() });
    const foreign = await addPerson('manager', {}, other.tenant.accountId);
    const { payment } = await sell();
    const wrong = [
      ...[{ ...mia, pin: '111111' }, ada, foreign],
      ...[
        { ...mia, id: 'stf_0000000000000000000000' },
        { ...mia, id: 'nobody' },
      ],
    ];
    const errors = [];
    for (const manager of wrong) {
      for (const reply of [
        await till.post('/refunds', { payment, amount: 1, manager }),
        await till.post('/payment_intents', { ...DISCOUNTED, manager }),
      ]) {
        assert.equal(reply.status, 403);
        errors.push(`${reply.body.error?.code} ${reply.body.error?.message}`);
        assert.equal(reply.body.error?.param, 'manager');
      }
    }
    assert.equal(new Set(errors).size, 1);
    assert.match(errors[0] ?? '', /^manager_required /);
    assert.deepEqual(
      await store.db.query('select from refunds where payment_id = $1', [payment]),
      [],
    );
    for (const manager of [{ ...mia, pin: '12' }, { id: mia.id }, { ...mia, more: 1 }, 'mia']) {
      const { status } = await till.post('/refunds', { payment, amount: 1, manager });
      assert.equal(status, 400, JSON.stringify(manager));
    }
  });

  test('is not needed for a repeated request, which answers the same without the PIN', async () => {
    await comeIn(await addPerson('cashier'));
    const mia = await addPerson('manager');
    const { payment } = await sell();
    const refund = { payment, amount: 1_000_000 };
    const requests = [
      ['/refunds', refund],
      ['/payment_intents', DISCOUNTED],
    ] as const;
    for (const [path, body] of requests) {
      const key = `repeated ${path}`;
      const first = await till.post(path, { ...body, manager: mia }, key);
      assert.equal(first.status, 201, JSON.stringify(first.body));
      for (const manager of [undefined, { ...mia, pin: '999999' }, mia]) {
        const again = await till.post(path, { ...body, manager }, key);
        assert.deepEqual(again.body, first.body);
        assert.equal(again.headers.get('idempotent-replayed'), 'true');
      }
    }
  });

  test('is ignored where nothing needs one, and counts no wrong PIN', async () => {
    await comeIn(await addPerson('cashier', { refund_limit: 10_000_000 }));
    const mia = await addPerson('manager');
    const { payment } = await sell();
    const refund = { payment, amount: 100_000, manager: { ...mia, pin: '999999' } };
    for (let n = 0; n < 6; n++) assert.equal((await till.post('/refunds', refund)).status, 201);
    assert.equal((await signIn(mia)).status, 201);
  });

  test('shares one count of wrong PINs with the sign-in', async () => {
    await comeIn(await addPerson('cashier'));
    const mia = await addPerson('manager');
    const wrong = { ...mia, pin: '999999' };
    for (let n = 0; n < 2; n++) assert.equal((await signIn(wrong)).status, 403);
    const sale = (manager: Person) => till.post('/payment_intents', { ...DISCOUNTED, manager });
    for (let n = 0; n < 3; n++) assert.equal((await sale(wrong)).status, 403);
    assert.equal((await sale(mia)).status, 429);
    assert.equal((await signIn(mia)).status, 429);
    clock.advance(10 * MINUTE);
    assert.equal((await sale(mia)).status, 201);
  });

  test('with a PIN from before lifts nothing until a right sign-in shows its length', async () => {
    await comeIn(await addPerson('cashier'));
    const id = await addMember(store, {
      ...{ email: 'before@till.test', accountId: ownAccount(), role: 'owner' },
    });
    const pin = '604172';
    accepted(await changePin(store, refOf(id), { userId: id, pin }));
    await store.db.query('update memberships set long_pin_id = null where user_id = $1', [id]);
    const { payment } = await sell();
    const refund = { payment, amount: 1_000, manager: { id, pin } };
    const lifts = async () => {
      const { body } = await till.get('/cashiers');
      return (body.data as { id: string; lifts: boolean }[]).find((one) => one.id === id)?.lifts;
    };
    assert.equal(await lifts(), false);
    const before = await till.post('/refunds', refund);
    assert.equal(before.status, 403);
    assert.equal((await signIn({ id, pin })).status, 201);
    assert.equal(await lifts(), true);
    await comeIn(await addPerson('cashier'));
    assert.equal((await till.post('/refunds', refund)).status, 201);
    await store.db.query('delete from memberships where user_id = $1', [id]);
  });

  test('a manager’s code lifts as before, also beside a wrong manager', async () => {
    await comeIn(await addPerson('cashier'));
    const mia = await addPerson('manager');
    const made = await store.db.transaction((tx) =>
      createManagerCode(tx, { tenant: store.merchant.tenant, actor, now: clock.now() }),
    );
    const sale = { ...DISCOUNTED, manager_code: made.code, manager: { ...mia, pin: '999999' } };
    assert.equal((await till.post('/payment_intents', sale)).status, 201);
    assert.equal((await till.post('/payment_intents', sale)).status, 403);
  });
});

describe('a till without a person', () => {
  const setOwnLimit = (atoms: number | null) =>
    store.db.query('update terminals set refund_limit = $2 where id = $1', [terminalId, atoms]);

  test('sells, and refunds up to its own limit where people have PINs', async () => {
    const mia = await addPerson('manager');
    const { payment } = await sell();
    const refund = async (amount: number, more = {}) => {
      const { body } = await till.post('/refunds', { payment, amount, ...more });
      return errorCodeOf(body) ?? body.status;
    };
    assert.equal(await refund(1), 'manager_required');
    await setOwnLimit(500_000);
    assert.equal(await refund(500_001), 'manager_required');
    assert.equal(await refund(500_000), 'succeeded');
    assert.equal(await refund(100_000, { manager: mia }), 'succeeded');
  });

  test('refunds up to the account’s limit where nobody has a PIN', async () => {
    const [db] = [store.db];
    await db.query('update staff set pin_hash = null, pin_id = null');
    const { payment } = await sell();
    assert.equal((await till.post('/refunds', { payment, amount: 1_000_000 })).status, 201);
    await setOwnLimit(0);
    assert.equal((await till.post('/refunds', { payment, amount: 1 })).status, 403);
  });

  test('keeps 500 USDC as a cash register of before, where people have PINs', async () => {
    await addPerson('cashier');
    const other = await addMerchant(store.db, { now: clock.now() });
    const [fill = ''] = /^update terminals[^;]+/m.exec(readFileSync(STAFF, 'utf8')) ?? [];
    for (const [merchant, platform, before, kept] of [
      [store.merchant, 'reader', null, 500_000_000n],
      [store.merchant, 'reader', 0n, 0n],
      [store.merchant, 'browser', null, null],
      [other, 'reader', null, null],
    ] as const) {
      const { terminalId: id } = await addTerminal(store.db, merchant, clock.now());
      const set = 'update terminals set platform = $2, refund_limit = $3 where id = $1';
      await store.db.query(set, [id, platform, before]);
      await store.db.query(fill);
      const read = 'select refund_limit from terminals where id = $1';
      assert.deepEqual(await store.db.query(read, [id]), [{ refund_limit: kept }]);
    }
  });
});

describe('a thief with device keys', () => {
  test('who guesses at five tills for a day gets sixty tries, and then nobody does', async () => {
    const mia = await addPerson('manager');
    const tills = [till];
    while (tills.length < 5) {
      tills.push(
        server.device((await addTerminal(store.db, store.merchant, new Date())).deviceKey),
      );
    }
    const count: Record<number, number> = { 403: 0, 429: 0 };
    const perTill = tills.map(() => 0);
    const guess = async (at: Caller, index: number, n: number) => {
      const { status } = await signIn({ ...mia, pin: String(100_000 + n) }, at);
      count[status] = (count[status] ?? 0) + 1;
      if (status === 403) perTill[index] = (perTill[index] ?? 0) + 1;
    };
    for (let step = 0; step < 24 * 6 - 1; step++) {
      for (let n = 0; n < 2; n++) {
        await Promise.all(tills.map((at, index) => guess(at, index, 5 * step + index)));
      }
      clock.advance(10 * MINUTE);
    }
    assert.equal(count[403], 60);
    assert.ok(Math.max(...perTill) <= 20, JSON.stringify(perTill));
    assert.deepEqual(Object.keys(count), ['403', '429']);
    clock.advance(2 * DAY);
    assert.equal((await signIn(mia)).status, 429, 'until an admin unblocks the person');
    accepted(await changeStaffPin(store, refOf(mia.id), mia.pin));
    assert.equal((await signIn(mia)).status, 201, 'the same PIN may stay');
  });

  test('who guesses at one till gets twenty tries a day, and others go on', async () => {
    const mia = await addPerson('manager');
    const owner = { email: 'owner@till.test', accountId: ownAccount(), role: 'owner' } as const;
    await addMember(store, owner);
    const mails = () => store.db.query('select from mail_outbox');
    const before = (await mails()).length;
    const other = server.device(
      (await addTerminal(store.db, store.merchant, new Date())).deviceKey,
    );
    let wrong = 0;
    for (let step = 0; step < 6; step++) {
      for (let n = 0; n < 5; n++) {
        if ((await signIn({ ...mia, pin: '999999' })).status === 403) wrong++;
      }
      clock.advance(10 * MINUTE);
    }
    assert.equal(wrong, 20);
    const blocked = await signIn(mia);
    assert.equal(blocked.status, 429);
    assert.ok(Number(blocked.headers.get('retry-after')) > 22 * 3600);
    assert.equal((await signIn(mia, other)).status, 201);
    assert.equal((await mails()).length, before + 1, 'the owner gets one mail');
    clock.advance(DAY);
    assert.equal((await signIn(mia)).status, 201);
  });
});

test('no PIN is stored anywhere in the database', async () => {
  const ada = await addPerson('cashier');
  const mia = await addPerson('manager');
  await comeIn(ada);
  const { payment } = await sell();
  for (const pin of [mia.pin, '48205173']) {
    const manager = { id: mia.id, pin };
    await till.post('/refunds', { payment, amount: 1_000, manager });
    await till.post('/payment_intents', { ...DISCOUNTED, manager });
  }
  await new Promise((resolve) => setTimeout(resolve, 500));
  const tables = await store.db.query<{ name: string }>(
    `select table_name as name from information_schema.tables
     where table_schema = 'public' and table_type = 'BASE TABLE'`,
  );
  assert.ok(tables.some(({ name }) => name === 'idempotency_keys'));
  for (const { name } of tables) {
    for (const pin of [ada.pin, mia.pin, '48205173']) {
      const rows = await store.db.query(
        `select from ${name} t where t::text ~ ('(^|[^0-9a-f])' || $1 || '([^0-9a-f]|$)')`,
        [pin],
      );
      assert.equal(rows.length, 0, `${name} holds ${pin}`);
    }
  }
});
