import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Caller } from '#testkit/apis/api-client.ts';
import { errorCodeOf } from '#testkit/apis/error-code.ts';
import { openServedStore, type StoreServer } from '#testkit/apis/store-server.ts';
import { tap } from '#testkit/apis/tap.ts';
import { addPayer, addTerminal, type TestStore } from '#testkit/fixtures/payments/store.ts';

let store: TestStore;
let server: StoreServer;
let device: Caller;

before(async () => {
  ({ store, server, device } = await openServedStore({ settles: true, refunds: true }));
});

after(() => server.close());

/** Adds another terminal, which has no intents yet. */
async function otherTerminal() {
  const { deviceKey, terminalId } = await addTerminal(store.db, store.merchant, new Date());
  return { caller: server.device(deviceKey), terminalId, deviceKey };
}

test('a cashier asks for a tip, and the tap includes it', async () => {
  const { pass } = await addPayer(store);
  const tipping = { percentages: [10, 15] };
  const { body } = await device.post('/payment_intents', { amount: 1_000_000, tipping });
  assert.deepEqual([body.tipping, body.tip], [tipping, null]);
  const credential = { type: 'nfc_id', value: pass };
  const path = `/payment_intents/${body.id}/tap`;
  for (const tip_amount of [1_000_001, -1, 0.5, '1', null]) {
    const refused = await device.post(path, { credential, tip_amount }, 'tip');
    assert.deepEqual([refused.status, errorCodeOf(refused.body)], [400, 'parameter_invalid']);
    assert.equal(refused.body.error?.param, 'tip_amount');
  }
  const paid = await device.post(path, { credential, tip_amount: 150_000 }, 'tip');
  assert.deepEqual([paid.body.amount, paid.body.tip], [1_000_000, 150_000]);
  const again = await device.post(path, { credential, tip_amount: 150_000 }, 'tip');
  assert.deepEqual(again.body, paid.body);
  const other = await device.post(path, { credential, tip_amount: 0 }, 'tip');
  assert.equal(errorCodeOf(other.body), 'idempotency_key_reused');
});

test('the totals of the terminal separate sales from tips, and count declines', async () => {
  const { caller, terminalId } = await otherTerminal();
  const { pass } = await addPayer(store);
  const sell = async (tip: number) => {
    const sale = { amount: 1_000_000, tipping: { percentages: [10] } };
    const { body } = await caller.post('/payment_intents', sale);
    return tap(caller, body.id, pass, { tip });
  };
  await sell(150_000);
  await sell(0);
  const declined = await caller.post('/payment_intents', { amount: 1_000_000 });
  await tap(caller, declined.body.id, 'nfc_nobodyHasThisPass0000');

  const figures = {
    payments: 2,
    sales: 2_000_000,
    tips: 150_000,
    refunds: 0,
    refunded: 0,
    declines: 1,
    presentment: [],
  };
  const { status, body } = await caller.get('/totals');
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(body.total, figures);
  const [line] = body.terminals as Record<string, unknown>[];
  assert.deepEqual(line, { terminal: terminalId, label: line?.label, ...figures });
  const { body: none } = await caller.get('/totals?from=2020-01-01');
  assert.deepEqual([none.to, none.terminals], ['2020-01-01', []]);
  assert.equal((await caller.get('/totals?from=2020-01-02&to=2020-01-01')).status, 400);
});

