import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { beforeEach, test } from 'node:test';
import { chargesOf } from '#core/charges.ts';
import { addSeconds } from '#core/clock.ts';
import { toAtomsUp } from '#core/currency-conversion.ts';
import { toIdKey } from '#core/ids.ts';
import { idOfTerms, readTermsId } from '#payments/offline/presentment-terms.ts';
import type { Caller } from '#testkit/apis/api-client.ts';
import {
  forwardedIn,
  forwardSales,
  type Forwarded as Item,
  RATES,
  setLimits,
  settleForwarded,
  signOffline,
  WIDE_LIMITS,
} from '#testkit/apis/offline-sales.ts';
import { startPayGround } from '#testkit/apis/pay-ground.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { putRates } from '#testkit/fixtures/payments/rates.ts';
import { addTerminal } from '#testkit/fixtures/payments/store.ts';

const EURO = '1.08542277217';
const EURO_TERMS = '1.096276999892';

let merchant: Caller;

const ground = openForTests(startPayGround, async () => {
  merchant = await ground.server.merchant();
});

beforeEach(async () => {
  await setRates({ eur: EURO, chf: '1.2', jpy: '0.006563833279', usd: '1' });
  await setCurrency('eur');
});

const setRates = (rates: Readonly<Record<string, string>>, now = ground.store.clock.now()) =>
  putRates(ground.store.db, rates, { now });

const setCurrency = (currency: string | null) =>
  ground.store.db.query('update accounts set currency = $2 where id = $1', [
    ground.store.merchant.tenant.accountId,
    currency,
  ]);

const said = (item: Item | undefined) => String(item?.code ?? item?.bounce_reason ?? item?.status);

interface Terms {
  readonly id: string;
  readonly currency: string;
  readonly rate: string;
  readonly margin: number;
  readonly quoted_at: string;
  readonly valid_until: string;
}

async function newTill(limits: object = WIDE_LIMITS) {
  const { db, clock, merchant: owner } = ground.store;
  const made = await addTerminal(db, owner, clock.now());
  await setLimits(ground, limits, made.terminalId);
  return { id: made.terminalId, by: ground.server.device(made.deviceKey) };
}

async function termsOf(till: Caller): Promise<Terms> {
  const { body } = await till.get('/terminal');
  const terms = (body.offline_terms as { presentment: Terms | null }).presentment;
  assert.ok(terms !== null, JSON.stringify(body));
  return terms;
}

/** Signs a sale at the till's terms, by a wallet that holds just enough. */
async function sell(terms: Terms, units: number, more: object = {}) {
  const amount = Number(toAtomsUp(BigInt(units), terms));
  const wallet = await ground.bare(chargesOf(BigInt(amount), RATES).pulled);
  const sale = await signOffline(ground, wallet, { amount });
  return { ...sale, presentment: { terms: terms.id, amount: units }, ...more };
}

const lineOf = (unit_amount: number) => ({
  ...{ name: 'Lunch', quantity: 1, unit_amount },
  ...{ tax_rate: 700, tax_inclusive: true },
});

test('a sale in euros keeps its price, rate and margin in every object', async () => {
  const { by } = await newTill();
  const terms = await termsOf(by);
  assert.deepEqual([terms.currency, terms.rate, terms.margin], ['eur', EURO_TERMS, 100]);
  const sale = await sell(terms, 990, { line_items: [lineOf(990)] });
  assert.equal(sale.amount, 10_853_143);
  const [item] = await settleForwarded(by, [sale]);
  assert.equal(said(item), 'succeeded', JSON.stringify(item));
  const price = { currency: 'eur', amount: 990, rate: EURO_TERMS, margin: 100 };
  assert.deepEqual(item?.presentment, { ...price, quoted_at: terms.quoted_at });
  assert.equal(item?.presentment_problem, null);
  const { body: payment } = await merchant.get(`/payments/${item?.payment}`);
  const { body: intent } = await merchant.get(`/payment_intents/${item?.payment_intent}`);
  for (const object of [payment, intent]) {
    const { currency, amount, rate, margin } = object.presentment as typeof price;
    assert.deepEqual({ currency, amount, rate, margin }, price);
    assert.equal((object.line_items as { unit_amount: number }[])[0]?.unit_amount, 990);
  }
  const { body: read } = await merchant.get(`/offline_payments/${item?.id}`);
  assert.deepEqual(read, item);
});

test('terms without a usable rate are null, and earlier terms still hold', async () => {
  const { by } = await newTill({ ...WIDE_LIMITS, hours: 1 });
  const terms = await termsOf(by);
  await setRates({ eur: EURO, usd: '1' }, addSeconds(ground.store.clock.now(), -2 * 3_600));
  const { body } = await by.get('/terminal');
  assert.equal((body.offline_terms as { presentment: unknown }).presentment, null);
  const [item] = await settleForwarded(by, [await sell(terms, 100)]);
  assert.deepEqual([said(item), item?.presentment_problem], ['succeeded', null]);
});

