import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDashboardServer } from '#testkit/apis/dashboard-server.ts';
import { addMember, addOwner, signInAs, stoppableNews } from '#testkit/apis/people.ts';
import type { AuditEntry, PersonClient } from '#testkit/apis/person-client.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';

let owner: PersonClient;
let path = '';

const server = openForTests(startDashboardServer, async () => {
  const { accountId } = await addOwner(server, 'olga@shop.test');
  await addMember(server, { email: 'mia@shop.test', accountId, role: 'member' });
  owner = await signInAs(server, 'olga@shop.test');
  path = `/accounts/${accountId}`;
});

const NONE = {
  currency: null,
  tax_rates: [],
  prices_include_tax: true,
  discounts: [],
  legal_name: null,
  fiscal_signer: null,
  address: null,
  tax_number: null,
  default_tax_rate: null,
  tip_percentages: null,
};
const SHOP = {
  currency: 'jpy',
  tax_rates: [
    { name: 'food', rate: 800 },
    { name: 'standard', rate: 1_000 },
  ],
  prices_include_tax: false,
  discounts: [
    { name: 'Staff', rate: 10_000 },
    { name: '1 %', rate: 1 },
    { name: 'Voucher', amount: 500 },
  ],
  legal_name: '株式会社 青い扉',
  fiscal_signer: { url: 'https://93.184.215.14/receipts' },
  address: '1-2-3 Kita, Osaka',
  tax_number: 'T1234567890123',
  default_tax_rate: 'food',
  tip_percentages: [5, 50],
};

/** Returns the shop's settings from the account object. */
async function shown(): Promise<object> {
  const { body } = await owner.get(path);
  return Object.fromEntries(Object.keys(NONE).map((name) => [name, body[name]]));
}

async function edit(settings: object, by = owner) {
  const { version } = (await owner.get(path)).body;
  return by.patch(path, { version, ...settings });
}

test('a shop sets its currency, its taxes and its receipt details', async () => {
  assert.deepEqual(await shown(), NONE);
  const set = await edit(SHOP);
  assert.equal(set.status, 200);
  assert.deepEqual(await shown(), SHOP);
  assert.equal((await edit({ time_zone: 'Asia/Tokyo' })).status, 200);
  assert.deepEqual(await shown(), SHOP);
  assert.equal((await edit({ currency: null, address: null })).status, 200);
  assert.deepEqual(await shown(), { ...SHOP, currency: null, address: null });
  assert.equal((await edit(NONE)).status, 200);
  assert.deepEqual(await shown(), NONE);
});

test('the audit log has the values before and after', async () => {
  assert.equal((await edit({ currency: 'eur', tax_number: 'PT500' })).status, 200);
  const [entry] = await owner.list<AuditEntry>(`${path}/audit_log?limit=1`);
  const changes = JSON.stringify([entry?.before, entry?.after]);
  assert.match(changes, /"currency":null.*"currency":"eur"/);
  assert.doesNotMatch(changes, /legal_name/);
});

for (const url of ['https://10.0.0.1/', 'https://user@example.com/', 'ftp://example.com/', 'x']) {
  test(`a fiscal signer at ${url} is refused by the rules for webhook addresses`, async () => {
    const before = await shown();
    const { status, body } = await edit({ fiscal_signer: { url } });
    const { code, param } = body.error ?? {};
    assert.deepEqual([status, code, param], [400, 'url_not_allowed', 'fiscal_signer.url']);
    assert.deepEqual(await shown(), before);
  });
}

test('tills may call a signer in their own network, and the setting says who calls', async () => {
  const signer = async () => ((await shown()) as typeof SHOP).fiscal_signer;
  for (const url of [
    'https://10.0.0.1/',
    'https://signer.local:8443/x',
    'http://127.0.0.1:4250/',
  ]) {
    const fiscal_signer = { url, called_by: 'terminal' };
    assert.equal((await edit({ fiscal_signer })).status, 200, url);
    assert.deepEqual(await signer(), fiscal_signer);
  }
  for (const url of ['http://10.0.0.1/', 'https://user@example.com/', 'ftp://127.0.0.1/', 'x']) {
    const { status, body } = await edit({ fiscal_signer: { url, called_by: 'terminal' } });
    const { code, param } = body.error ?? {};
    assert.deepEqual([status, code, param], [400, 'url_not_allowed', 'fiscal_signer.url'], url);
  }
  const { fiscal_signer } = SHOP;
  assert.equal((await edit({ fiscal_signer })).status, 200);
  assert.deepEqual(await signer(), fiscal_signer);
  const wrong = { ...fiscal_signer, called_by: 'server' };
  assert.equal((await edit({ fiscal_signer: wrong })).status, 400);
});

