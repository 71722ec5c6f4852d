import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { createManagerCode } from '#accounts/manager-code.ts';
import { bookMovements } from '#books/book-movements.ts';
import { lockAllOrders, stampOrder } from '#db/commit-order.ts';
import { beginSeriesAnew } from '#payments/receipt-numbers.ts';
import { changePin } from '#people/cashier-pins.ts';
import { insertMembership } from '#people/membership-queries.ts';
import { type Body, type Caller, caller } from '#testkit/apis/api-client.ts';
import { errorCodeOf } from '#testkit/apis/error-code.ts';
import { addOwner } from '#testkit/apis/people.ts';
import { openServedStore, type StoreServer } from '#testkit/apis/store-server.ts';
import { sellAt } from '#testkit/apis/tap.ts';
import { accepted } from '#testkit/fixtures/core/accepted.ts';
import { addTestKey } from '#testkit/fixtures/payments/merchants.ts';
import { putRates } from '#testkit/fixtures/payments/rates.ts';
import { addMerchant, addTerminal, type TestStore } from '#testkit/fixtures/payments/store.ts';

let shared: TestStore;
let server: StoreServer;

before(async () => {
  ({ store: shared, server } = await openServedStore({ settles: true, refunds: true }));
  const rates = { eur: '1.08542277217' };
  await putRates(shared.db, rates, { now: shared.clock.now(), maxAgeS: 3_600 });
});
after(() => server.close());

let store: TestStore;
let till: Caller;

beforeEach(async () => {
  const merchant = await addMerchant(shared.db, { now: shared.clock.now() });
  await shared.db.query("update accounts set currency = 'eur' where id = $1", [
    merchant.tenant.accountId,
  ]);
  const made = await addTerminal(shared.db, merchant, shared.clock.now());
  store = { ...shared, ...made, merchant };
  till = server.device(made.deviceKey);
});

const sell = (sale: object, at = till, tip?: number) => sellAt(store, at, sale, tip);

const usdc = (amount: number) => sell({ amount });

async function refund(payment: unknown, fields: object, at = till) {
  const { body } = await at.post('/refunds', { payment, ...fields });
  assert.equal(body.status, 'succeeded', JSON.stringify(body));
  return body;
}

async function addCashier(): Promise<{ cashier: string; pin: string }> {
  const { accountId } = store.merchant.tenant;
  const { userId } = await addOwner(store, `cashier${Math.random()}@till.test`);
  const now = store.clock.now();
  const membership = { accountId, userId, role: 'cashier', now } as const;
  await store.db.transaction((tx) => insertMembership(tx, membership));
  await store.db.query(
    `update memberships set refund_limit = 1000000000000, may_discount = true
     where user_id = $1 and account_id = $2`,
    [userId, accountId],
  );
  const ref = { accountId, actor: { type: 'system', name: 'test' } as const, now };
  accepted(await changePin(store, ref, { userId, pin: '492718' }));
  return { cashier: userId, pin: '492718' };
}

async function start(person: object = {}) {
  const started = await till.post('/shift', person);
  assert.equal(started.status, 201, JSON.stringify(started.body));
  return started.body;
}

interface Report extends Body {
  readonly id: string;
  readonly number: number;
  readonly series: string;
  readonly figures: readonly { readonly [name: string]: unknown }[];
}

async function end(at = till): Promise<Report> {
  const ended = await at.send('DELETE', '/shift');
  assert.equal(ended.status, 200, JSON.stringify(ended.body));
  return ended.body as Report;
}

/** Books a correction as reconciliation does when the chain lacks, or has again, a booked row. */
async function correct(objectId: unknown, amount: bigint) {
  const { tenant } = store.merchant;
  await store.db.transaction(async (tx) => {
    const stamp = await stampOrder(tx, tenant, store.clock.now(), 1);
    const movement = { tenant, type: 'correction', objectId: String(objectId), amount } as const;
    await bookMovements(tx, [{ ...movement, happened: null, stamp }]);
  });
}

