import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { newId } from '#core/ids.ts';
import type { Tenant } from '#core/mode.ts';
import { testEndpoint, wrongBody } from '#testkit/apis/endpoint.ts';
import { putRates } from '#testkit/fixtures/payments/rates.ts';

const PATH = '/v1/payment_intents';

/** Returns invalid values of `tipping`, each with the parameter that the error names. */
function wrongTippings() {
  const percentages = (value: unknown) => ({ tipping: { percentages: value } });
  const both = { percentages: [10], amounts: [1] };
  return [
    wrongBody('with a tipping that is a list', { tipping: [10] }, 'tipping'),
    wrongBody('with an empty tipping', { tipping: {} }, 'tipping.percentages', 'parameter_missing'),
    wrongBody('with no percentage at all', percentages([]), 'tipping.percentages'),
    wrongBody('with four percentages', percentages([5, 10, 15, 20]), 'tipping.percentages'),
    wrongBody('with a percentage of 0', percentages([0]), 'tipping.percentages.0'),
    wrongBody('with a percentage of 51', percentages([10, 51]), 'tipping.percentages.1'),
    wrongBody('with half a percent', percentages([10.5]), 'tipping.percentages.0'),
    wrongBody('with a percentage as a string', percentages(['10']), 'tipping.percentages.0'),
    wrongBody('with fixed tips', { tipping: both }, 'tipping.amounts', 'parameter_unknown'),
  ];
}

/** Returns amounts in another currency, each invalid in one way. */
function wrongPresentments() {
  const priced = (presentment: unknown, more: object = {}) => ({
    amount: undefined,
    presentment,
    ...more,
  });
  const euros = { currency: 'eur', amount: 250 };
  const at = (field: string) => `presentment.${field}`;
  return [
    wrongBody('with both sums', { presentment: euros }, 'presentment'),
    wrongBody('with null alone', priced(null), 'presentment'),
    wrongBody('with a presentment that is a sum', priced(250), 'presentment'),
    wrongBody('without its currency', priced({ amount: 1 }), at('currency'), 'parameter_missing'),
    wrongBody('without its amount', priced({ currency: 'eur' }), at('amount'), 'parameter_missing'),
    wrongBody(
      'with more members',
      priced({ ...euros, rate: '1' }),
      at('rate'),
      'parameter_unknown',
    ),
    wrongBody('with EUR in capitals', priced({ ...euros, currency: 'EUR' }), at('currency')),
    wrongBody('with a made-up currency', priced({ ...euros, currency: 'xyz' }), at('currency')),
    wrongBody(
      'with a currency without a rate',
      priced({ ...euros, currency: 'gel' }),
      at('currency'),
    ),
    wrongBody('with usdc as currency', priced({ ...euros, currency: 'usdc' }), at('currency')),
    wrongBody('with a presentment of 0', priced({ ...euros, amount: 0 }), at('amount')),
    wrongBody('with a negative presentment', priced({ ...euros, amount: -1 }), at('amount')),
    wrongBody('with half a cent', priced({ ...euros, amount: 0.5 }), at('amount')),
    wrongBody('with a presentment as text', priced({ ...euros, amount: '250' }), at('amount')),
    wrongBody('that is worth too much', priced({ ...euros, amount: 100_000_001 }), at('amount')),
    wrongBody('that is worth no atom', priced({ currency: 'irr', amount: 1 }), at('amount')),
  ];
}