test('a sale keeps its terms when the currency, the rate and the till change', async () => {
  const { by } = await newTill();
  const terms = await termsOf(by);
  const sales = [await sell(terms, 990), await sell(terms, 250)];
  await setRates({ eur: '0.7598', chf: '1.2', usd: '1' });
  await setCurrency('chf');
  const other = await newTill();
  assert.equal((await termsOf(other.by)).currency, 'chf');
  const items = await settleForwarded(other.by, sales);
  assert.deepEqual(items.map(said), ['succeeded', 'succeeded']);
  const prices = items.map(({ presentment }) => (presentment as Terms & { amount: number }).amount);
  assert.deepEqual(prices, [990, 250]);
  assert.deepEqual(await settleForwarded(by, sales), items, 'from two tills it is one sale');
});

test('unknown and ended terms make a sale in USDC with one line, and lose no money', async () => {
  const { by } = await newTill();
  const terms = await termsOf(by);
  const past = addSeconds(ground.store.clock.now(), -4 * 86_400);
  await setRates({ eur: EURO, usd: '1' }, past);
  await setLimits(ground, { ...WIDE_LIMITS, hours: 72 }, ground.store.terminalId);
  // Terms whose 72 hours ended a day ago, for a signature that is valid for three more days.
  await ground.store.db.query(
    "update exchange_rates set usable_until = $1 where currency = 'eur'",
    [ground.store.clock.now()],
  );
  const old = await termsOf(ground.server.device());
  await setRates({ eur: EURO, usd: '1' });
  const late = { validBefore: Math.floor(Date.now() / 1_000) + 71 * 3_600 + 1_800 };
  const amount = 10_853_143;
  const wallet = await ground.bare(chargesOf(BigInt(amount), RATES).pulled * 2n);
  const lines = { line_items: [lineOf(990)] };
  await ground.store.db.query("update accounts set language = 'de'");
  const unknown = { ...(await signOffline(ground, wallet, { amount })), ...lines };
  const expired = { ...(await signOffline(ground, wallet, { amount, ...late })), ...lines };
  const items = await settleForwarded(by, [
    { ...unknown, presentment: { terms: terms.id.replace('eur', 'usd'), amount: 990 } },
    { ...expired, presentment: { terms: old.id, amount: 990 } },
  ]);
  assert.deepEqual(
    items.map((item) => [said(item), item.presentment, item.presentment_problem]),
    [
      ['succeeded', null, 'terms_unknown'],
      ['succeeded', null, 'terms_expired'],
    ],
  );
  const { body: intent } = await merchant.get(`/payment_intents/${items[0]?.payment_intent}`);
  const [line, ...more] = intent.line_items as Record<string, unknown>[];
  assert.deepEqual([line?.unit_amount, line?.tax_rate, more], [amount, 700, []]);
  assert.equal(line?.name, 'Betrag', 'in the language of the shop');
});

test('terms of another account, mode or network are foreign, even if they look alike', async () => {
  const { by } = await newTill();
  const terms = await termsOf(by);
  const { ctx, merchant: own } = ground.store;
  const held = readTermsId(ctx.keys.id, own.tenant, terms.id);
  assert.ok(held !== null);
  const idOf = (tenant: object, key = ctx.keys.id) =>
    idOfTerms(key, { ...own.tenant, ...tenant }, held);
  assert.equal(idOf({}), terms.id);
  const foreign = [
    idOf({ accountId: 'acct_another' }),
    idOf({ livemode: true }),
    idOf({}, toIdKey(randomBytes(32))),
    'oft_',
  ];
  const sales: object[] = [];
  for (const id of foreign) sales.push(await sell({ ...terms, id }, 250));
  const items = await settleForwarded(by, sales);
  assert.deepEqual(
    items.map((item) => [said(item), item.presentment, item.presentment_problem]),
    foreign.map(() => ['succeeded', null, 'terms_unknown']),
  );
});

test('the clock of a till decides no price: a day back, or long after the terms', async () => {
  const { by } = await newTill({ ...WIDE_LIMITS, hours: 1 });
  const terms = await termsOf(by);
  const quoted = Date.parse(terms.quoted_at);
  const told = [-86_400_000, 86_400_000, 30 * 86_400_000].map((ms) => new Date(quoted + ms));
  const sales: object[] = [];
  for (const at of told) sales.push(await sell(terms, 250, { accepted_at: at.toISOString() }));
  const items = await settleForwarded(by, sales);
  assert.deepEqual(
    items.map((item) => [said(item), item.accepted_at, (item.presentment as Terms).rate]),
    told.map((at) => ['succeeded', at.toISOString(), EURO_TERMS]),
  );
});