describe('a shift without a person', () => {
  test('starts and ends while nobody has a PIN, and leaves the till its rights', async () => {
    const shift = await start();
    assert.deepEqual([shift.cashier, shift.ended_at], [null, null]);
    assert.equal((await start()).id, shift.id, 'an open shift goes on');
    assert.deepEqual(((await till.get('/terminal')).body.shift as Body).id, shift.id);
    const lines = [{ name: 'Tea', quantity: 1, unit_amount: 100, tax_rate: 0, discount: 10 }];
    const sale = await sell({ presentment: { currency: 'eur', amount: 90 }, line_items: lines });
    assert.equal(sale.cashier, null);
    await refund(sale.payment, {});
    assert.equal((await end()).id, shift.id);
  });

  test('does not start once somebody has a PIN, nor with half of a sign-in', async () => {
    const { cashier, pin } = await addCashier();
    for (const body of [{}, { cashier }, { pin }]) {
      const refused = await till.post('/shift', body);
      assert.deepEqual([refused.status, errorCodeOf(refused.body)], [400, 'parameter_missing']);
    }
    assert.equal((await till.get('/terminal')).body.shift, null);
  });
});

describe('the report of a shift', () => {
  test('holds what was booked, by currency, person, method and item', async () => {
    const before = await usdc(1_000_000);
    const manager = await addCashier();
    await start(manager);
    const line_items = [
      { name: 'Bread', quantity: 2, unit_amount: 640, tax_rate: 700, discount: 64 },
      { name: 'Wine', quantity: '0.5', unit_amount: 1_520, tax_rate: 1_900 },
    ];
    const sale = await sell(
      {
        presentment: { currency: 'eur', amount: 1_976 },
        line_items,
        tipping: { percentages: [10] },
      },
      till,
      2_144_795,
    );
    const back = await refund(sale.payment, { presentment_amount: 500 });
    const report = await end();
    const eur = {
      ...{ currency: 'eur', count: 1, sales: 1_976, tips: 198, discounts: 64 },
      ...{ refunds: 1, refunded: 500, atoms: 23_592_748 },
      taxes: [
        { rate: 700, net: 1_136, tax: 80, gross: 1_216 },
        { rate: 1_900, net: 639, tax: 121, gross: 760 },
      ],
      refunded_taxes: back.taxes,
    };
    const inUsdc = {
      ...{ currency: 'usdc', count: 1, sales: 1_000_000, tips: 0, discounts: 0 },
      ...{ refunds: 0, refunded: 0, atoms: 1_000_000, taxes: [], refunded_taxes: [] },
    };
    assert.deepEqual(report.figures, [eur, inUsdc]);
    assert.deepEqual(report.cashiers, [
      { cashier: manager.cashier, name: 'Some One', figures: [eur] },
      { cashier: null, name: null, figures: [inUsdc] },
    ]);
    const method = { type: 'wallet_pass', credential: 'nfc_id', count: 1 };
    assert.deepEqual(report.methods, [
      { ...method, currency: 'eur', gross: 2_174 },
      { ...method, currency: 'usdc', gross: 1_000_000 },
    ]);
    const item = { item: null, category: null, currency: 'eur' };
    assert.deepEqual(report.items, [
      { ...item, name: 'Bread', quantity: '2', gross: 1_216 },
      { ...item, name: 'Wine', quantity: '0.5', gross: 760 },
    ]);
    const payments = (await till.get('/payments')).body.data as Body[];
    const numberOf = (id: unknown) => payments.find((one) => one.id === id)?.receipt_number;
    assert.deepEqual(
      [report.first_receipt, report.last_receipt, report.first_refund_receipt],
      [numberOf(before.payment), numberOf(sale.payment), back.receipt_number],
    );
    assert.deepEqual([report.offline, report.declines, report.corrections], [0, 0, []]);
  });

  test('is numbered without gaps, and begins where the previous one ends', async () => {
    const first = await start().then(() => end());
    await usdc(2_000_000);
    await start();
    await usdc(3_000_000);
    const second = await end();
    await start();
    const third = await end();
    assert.deepEqual(
      [first, second, third].map(({ number, series }) => [number, series]),
      [1, 2, 3].map((number) => [number, first.series]),
    );
    assert.deepEqual([second.covers_from, third.covers_from], [first.ended_at, second.ended_at]);
    assert.deepEqual(
      second.figures.map(({ count, atoms }) => [count, atoms]),
      [[2, 5_000_000]],
    );
    assert.deepEqual([first.figures, third.figures], [[], []]);
  });

  test('holds refunds of its own sales, wherever they were made', async () => {
    const sale = await usdc(2_000_000);
    const other = await addTerminal(store.db, store.merchant, store.clock.now());
    const second = server.device(other.deviceKey);
    const { tenant } = store.merchant;
    const actor = { type: 'system', name: 'test' } as const;
    const { code } = await store.db.transaction((tx) =>
      createManagerCode(tx, { tenant, actor, now: store.clock.now() }),
    );
    await refund(sale.payment, { manager_code: code }, second);
    await second.post('/shift', {});
    assert.deepEqual((await end(second)).figures, []);
    await start();
    const [figures] = (await end()).figures;
    assert.deepEqual([figures?.count, figures?.refunds, figures?.refunded], [1, 1, 2_000_000]);
  });

  test('is answered once more to the same Idempotency-Key, and 404 without a shift', async () => {
    await start();
    const headers = { 'Idempotency-Key': 'end-1' };
    const both = await Promise.all(
      [1, 2].map(() => till.send('DELETE', '/shift', { headers: { ...headers } })),
    );
    const again = await till.send('DELETE', '/shift', { headers });
    assert.equal(again.status, 200);
    assert.equal(again.headers.get('Idempotent-Replayed'), 'true');
    for (const { status, body } of both) {
      if (status === 200) assert.deepEqual(body, again.body);
      else assert.equal(errorCodeOf(body), 'idempotency_request_in_progress');
    }
    assert.equal((await till.send('DELETE', '/shift')).status, 404);
    assert.equal((await reports()).length, 1);
  });

  test('of one shift is written once, however many requests end it', async () => {
    await usdc(1_000_000);
    await start();
    const ended = await Promise.all([1, 2, 3, 4].map(() => till.send('DELETE', '/shift')));
    assert.deepEqual(ended.map(({ status }) => status).sort(), [200, 404, 404, 404]);
  });

  test('is the object of the event, and never changes', async () => {
    await usdc(1_000_000);
    await start();
    const report = await end();
    const { accountId } = store.merchant.tenant;
    const rows = await store.db.query<{ body: string }>(
      "select body from events where account_id = $1 and type = 'shift.ended'",
      [accountId],
    );
    assert.deepEqual(
      rows.map(({ body }) => JSON.parse(body).data.object),
      [report],
    );
    for (const change of ["update shift_reports set body = '{}'", 'delete from shift_reports']) {
      await assert.rejects(store.db.query(change, []), /never changes/);
    }
    await assert.rejects(
      store.db.query(
        `insert into shift_reports (id, account_id, livemode, created, position, terminal_id,
           previous_position, series, number, body)
         select id || '2', account_id, livemode, created, position + 1, terminal_id,
           previous_position, series, number + 1, body from shift_reports where id = $1`,
        [report.id],
      ),
      /shift_reports/,
      'no second report covers the same rows',
    );
  });

  test('names what the chain has removed since, as a correction of an earlier report', async () => {
    const sale = await usdc(2_000_000);
    const back = await refund(sale.payment, { amount: 500_000 });
    await start();
    const first = await end();
    await correct(sale.payment, -2_000_000n);
    await correct(back.id, 500_000n);
    await start();
    const second = await end();
    const none = { discounts: 0, tips: 0, taxes: [], refunded_taxes: [], currency: 'usdc' };
    const sold = { ...none, count: -1, sales: -2_000_000, atoms: -2_000_000 };
    const returned = { ...none, refunds: -1, refunded: -500_000, count: 0, sales: 0, atoms: 0 };
    assert.deepEqual(second.corrections, [
      { payment: sale.payment, of: first.id, figures: [{ ...sold, refunds: 0, refunded: 0 }] },
      { refund: back.id, of: first.id, figures: [returned] },
    ]);
    assert.deepEqual(second.figures, []);
    assert.deepEqual((await till.get(`/shifts/${first.id}`)).body, first);
    const { text } = await printed(second.id);
    assert.match(text, /CORRECTION/);
    await correct(sale.payment, 2_000_000n);
    await start();
    const [again] = (await end()).corrections as { figures: { sales: number }[] }[];
    assert.equal(again?.figures[0]?.sales, 2_000_000);
  });

  test('begins a new series at 1 after a shown loss, and says so', async () => {
    await start();
    const before = await end();
    await store.db.transaction(async (tx) => {
      await lockAllOrders(tx, false);
      const now = new Date(Date.now() + 1_000);
      await beginSeriesAnew(tx, { livemode: false, before: now, now });
    });
    await start();
    const report = await end();
    assert.equal(before.after_loss, false);
    assert.deepEqual([report.number, report.after_loss], [1, true]);
    assert.notEqual(report.series, before.series);
    assert.match((await printed(report.id)).text, /because the\s+service lost data/);
  });
});