/** Returns lines, each invalid in one way. The unchanged line costs 2500000 atoms. */
function wrongLines() {
  const coffee = { name: 'Coffee', quantity: 2, unit_amount: 1_250_000, tax_rate: 700 };
  const sale = (change: object, more: object = {}) => ({
    line_items: [{ ...coffee, ...change }],
    ...more,
  });
  const at = (field: string) => `line_items.0.${field}`;
  const without = (field: string) =>
    wrongBody(
      `with a line without ${field}`,
      sale({ [field]: undefined }),
      at(field),
      'parameter_missing',
    );
  const wrong = (field: string, values: readonly unknown[]) =>
    values.map((value) =>
      wrongBody(`with the ${field} ${JSON.stringify(value)}`, sale({ [field]: value }), at(field)),
    );
  const rates = [0, 10_001, -1, 0.5, '100', null];
  const quantities = [0, -1, 1.5, '0', '0.000', '1.0000', '1,5', '.5', '-1', '', '1e3', null];
  return [
    ...['name', 'quantity', 'unit_amount', 'tax_rate'].map(without),
    ...wrong('name', ['', 'x'.repeat(201), 'a\nb', null]),
    ...wrong('quantity', quantities),
    ...wrong('unit_amount', [0.5, '1250000', null]),
    ...wrong('tax_rate', [-1, 10_001, 0.5, '', 'Unknown', null]),
    ...wrong('tax_inclusive', ['yes', 1, null]),
    ...wrong('discount', [-1, 2_500_001, '1', null]),
    ...rates.map((rate) =>
      wrongBody(
        `with a line’s discount of ${rate} basis points`,
        sale({ discount: { rate } }),
        at('discount.rate'),
      ),
    ),
    ...wrong('discount_name', ['x'.repeat(61), 'a\nb']),
    ...wrong('item', ['item_01QzXo0KcV5sVQ2pWm8Tn3', 'Coffee']),
    wrongBody('with more in a line', sale({ price: 1 }), at('price'), 'parameter_unknown'),
    wrongBody('with lines that are none', { line_items: {} }, 'line_items'),
    wrongBody('with no line at all', { line_items: [] }, 'line_items'),
    wrongBody(
      'with 101 lines',
      {
        line_items: Array.from({ length: 101 }, () => ({ ...coffee, quantity: 1, unit_amount: 1 })),
      },
      'line_items',
    ),
    wrongBody('with lines of less', sale({ quantity: 1 }), 'line_items'),
    wrongBody(
      'with lines of an atom more',
      sale({ quantity: 1, unit_amount: 2_500_001 }),
      'line_items',
    ),
    wrongBody('with tax on top of the price', sale({ tax_inclusive: false }), 'line_items'),
    wrongBody('with a line’s discount beside the price', sale({ discount: 1 }), 'line_items'),
    wrongBody('with a discount beside the price', sale({}, { discount: 1 }), 'line_items'),
    wrongBody('with a discount above the lines', sale({}, { discount: 2_500_001 }), 'discount'),
    wrongBody('with a negative discount', sale({}, { discount: -1 }), 'discount'),
    ...rates.map((rate) =>
      wrongBody(
        `with a discount of ${rate} basis points`,
        sale({}, { discount: { rate } }),
        'discount.rate',
      ),
    ),
    wrongBody('with a discount without lines', { discount: 1 }, 'discount'),
  ];
}