test('a shift is added up by cashier, who is named at each sale and refund', async () => {
  const { caller, terminalId, deviceKey } = await otherTerminal();
  const { pass } = await addPayer(store);
  const sell = async (amount: number, cashier?: string) => {
    const { body, status } = await caller.post('/payment_intents', { amount, cashier });
    assert.equal(status, 201, JSON.stringify(body));
    const paid = await tap(caller, body.id, pass);
    return { metadata: body.metadata, payment: String(paid.body.payment) };
  };
  await sell(500_000);
  const before = new Date().toISOString();
  assert.deepEqual((await sell(1_000_000, 'Ada')).metadata, { cashier: 'Ada' });
  const { payment } = await sell(2_000_000, 'Bo, "B"');
  const back = await caller.post('/refunds', { payment, amount: 250_000, cashier: 'Ada' });
  assert.deepEqual([back.status, back.body.status], [201, 'succeeded']);
  assert.deepEqual(back.body.metadata, { cashier: 'Ada' });

  const { body, status } = await caller.get(`/totals?created_gte=${before}`);
  assert.equal(status, 200, JSON.stringify(body));
  const lines = body.cashiers as Record<string, unknown>[];
  assert.deepEqual(
    lines.map(({ cashier, payments, sales, refunds, refunded }) => [
      cashier,
      payments,
      sales,
      refunds,
      refunded,
    ]),
    [
      ['Ada', 1, 1_000_000, 1, 250_000],
      ['Bo, "B"', 1, 2_000_000, 0, 0],
    ],
  );
  assert.deepEqual(
    (body.terminals as Record<string, unknown>[]).map(({ terminal, sales }) => [terminal, sales]),
    [[terminalId, 3_000_000]],
  );
  assert.equal((body.total as { refunded: number }).refunded, 250_000);
  assert.equal(body.created_gte, before);

  const response = await fetch(
    `${server.url}/api/device/v1/totals?created_gte=${before}&format=csv`,
    { headers: { Authorization: `Bearer ${deviceKey}` } },
  );
  const file = await response.text();
  const [header, ...rows] = file.trim().split('\r\n');
  const figures = 'payments,sales,tips,refunds,refunded,declines';
  const ofLines = 'currency,tax_rate,net,tax,gross,discounts,payouts';
  assert.equal(header, `terminal,label,cashier,${figures},${ofLines}`);
  assert.equal(rows.length, 2);
  assert.match(rows[1] ?? '', /,"Bo, ""B""",1,2000000,0,0,0,0,,,,,,,$/);
  const today = (await caller.get('/totals')).body.cashiers as { cashier: string | null }[];
  assert.deepEqual(
    today.map(({ cashier }) => cashier),
    ['Ada', 'Bo, "B"', null],
  );
});

test('an invalid shift is refused', async () => {
  const { caller } = await otherTerminal();
  const at = '2026-09-01T08:00:00.000Z';
  for (const query of [
    `created_lt=${at}`,
    `created_gte=${at}&created_lt=${at}`,
    `created_gte=${at}&from=2026-09-01`,
    `created_gte=${at}&created_lt=2027-09-01T08:00:00.000Z`,
    'created_gte=yesterday',
  ]) {
    const { status, body } = await caller.get(`/totals?${query}`);
    assert.deepEqual([status, errorCodeOf(body)], [400, 'parameter_invalid'], query);
  }
  const long = { amount: 1_000_000, cashier: 'x'.repeat(41) };
  assert.equal((await caller.post('/payment_intents', long)).status, 400);
});

test("without days, today is the day of the account's test clock", async () => {
  const { caller } = await otherTerminal();
  const { pass } = await addPayer(store);
  const merchant = await server.merchant();
  const advanced = await merchant.post('/test_helpers/clock/advance', { seconds: 2 * 86_400 });
  const now = String(advanced.body.now);
  const { body: intent } = await caller.post('/payment_intents', { amount: 3_000_000 });
  await tap(caller, intent.id, pass);

  const { body: today } = await caller.get('/totals');
  assert.equal(today.from, now.slice(0, 10), 'the accounts of these tests are in UTC');
  assert.equal((today.total as { sales: number }).sales, 3_000_000);
  const { body: shift } = await caller.get(`/totals?created_gte=${now}`);
  assert.equal((shift.total as { sales: number }).sales, 3_000_000);
  const byClockOfServer = new Date().toISOString().slice(0, 10);
  const { body: earlier } = await caller.get(`/totals?from=${byClockOfServer}`);
  assert.equal((earlier.total as { sales: number }).sales, 0);
});