const rates = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ name: `${n}`, rate: n }));
const preset = (change: object) => ({ discounts: [{ name: 'a', ...change }] });
const WRONG: readonly (readonly [because: string, body: object, param: string])[] = [
  ['an unknown currency', { currency: 'xyz' }, 'currency'],
  ['an uppercase currency', { currency: 'EUR' }, 'currency'],
  ['51 rates', { tax_rates: rates(51) }, 'tax_rates'],
  ['two rates of one name', { tax_rates: [...rates(1), ...rates(1)] }, 'tax_rates'],
  ['a rate above 100 %', { tax_rates: [{ name: 'a', rate: 10_001 }] }, 'tax_rates.0.rate'],
  ['a rate without a name', { tax_rates: [{ name: '', rate: 1 }] }, 'tax_rates.0.name'],
  ['null for rates', { tax_rates: null }, 'tax_rates'],
  ['null for prices_include_tax', { prices_include_tax: null }, 'prices_include_tax'],
  ['a name of 201 characters', { legal_name: 'x'.repeat(201) }, 'legal_name'],
  ['a text as a signer', { fiscal_signer: 'https://example.com/' }, 'fiscal_signer'],
  ['a number as a tax number', { tax_number: 500 }, 'tax_number'],
  ['a default rate without a rate', { default_tax_rate: 'food' }, 'default_tax_rate'],
  ['21 discounts', { discounts: rates(22).slice(1) }, 'discounts'],
  ['null for discounts', { discounts: null }, 'discounts'],
  ['a discount of a rate and an amount', preset({ rate: 1, amount: 1 }), 'discounts'],
  ['a discount of nothing', preset({}), 'discounts'],
  ['a discount of 0 %', preset({ rate: 0 }), 'discounts.0.rate'],
  ['a discount above 100 %', preset({ rate: 10_001 }), 'discounts.0.rate'],
  ['a discount of half a basis point', preset({ rate: 0.5 }), 'discounts.0.rate'],
  ['a discount of an amount of 0', preset({ amount: 0 }), 'discounts.0.amount'],
  ['a discount without a name', preset({ name: '', rate: 1 }), 'discounts.0.name'],
  ['a discount of 61 letters', preset({ name: 'x'.repeat(61), rate: 1 }), 'discounts.0.name'],
  ['no tips', { tip_percentages: [] }, 'tip_percentages'],
  ['four tips', { tip_percentages: [1, 2, 3, 4] }, 'tip_percentages'],
  ['a tip of 0 %', { tip_percentages: [0] }, 'tip_percentages.0'],
  ['a tip of 51 %', { tip_percentages: [51] }, 'tip_percentages.0'],
  ['a tip of half a percent', { tip_percentages: [0.5] }, 'tip_percentages.0'],
];

for (const [because, body, param] of WRONG) {
  test(`${because} is refused, and nothing is changed`, async () => {
    const before = await shown();
    const { status, body: said } = await edit(body);
    const { code, param: named } = said.error ?? {};
    assert.deepEqual([status, code, named], [400, 'parameter_invalid', param]);
    assert.deepEqual(await shown(), before);
  });
}

test('rates without the name of the default rate are refused', async () => {
  const rates = [{ name: 'food', rate: 700 }];
  assert.equal((await edit({ tax_rates: rates, default_tax_rate: 'food' })).status, 200);
  const { status, body } = await edit({ tax_rates: [{ name: 'other', rate: 700 }] });
  assert.deepEqual([status, body.error?.param], [400, 'default_tax_rate']);
  assert.equal((await edit({ tax_rates: [], default_tax_rate: null })).status, 200);
});

test('only admins change them, and never from a stale version', async () => {
  const member = await signInAs(server, 'mia@shop.test');
  assert.equal((await edit({ currency: 'eur' }, member)).status, 403);
  const stale = await owner.patch(path, { version: 1, currency: 'eur' });
  assert.equal(stale.status, 409);
});

test('a change of the currency is mailed to the owners, also of a test account', async () => {
  const mails = () => stoppableNews(server, 'olga@shop.test');
  const before = (await mails()).length;
  const { currency } = (await owner.get(path)).body;
  const other = currency === 'chf' ? 'sek' : 'chf';
  assert.equal((await edit({ currency: other })).status, 200);
  assert.equal((await edit({ currency: other, address: '9 Quay' })).status, 200);
  const [mail, ...more] = (await mails()).slice(before);
  assert.match(mail ?? '', /^olga@shop\.test made a change in .+: Change the currency\. Open/);
  assert.deepEqual(more, [], 'other changes are not mailed');
});