const api = testEndpoint({
  name: `POST ${PATH}`,
  scope: 'payments:write',
  good: async ({ merchant }) => ({
    path: PATH,
    idempotencyKey: randomUUID(),
    body: { amount: 2_500_000, terminal: merchant.test.terminal, metadata: { table: '7' } },
  }),
  status: 201,
  expect: ({ body }, { merchant }) => {
    assert.equal(body.status, 'requires_payment_method');
    assert.equal(body.amount, 2_500_000);
    assert.equal(body.terminal, merchant.test.terminal);
    assert.equal(body.livemode, false);
    assert.equal(body.source, 'api');
    assert.deepEqual(body.metadata, { table: '7' });
    const lifetime = Date.parse(String(body.expires_at)) - Date.parse(body.created);
    assert.equal(lifetime, 120_000);
  },
  wrong: [
    wrongBody('without an amount', { amount: undefined }, 'amount', 'parameter_missing'),
    wrongBody('with an amount of 0', { amount: 0 }, 'amount'),
    wrongBody('with an amount above 1000000000000', { amount: 1_000_000_000_001 }, 'amount'),
    wrongBody('with a fraction of an atom', { amount: 1.5 }, 'amount'),
    wrongBody('with an amount as a string', { amount: '1' }, 'amount'),
    wrongBody('with an amount of null', { amount: null }, 'amount'),
    wrongBody('without a terminal', { terminal: undefined }, 'terminal', 'parameter_missing'),
    wrongBody('with a made-up terminal', { terminal: 'tml_01QzXnyWbB0mJr6vGq2Lk9' }, 'terminal'),
    wrongBody('with an order_id of 9 characters', { order_id: '123456789' }, 'order_id'),
    wrongBody('with an empty order_id', { order_id: '' }, 'order_id'),
    wrongBody('with a space in order_id', { order_id: 'a b' }, 'order_id'),
    wrongBody(
      'with a description of 501 characters',
      { description: 'x'.repeat(501) },
      'description',
    ),
    wrongBody('with a line feed in description', { description: 'a\nb' }, 'description'),
    wrongBody('with a NUL in description', { description: 'a\0b' }, 'description'),
    wrongBody('with a lone surrogate', { description: '\ud800' }, 'description'),
    wrongBody('with 21 pairs of metadata', { metadata: pairs(21) }, 'metadata'),
    wrongBody(
      'with a metadata name of 41 characters',
      { metadata: { ['k'.repeat(41)]: '' } },
      `metadata.${'k'.repeat(41)}`,
    ),
    wrongBody('with a number in metadata', { metadata: { a: 1 } }, 'metadata.a'),
    wrongBody(
      'with 501 characters in metadata',
      { metadata: { a: 'x'.repeat(501) } },
      'metadata.a',
    ),
    wrongBody('with 29 seconds', { expires_in: 29 }, 'expires_in'),
    wrongBody('with 601 seconds', { expires_in: 601 }, 'expires_in'),
    ...wrongTippings(),
    ...wrongPresentments(),
    ...wrongLines(),
    wrongBody('with a field it does not take', { color: 'red' }, 'color', 'parameter_unknown'),
    {
      because: 'with a body that is no JSON',
      call: (good) => ({ ...good, body: '{"amount":' }),
      code: 'body_invalid',
    },
    {
      because: 'with an amount that appears more than once',
      call: (good) => ({ ...good, body: '{"amount":1,"amount":2}' }),
      code: 'parameter_invalid',
      param: 'amount',
    },
    {
      because: 'with __proto__ in metadata',
      call: (good) => ({ ...good, body: '{"amount":1,"metadata":{"__proto__":"x"}}' }),
      code: 'parameter_invalid',
      param: 'metadata.__proto__',
    },
    {
      because: 'with nesting beyond measure',
      call: (good) => ({ ...good, body: `{"metadata":${'['.repeat(5000)}${']'.repeat(5000)}}` }),
      code: 'parameter_invalid',
      param: 'metadata',
    },
    {
      because: 'with an idempotency key of 256 characters',
      call: (good) => ({ ...good, idempotencyKey: 'k'.repeat(256) }),
      code: 'idempotency_key_invalid',
    },
  ],
  elsewhere: 'own',
  replay: 'required',
  setUp: async ({ db }) => {
    const maxAgeS = 86_400;
    const rates = { eur: '1', usd: '1', irr: '0.000023' };
    await putRates(db, rates, { now: new Date(), maxAgeS });
  },
});

function pairs(count: number): object {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v']));
}

const create = (body: object, more: object = {}) =>
  api().call({
    path: PATH,
    idempotencyKey: randomUUID(),
    body: { amount: 1, terminal: api().merchant.test.terminal, ...body },
    ...more,
  });

test("another account's and another mode's terminals are not accepted", async () => {
  const stranger = await api().addMerchant();
  for (const terminal of [stranger.test.terminal, api().merchant.live.terminal]) {
    const { status, body } = await create({ terminal });
    assert.deepEqual(
      [status, body.error.code, body.error.param],
      [400, 'parameter_invalid', 'terminal'],
    );
  }
});

test("another account's and another mode's catalog items are not accepted", async () => {
  const stranger = await api().addMerchant();
  const addItem = async ({ tenant }: { readonly tenant: Tenant }) => {
    const id = newId('catalogueItem', new Date());
    await api().db.query(
      `insert into catalogue_items (id, account_id, livemode, name, unit_amount, tax_rate,
         tax_inclusive, position, created)
       values ($1, $2, $3, 'Coffee', 1, 0, true, 0, now())`,
      [id, tenant.accountId, tenant.livemode],
    );
    return id;
  };
  const line = { name: 'Coffee', quantity: 1, unit_amount: 1, tax_rate: 0 };
  const sell = (item: string) => create({ line_items: [{ ...line, item }] });
  for (const mode of [stranger.test, api().merchant.live]) {
    const { status, body } = await sell(await addItem(mode));
    const { code, param } = body.error;
    assert.deepEqual([status, code, param], [400, 'parameter_invalid', 'line_items.0.item']);
  }
  assert.equal((await sell(await addItem(api().merchant.test))).status, 201);
});

test('an inactive terminal is refused', async () => {
  const stranger = await api().addMerchant();
  const { terminal, key } = stranger.test;
  await api().db.query(`update terminals set status = 'inactive' where id = $1`, [terminal]);
  const { status, body } = await create({ terminal }, { key });
  assert.deepEqual([status, body.error.code], [409, 'terminal_inactive']);
});