async function reports(): Promise<Report[]> {
  return (await till.get('/shifts')).body.data as Report[];
}

async function printed(id: string, query = '') {
  const response = await fetch(`${server.url}/api/device/v1/shifts/${id}.txt${query}`, {
    headers: { Authorization: `Bearer ${store.deviceKey}` },
  });
  return { status: response.status, text: await response.text() };
}

describe('the mail of a report', () => {
  test('is queued with the end of the shift, if an address has been confirmed', async () => {
    const { accountId } = store.merchant.tenant;
    const mails = async () => (await store.db.query('select from mail_outbox', [])).length;
    const before = await mails();
    const set = (column: string) =>
      store.db.query(`update accounts set ${column} = 'owner@shop.test' where id = $1`, [
        accountId,
      ]);
    await set('report_email_asked');
    await start().then(() => end());
    assert.equal(await mails(), before);
    await set('report_email');
    await start().then(() => end());
    assert.equal(await mails(), before + 1);
  });
});

describe('an ended report', () => {
  test('is read by its till and by the merchant, and by nobody else', async () => {
    await usdc(1_000_000);
    const ended: Report[] = [];
    for (let count = 0; count < 3; count++) ended.unshift(await start().then(() => end()));
    assert.deepEqual(await reports(), ended);
    const merchant = await server.merchant();
    assert.equal((await merchant.get(`/shifts/${ended[0]?.id}`)).status, 404, 'another account');
    const own = await ownKey();
    const first = (await own.get('/shifts?limit=2')).body;
    const rest = (await own.get(`/shifts?limit=2&cursor=${first.next_cursor}`)).body;
    assert.deepEqual([...(first.data as Body[]), ...(rest.data as Body[])], ended);
    assert.deepEqual((await own.get(`/shifts/${ended[1]?.id}`)).body, ended[1]);
    assert.deepEqual((await own.get(`/shifts?terminal=${store.terminalId}`)).body.data, ended);
    const live = await ownKey(true);
    assert.deepEqual((await live.get('/shifts')).body.data, []);
    assert.equal((await live.get(`/shifts/${ended[0]?.id}`)).status, 404, 'another mode');
    const other = await addTerminal(store.db, store.merchant, store.clock.now());
    const second = server.device(other.deviceKey);
    assert.deepEqual((await second.get('/shifts')).body.data, []);
    assert.equal((await second.get(`/shifts/${ended[0]?.id}`)).status, 404, 'another till');
    const open = await start();
    assert.equal((await till.get(`/shifts/${open.id}`)).status, 404, 'it has not ended');
  });

  test('is printed again as a copy, in both widths, without counting cash', async () => {
    const line_items = [{ name: 'Käsekuchen', quantity: 2, unit_amount: 450, tax_rate: 700 }];
    await sell({ presentment: { currency: 'eur', amount: 900 }, line_items });
    await start();
    const { id, series } = await end();
    for (const width of [32, 48]) {
      const { status, text } = await printed(id, `?width=${width}`);
      assert.equal(status, 200);
      const lines = text.trimEnd().split('\n');
      for (const line of lines) assert.ok(line.length <= width, line);
      for (const said of ['Shift report 1', 'Copy', 'Cash is not counted.', `${series}-1`]) {
        assert.ok(text.includes(said), said);
      }
      assert.match(text, /2 × Käsekuchen +€9\.00/);
    }
    assert.equal((await printed(id, '?width=40')).status, 400);
    assert.equal((await printed('shf_0000000000000000000000')).status, 404);
  });
});

async function ownKey(livemode = false): Promise<Caller> {
  const { accountId } = store.merchant.tenant;
  await store.db.query(
    'insert into account_modes (account_id, livemode) values ($1, $2) on conflict do nothing',
    [accountId, livemode],
  );
  const tenant = { accountId, livemode };
  const { secret } = await addTestKey(store.db, tenant, { now: store.clock.now() });
  return caller(`${server.url}/api/v1`, secret);
}
