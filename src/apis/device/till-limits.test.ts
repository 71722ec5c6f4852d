import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { atoms } from '#core/money.ts';
import { changePin } from '#people/cashier-pins.ts';
import { insertMembership } from '#people/membership-queries.ts';
import { saveRiskSettings } from '#risk/risk-queries.ts';
import type { Caller } from '#testkit/apis/api-client.ts';
import { errorCodeOf } from '#testkit/apis/error-code.ts';
import { addOwner } from '#testkit/apis/people.ts';
import { openServedStore, type StoreServer } from '#testkit/apis/store-server.ts';
import { sellAt, tap } from '#testkit/apis/tap.ts';
import { accepted } from '#testkit/fixtures/core/accepted.ts';
import { putRates } from '#testkit/fixtures/payments/rates.ts';
import { addPayer, addTerminal, type TestStore } from '#testkit/fixtures/payments/store.ts';

/** Tests limits in the shop's currency at a till: of people, terminals, accounts and risk rules. */

const EURO = '1.08542277217';
const TWENTY = { currency: 'eur', amount: 2_000, worth: 21_708_455 };

let store: TestStore;
let server: StoreServer;
let till: Caller;
let terminalId = '';

before(async () => {
  ({ store, server } = await openServedStore({ settles: true, refunds: true }));
});

after(() => server.close());

const setRate = () => putRates(store.db, { eur: EURO, usd: '1' }, { now: store.clock.now() });
const endRates = () =>
  putRates(store.db, { eur: EURO, usd: '1' }, { now: store.clock.now(), maxAgeS: -60 });
const dropRates = () => store.db.query('delete from exchange_rates');

beforeEach(async () => {
  const made = await addTerminal(store.db, store.merchant, new Date());
  till = server.device(made.deviceKey);
  terminalId = made.terminalId;
  // A till without a person refunds nothing where people have PINs.
  await store.db.query('update memberships set pin_hash = null, pin_id = null');
  await setRate();
  // By default, a first payment of 50 USDC waits for the payer.
  const off = { firstPaymentConfirmFrom: null, highAmountConfirmFrom: null, velocityPerHour: null };
  await setRules({ settings: off });
});

type Rules = Pick<Parameters<typeof saveRiskSettings>[2], 'settings' | 'limits'>;

async function setRules(rules: Rules): Promise<void> {
  await store.db.query('delete from risk_settings');
  const change = { ...rules, version: 0, now: store.clock.now() };
  await store.db.transaction((tx) => saveRiskSettings(tx, store.merchant.tenant, change));
}

const account = () => store.merchant.tenant.accountId;

const sell = async (price: object) => String((await sellAt(store, till, price)).payment);

const inEuros = (amount: number) => ({ presentment: { currency: 'eur', amount } });

/** Returns what the till answers to a refund: the status, or the code of the refusal. */
async function refund(payment: string, amount: object): Promise<string> {
  const { body } = await till.post('/refunds', { payment, ...amount });
  return errorCodeOf(body) ?? String(body.failure_code ?? body.status);
}

async function limitPerson(): Promise<void> {
  const { userId } = await addOwner(store, `cashier-${terminalId}@till.test`);
  const now = store.clock.now();
  const membership = { accountId: account(), userId, role: 'cashier', now } as const;
  await store.db.transaction((tx) => insertMembership(tx, membership));
  await store.db.query(
    `update memberships set refund_limit = $3, refund_limit_presentment = $4::text::jsonb
     where account_id = $1 and user_id = $2`,
    [account(), userId, TWENTY.worth, JSON.stringify(TWENTY)],
  );
  const ref = { accountId: account(), actor: { type: 'system', name: 'test' } as const, now };
  accepted(await changePin(store, ref, { userId, pin: '4927' }));
  assert.equal((await till.post('/shift', { cashier: userId, pin: '4927' })).status, 201);
}

const limitTerminal = () =>
  store.db.query(
    `update terminals set refund_limit = $2, refund_limit_presentment = $3::text::jsonb
     where id = $1`,
    [terminalId, TWENTY.worth, JSON.stringify(TWENTY)],
  );