test('before go-live, a create is refused with account_not_live', async () => {
  const { test: mode } = await api().addMerchant({ live: false });
  const { status, body } = await create({ terminal: mode.terminal }, { key: mode.key });
  assert.deepEqual([status, body.error.code], [409, 'account_not_live']);
});

test('a live intent needs an approved verification, and the refusal is replayed', async () => {
  const merchant = await api().addMerchant();
  await api().db.query(`update accounts set kyb_status = 'pending' where id = $1`, [
    merchant.accountId,
  ]);
  const { terminal, key } = merchant.live;
  const call = { path: PATH, key, idempotencyKey: randomUUID(), body: { amount: 1, terminal } };
  const first = await api().call(call);
  assert.deepEqual([first.status, first.body.error.code], [403, 'kyb_required']);
  const again = await api().call(call);
  assert.equal(again.headers['idempotent-replayed'], 'true');
  assert.equal(again.text, first.text);
});

test('an order_id can be used once per account and mode', async () => {
  assert.equal((await create({ order_id: 'A-1' })).status, 201);
  const second = await create({ order_id: 'A-1' });
  assert.deepEqual([second.status, second.body.error.code], [409, 'order_id_in_use']);
  const { live } = api().merchant;
  assert.equal(
    (await create({ order_id: 'A-1', terminal: live.terminal }, { key: live.key })).status,
    201,
  );
});

test('a validation error frees the key for the corrected request', async () => {
  const idempotencyKey = randomUUID();
  assert.equal((await create({ amount: 0 }, { idempotencyKey })).status, 400);
  assert.equal((await create({ amount: 7 }, { idempotencyKey })).status, 201);
});

test('the same request with its fields in another order is the same request', async () => {
  const idempotencyKey = randomUUID();
  const { terminal } = api().merchant.test;
  const call = { path: PATH, idempotencyKey };
  const first = await api().call({ ...call, body: `{"amount": 9, "terminal": "${terminal}"}` });
  const again = await api().call({ ...call, body: `{"terminal":"${terminal}","amount":9.0e0}` });
  assert.equal(again.text, first.text);
  assert.equal(again.headers['idempotent-replayed'], 'true');
});

test('an integer may be written as 2.5e6', async () => {
  const { terminal } = api().merchant.test;
  const body = `{"amount":2.5e6,"terminal":"${terminal}"}`;
  const answered = await api().call({ path: PATH, idempotencyKey: randomUUID(), body });
  assert.equal(answered.body.amount, 2_500_000);
});

test('characters are counted, not code units', async () => {
  assert.equal((await create({ description: '😀'.repeat(500) })).status, 201);
  assert.equal((await create({ description: '😀'.repeat(501) })).status, 400);
});

test('tipping is stored as sent, and is null if it was not sent', async () => {
  const tipping = { percentages: [20, 10, 15] };
  const created = await create({ tipping });
  assert.deepEqual([created.body.tipping, created.body.tip], [tipping, null]);
  for (const input of [{}, { tipping: null }]) {
    assert.equal((await create(input)).body.tipping, null);
  }
});

test('a price in euros is answered with its amount in atoms and its quote', async () => {
  const presentment = { currency: 'eur', amount: 250 };
  const { status, body } = await create({ amount: undefined, presentment });
  assert.equal(status, 201);
  assert.equal(body.amount, 2_500_000);
  const { quoted_at: at, ...quoted } = body.presentment as Record<string, unknown>;
  // No test of one API reads the fees from a chain.
  const unknown = { total: null, fees: null };
  const locked = { ...presentment, ...unknown, rate: '1', source: 'feed.test, other.test' };
  assert.deepEqual(quoted, { ...locked, expires_at: body.expires_at });
  assert.match(String(at), /Z$/);
  assert.equal((await create({ presentment: null })).body.presentment, null);
});

test('a price without a usable rate is 503 and frees its key', async () => {
  const idempotencyKey = randomUUID();
  const call = { amount: undefined, presentment: { currency: 'jpy', amount: 500 } };
  const past = { now: new Date(Date.now() - 10_000), maxAgeS: 1 };
  await putRates(api().db, { jpy: '0.0065' }, past);
  const refused = await create(call, { idempotencyKey });
  assert.deepEqual([refused.status, refused.body.error.code], [503, 'rates_unavailable']);
  await putRates(api().db, { jpy: '0.0065' }, { now: new Date() });
  const made = await create(call, { idempotencyKey });
  assert.deepEqual([made.status, made.body.amount], [201, 3_250_000]);
});