test('three tills sell in euros while the currency becomes francs and the rate moves', async () => {
  const margins = [0, 100, 1_000];
  const tills = await Promise.all(
    margins.map(async (rate_margin) => {
      const till = await newTill({ ...WIDE_LIMITS, rate_margin });
      return { ...till, terms: await termsOf(till.by) };
    }),
  );
  const sales: Awaited<ReturnType<typeof sell>>[] = [];
  for (const { terms } of tills) sales.push(await sell(terms, 990));
  await setRates({ eur: '0.759795940519', chf: '1.2', usd: '1' });
  await setCurrency('chf');
  for (const [at, till] of tills.entries()) {
    const [item] = await settleForwarded(till.by, sales.slice(at, at + 1));
    const { rate, margin } = till.terms;
    assert.equal(said(item), 'succeeded');
    const { body } = await merchant.get(`/payments/${item?.payment}`);
    const sold = body.presentment as Terms & { amount: number };
    assert.deepEqual(
      [sold.currency, sold.amount, sold.rate, sold.margin, body.amount, body.shop_rate],
      ['eur', 990, rate, margins[at], sales[at]?.amount, '1.2'],
      `a margin of ${margin}`,
    );
    const items = await settleForwarded(tills[(at + 1) % tills.length]?.by ?? till.by, sales);
    assert.deepEqual(items[at], item, 'another till forwards it again');
  }
});

test('an amount that the terms do not give gets an error in its place', async () => {
  const { by } = await newTill();
  const terms = await termsOf(by);
  const sale = await sell(terms, 990);
  const other = { ...sale, presentment: { terms: terms.id, amount: 989 } };
  const [item] = forwardedIn(await forwardSales(by, [other]));
  assert.deepEqual([item?.object, item?.code], ['error', 'parameter_invalid']);
  assert.match(String(item?.message), /presentment\.amount/);
  assert.equal(said((await settleForwarded(by, [sale]))[0]), 'succeeded', 'the nonce is free');
});

test('a malformed price refuses the whole request and names the record', async () => {
  const { by } = await newTill();
  const terms = await termsOf(by);
  const sale = await sell(terms, 990);
  const cases = [
    [{ presentment: { terms: terms.id, amount: 0 } }, 'presentment.amount'],
    [{ presentment: { terms: terms.id, amount: 9.9 } }, 'presentment.amount'],
    [{ presentment: { terms: terms.id, amount: '990' } }, 'presentment.amount'],
    [{ presentment: { terms: 1, amount: 990 } }, 'presentment.terms'],
    [{ presentment: { terms: terms.id, amount: 990, rate: '1' } }, 'presentment.rate'],
    [{ line_items: [lineOf(991)] }, 'line_items'],
    [{ line_items: [lineOf(10_853_143)] }, 'line_items'],
  ] as const;
  for (const [wrong, param] of cases) {
    const { status, body } = await forwardSales(by, [{ ...sale, ...wrong }]);
    const { error } = body as { error: { param: string } };
    assert.deepEqual([status, error.param], [400, `payments[0].${param}`]);
  }
});

test('limits in euros count euros, and other sales by their worth without the margin', async () => {
  const presentment = {
    currency: 'eur',
    per_payment: 1_000,
    per_card_per_day: 2_000,
    total: 2_000,
  };
  const worth = { per_payment: 10_854_227, per_card_per_day: 21_708_455, total: 21_708_455 };
  const limits = { ...WIDE_LIMITS, ...worth, presentment };
  const { by } = await newTill(limits);
  const terms = await termsOf(by);
  // €10.00 at the terms is above per_payment in atoms, but not in euros.
  const sales = [await sell(terms, 1_000), await sell(terms, 1_001), await sell(terms, 1_000)];
  const items = forwardedIn(await forwardSales(by, [...sales, await sell(terms, 1)]));
  assert.deepEqual(items.map(said), [
    'processing',
    'limit_exceeded',
    'processing',
    'limit_exceeded',
  ]);
  await settleForwarded(by, sales);
  await setCurrency('chf');
  const francs = await termsOf(by);
  // CHF 9.04 are 10.848 USDC without the margin, CHF 9.05 are 10.86.
  const inFrancs = [await sell(francs, 904), await sell(francs, 905)];
  const other = await settleForwarded(by, inFrancs);
  assert.deepEqual(other.map(said), ['succeeded', 'limit_exceeded']);
});

test('the operator’s cap is compared with the atoms of a sale', async () => {
  const { by } = await newTill();
  const terms = await termsOf(by);
  const { db } = ground.store;
  await db.query(
    'insert into offline_rules (livemode, allowed, per_payment) values (false, true, $1)',
    [10_853_143],
  );
  const { body } = await by.get('/terminal');
  assert.equal((body.offline as { cap: number }).cap, 10_853_143);
  const items = await settleForwarded(by, [await sell(terms, 990), await sell(terms, 991)]);
  assert.deepEqual(items.map(said), ['succeeded', 'limit_exceeded']);
  await db.query('delete from offline_rules');
});