const limitAccount = () =>
  store.db.query(
    `update accounts set till_refund_limit = $2, till_refund_limit_presentment = $3::text::jsonb
     where id = $1`,
    [account(), TWENTY.worth, JSON.stringify(TWENTY)],
  );

for (const [whose, limit] of [
  ['a person', limitPerson],
  ['a terminal', limitTerminal],
  ['an account', limitAccount],
] as const) {
  test(`a limit of ${whose} of €20.00 holds in euros, and in USDC rounded up`, async () => {
    const [sold, priced] = [await sell({ amount: 50_000_000 }), await sell(inEuros(5_000))];
    await limit();
    assert.equal(await refund(sold, { amount: 21_710_000 }), 'manager_required');
    assert.equal(await refund(sold, { amount: 21_700_000 }), 'succeeded');
    assert.equal(await refund(sold, { amount: 10_000 }), 'manager_required');
    assert.equal(await refund(priced, { presentment_amount: 2_001 }), 'manager_required');
    assert.equal(await refund(priced, { presentment_amount: 1_500 }), 'succeeded');
    await endRates();
    assert.equal(await refund(priced, { presentment_amount: 501 }), 'manager_required');
    assert.equal(await refund(priced, { presentment_amount: 500 }), 'succeeded');
    await setRate();
    const small = await sell({ amount: 1_000_000 });
    await endRates();
    assert.equal(await refund(small, { amount: 1 }), 'manager_required');
  });
}

test('a terminal’s limit replaces the account’s, in either direction', async () => {
  await limitAccount();
  const payment = await sell({ amount: 50_000_000 });
  const setLimit = (atoms: number) =>
    store.db.query('update terminals set refund_limit = $2 where id = $1', [terminalId, atoms]);
  await setLimit(1_000_000);
  assert.equal(await refund(payment, { amount: 1_000_001 }), 'manager_required');
  await setLimit(30_000_000);
  assert.equal(await refund(payment, { amount: 30_000_000 }), 'succeeded');
});

test('a daily limit in euros counts other refunds at the last rate, or at its own', async () => {
  await store.db.query(
    `update accounts set refund_daily_limit = $2, till_refund_limit = 1000000000,
       till_refund_limit_presentment = null, refund_daily_limit_presentment = $3::text::jsonb
     where id = $1`,
    [account(), TWENTY.worth, JSON.stringify(TWENTY)],
  );
  for (const lose of [endRates, dropRates]) {
    await setRate();
    await store.db.query('delete from refunds');
    const [sold, priced] = [await sell({ amount: 50_000_000 }), await sell(inEuros(5_000))];
    await lose();
    assert.equal(await refund(priced, { presentment_amount: 1_000 }), 'succeeded');
    assert.equal(await refund(sold, { amount: 10_854_228 }), 'refund_daily_limit_exceeded');
    assert.equal(await refund(sold, { amount: 10_854_227 }), 'succeeded');
    assert.equal(await refund(priced, { presentment_amount: 1 }), 'refund_daily_limit_exceeded');
  }
  await store.db.query(
    'update accounts set refund_daily_limit = 10000000000, refund_daily_limit_presentment = null',
  );
});

test('a rule in euros asks from its sum on, and for any sale in USDC without a rate', async () => {
  const high = { atoms: 21_708_455n, inShop: { currency: 'eur', amount: 2_000 } };
  const settings = {
    firstPaymentConfirmFrom: null,
    highAmountConfirmFrom: atoms(high.atoms),
    velocityPerHour: null,
  };
  await setRules({ settings, limits: { first: null, high } });
  const statusOf = async (price: object, isWithoutRate = false) => {
    const { pass } = await addPayer(store);
    const { body } = await till.post('/payment_intents', price);
    if (isWithoutRate) await endRates();
    const { body: tapped } = await tap(till, body.id, pass);
    return tapped.status;
  };
  assert.equal(await statusOf(inEuros(2_000)), 'requires_action');
  assert.equal(await statusOf(inEuros(1_999)), 'succeeded');
  assert.equal(await statusOf({ amount: 21_690_000 }), 'succeeded');
  assert.equal(await statusOf({ amount: 21_700_000 }), 'requires_action');
  assert.equal(await statusOf(inEuros(1_999), true), 'succeeded');
  assert.equal(await statusOf({ amount: 1_000_000 }, true), 'requires_action');
});
