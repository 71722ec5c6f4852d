import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { isRefusal } from '#core/answer.ts';
import { addMs } from '#core/clock.ts';
import { atoms } from '#core/money.ts';
import type { Payment } from '#payments/payment.ts';
import { lineShares, type SaleLines, salePrice, taxTable } from '#prices/sale-lines.ts';
import { type AskedAmount, decideShare, type Earlier } from '#refunds/refund-share.ts';
import { type DashboardServer, startDashboardServer } from '#testkit/apis/dashboard-server.ts';
import { addMember, addOwner, signInAs } from '#testkit/apis/people.ts';
import type { PersonClient } from '#testkit/apis/person-client.ts';
import { createRandom } from '#testkit/fixtures/core/random.ts';
import {
  addRefunds,
  addSales,
  parseCsv,
  type StoredRefund,
  type StoredSale,
} from '#testkit/fixtures/payments/books.ts';
import { PAYMENT_ROW } from '#testkit/fixtures/payments/payment-row.ts';

let server: DashboardServer;
let olga: PersonClient;

before(async () => {
  server = await startDashboardServer();
  await addOwner(server, 'olga@reports.test');
  olga = await signInAs(server, 'olga@reports.test');
});

after(() => server.close());

interface Figures {
  readonly currency: string;
  readonly count: number;
  readonly quantity: string;
  readonly [sum: string]: number | string;
}
interface ReportRow extends Figures {
  readonly key: never;
  readonly label: never;
}
interface Report {
  readonly rows: readonly ReportRow[];
  readonly totals: readonly Figures[];
  readonly previous: (Omit<Report, 'previous'> & { from: string; to: string }) | null;
}

async function addShop(name: string, time_zone = 'UTC'): Promise<string> {
  const id = String((await olga.post('/accounts', { name })).body.id);
  await server.db.query('update accounts set time_zone = $2 where id = $1', [id, time_zone]);
  return id;
}

const tenantOf = (accountId: string) => ({ accountId, livemode: false });

async function report(owner: string, query: string): Promise<Report> {
  const { status, body, text } = await olga.get(`${owner}/test/reports/sales?${query}`);
  assert.equal(status, 200, text);
  return body as unknown as Report;
}

const COFFEE = 'item_00000000000000000000c1';
const CAKE = 'item_00000000000000000000c2';

/** The sale of decisions: 2 × 3.80 at 7 %, 12.16 at 19 %, 10 % off, a tip of 1.98. */
const CART: SaleLines = {
  lineItems: [
    {
      ...{ name: 'Flat white, oat', quantity: 2, unit_amount: 380, tax_rate: 700, discount: 0 },
      ...{ tax_inclusive: true, item: COFFEE, category: 'Drinks' },
    },
    {
      ...{ name: 'Cake', quantity: '1.000', unit_amount: 1_216, tax_rate: 1_900, discount: 0 },
      ...{ tax_inclusive: true, item: CAKE, category: 'Food' },
    },
  ],
  discount: 198,
};

function inEuros(at: string, given: Partial<StoredSale> = {}): StoredSale {
  const presentment = { currency: 'eur', amount: 1_778, tipAmount: 198 };
  return { at: new Date(at), amount: 19_760_000n, presentment, lines: CART, ...given };
}

/** Decides a refund as the service does, and returns it as stored. */
function refundOf(
  payment: string,
  sale: StoredSale,
  input: { readonly asked: AskedAmount; readonly at: string | Date; readonly cashier?: string },
  earlier: readonly StoredRefund[] = [],
): StoredRefund | null {
  const { lines = null, presentment } = sale;
  const reserved = earlier.reduce((sum, { amount }) => sum + amount, 0n);
  const whole = {
    ...PAYMENT_ROW,
    ...{ lines, taxes: lines === null ? null : taxTable(lines), amount: atoms(sale.amount) },
    presentment:
      presentment === undefined
        ? null
        : { rate: '1', source: 'test', tipAmount: 0, ...presentment },
    ...{ tip: atoms(sale.tip ?? 0n), amount_reserved: atoms(reserved) },
  } as unknown as Payment;
  const priced = presentment !== undefined;
  const before: Earlier = {
    parts: priced
      ? earlier.reduce((sum, one) => sum + BigInt(one.presentment?.amount ?? 0), 0n)
      : 0n,
    partsGave: priced ? reserved : 0n,
    refunds: earlier.map((one) => ({
      amount: BigInt(one.presentment?.amount ?? one.amount),
      lineItems: one.line_items,
      taxes: one.taxes,
    })),
  };
  const share = decideShare(whole, input.asked, before);
  if (isRefusal(share)) return null;
  const { amount, presentment: quote, line_items, taxes } = share;
  const { at, cashier = null } = input;
  return { payment, at: new Date(at), cashier, amount, presentment: quote, line_items, taxes };
}

async function sell(shop: string, ...sales: StoredSale[]): Promise<string[]> {
  return addSales(server.db, tenantOf(shop), sales);
}

async function refund(shop: string, ...refunds: (StoredRefund | null)[]): Promise<void> {
  const made = refunds.filter((one) => one !== null);
  assert.equal(made.length, refunds.length, 'every refund is accepted');
  await addRefunds(server.db, tenantOf(shop), made);
}

const SUMS = 'gross net tax discount tip refunded refunded_net refunded_tax'.split(' ');
const shown = (rows: readonly ReportRow[], ...more: string[]) =>
  rows.map((row) => [row.key, ...['count', 'quantity', ...SUMS, ...more].map((name) => row[name])]);

const NOVEMBER = 'from=2026-11-01&to=2026-11-30';

test('items, categories and rates split a sale by line; its tip has no key', async () => {
  const shop = await addShop('Items');
  const sale = inEuros('2026-11-10T12:00:00Z');
  const [payment = ''] = await sell(shop, sale);
  const lines = { lineItems: [{ line: 0, quantity: 1 }] };
  await refund(shop, refundOf(payment, sale, { asked: lines, at: '2026-11-11T12:00:00Z' }));
  const path = `/accounts/${shop}`;
  const { rows: items, totals } = await report(path, `${NOVEMBER}&group_by=item`);
  const coffee = [1, '2', 684, 639, 45, 76, 0, 342, 319, 23];
  const cake = [1, '1', 1_094, 919, 175, 122, 0, 0, 0, 0];
  const tip = [1, '0', 0, 0, 0, 0, 198, 0, 0, 0];
  assert.deepEqual(shown(items), [
    [COFFEE, ...coffee],
    [CAKE, ...cake],
    [null, ...tip],
  ]);
  assert.deepEqual(
    items.map(({ label, currency }) => [label, currency]),
    [
      ['Flat white, oat', 'eur'],
      ['Cake', 'eur'],
      [null, 'eur'],
    ],
  );
  const { rows: categories } = await report(path, `${NOVEMBER}&group_by=category`);
  assert.deepEqual(shown(categories), [
    ['Drinks', ...coffee],
    ['Food', ...cake],
    [null, ...tip],
  ]);
  const { rows: rates } = await report(path, `${NOVEMBER}&group_by=tax_rate`);
  assert.deepEqual(shown(rates), [
    [700, ...coffee],
    [1_900, ...cake],
    [null, ...tip],
  ]);
  const { currency: _, ...whole } = totals[0] ?? {};
  assert.deepEqual(Object.values(whole), [1, '3', 1_778, 1_558, 220, 198, 198, 342, 319, 23]);
});

test('a refund of a sum has no item; its rates are those that were stored', async () => {
  const shop = await addShop('Sums');
  const sale = inEuros('2026-11-10T12:00:00Z');
  const [payment = ''] = await sell(shop, sale);
  const asked = { minorUnits: 500 };
  const made = refundOf(payment, sale, { asked, at: '2026-12-01T12:00:00Z', cashier: 'usr_ben' });
  await refund(shop, made);
  const path = `/accounts/${shop}`;
  const december = 'from=2026-12-01&to=2026-12-01';
  const { rows } = await report(path, `${december}&group_by=item`);
  const [low, high] = made?.taxes ?? [];
  const tax = (low?.tax ?? 0) + (high?.tax ?? 0);
  const net = (low?.net ?? 0) + (high?.net ?? 0);
  assert.deepEqual(shown(rows), [[null, 0, '0', 0, 0, 0, 0, 0, 500, net, tax]]);
  const { rows: rates } = await report(path, `${december}&group_by=tax_rate`);
  assert.deepEqual(
    rates.map((row) => [row.key, row.refunded, row.refunded_tax]),
    [
      [700, low?.gross, low?.tax],
      [1_900, high?.gross, high?.tax],
      [null, 500 - (low?.gross ?? 0) - (high?.gross ?? 0), 0],
    ],
  );
  const { totals } = await report(path, `${NOVEMBER}&group_by=day`);
  assert.equal(totals[0]?.refunded, 0, 'November stays when December refunds');
});

test('a refund counts for who refunded; its terminal and method are the sale’s', async () => {
  const shop = await addShop('People');
  const addTill = async (label: string) =>
    String((await olga.post(`/accounts/${shop}/test/terminals`, { label })).body.id);
  const [bar, terrace] = [await addTill('Bar'), await addTill('Terrace')];
  const sale = inEuros('2026-11-10T12:00:00Z', {
    ...{ cashier: 'usr_ada', terminal: bar, credential: 'authorization' },
  });
  const [payment = ''] = await sell(shop, sale);
  const at = '2026-11-10T13:00:00Z';
  await refund(shop, refundOf(payment, sale, { asked: null, at, cashier: 'usr_ben' }));
  const rowsBy = async (grouping: string) => {
    const { rows } = await report(`/accounts/${shop}`, `${NOVEMBER}&group_by=${grouping}`);
    return rows.map(({ key, count, gross, refunded }) => [key, count, gross, refunded]);
  };
  assert.deepEqual(await rowsBy('cashier'), [
    ['usr_ada', 1, 1_778, 0],
    ['usr_ben', 0, 0, 1_976],
  ]);
  for (const [grouping, key] of [
    ['terminal', bar],
    ['method', 'wallet/authorization'],
    ['location', null],
  ]) {
    assert.deepEqual(await rowsBy(String(grouping)), [[key, 1, 1_778, 1_976]], String(grouping));
  }
  const labelsAt = async (terminal: string) => {
    const query = `${NOVEMBER}&group_by=terminal&terminal=${terminal}`;
    return (await report(`/accounts/${shop}`, query)).rows.map(({ label }) => label);
  };
  assert.deepEqual(await labelsAt(bar), ['Bar']);
  assert.deepEqual(await labelsAt(terrace), []);
});

test('hours, weekdays and days are the shop’s, and days begin at day_starts_at', async () => {
  const shop = await addShop('Bar', 'Europe/Berlin');
  const set = `update accounts set day_starts = $2::text::jsonb where id = $1`;
  const starts = { at: '05:00', test: [{ from: '2026-01-01', at: '05:00' }], live: [] };
  await server.db.query(set, [shop, JSON.stringify(starts)]);
  // Sunday at 02:30 in Berlin, which is still the bar's Saturday; then Sunday at 05:00.
  await sell(shop, inEuros('2026-11-15T01:30:00Z'), inEuros('2026-11-15T04:00:00Z'));
  const keys = async (query: string) => {
    const { rows } = await report(`/accounts/${shop}`, query);
    return rows.map(({ key, label }) => [key, label]);
  };
  const days = 'from=2026-11-14&to=2026-11-15';
  assert.deepEqual(await keys(`${days}&group_by=hour`), [
    [2, '02:00'],
    [5, '05:00'],
  ]);
  assert.deepEqual(await keys(`${days}&group_by=weekday`), [
    [6, 'Saturday'],
    [7, 'Sunday'],
  ]);
  assert.deepEqual(await keys('from=2026-11-14&to=2026-11-14&group_by=day,hour'), [
    [
      ['2026-11-14', 2],
      ['2026-11-14', '02:00'],
    ],
  ]);
});

async function addLocation(owner: string, account: string, name: string, time_zone: string) {
  const { body, text } = await olga.post(`/organizations/${owner}/locations`, {
    ...{ account, name, time_zone },
  });
  assert.match(String(body.id), /^loc_/, text);
  return String(body.id);
}

test('each location of an organization counts its own days; others get 403 or 404', async () => {
  const organization = String((await olga.post('/organizations', { name: 'Olga' })).body.id);
  const [cafe, bar] = [await addShop('Café'), await addShop('Kiosk')];
  for (const account of [cafe, bar]) {
    await olga.send('PUT', `/accounts/${account}/organization`, { organization });
  }
  const auckland = await addLocation(organization, cafe, 'Queen Street', 'Pacific/Auckland');
  // The 11th in Auckland, the 10th in UTC.
  await sell(cafe, inEuros('2026-11-10T12:00:00Z', { location: auckland }));
  await sell(bar, inEuros('2026-11-10T12:00:00Z'));
  const path = `/organizations/${organization}`;
  const read = async (query: string) => (await report(path, query)).rows;
  const both = await read('from=2026-11-10&to=2026-11-11&group_by=location,day');
  assert.deepEqual(
    both.map(({ key, label, count }) => [key, label, count]),
    [
      [[auckland, '2026-11-11'], ['Queen Street', '2026-11-11'], 1],
      [[null, '2026-11-10'], [null, '2026-11-10'], 1],
    ],
  );
  const tenth = await read('from=2026-11-10&to=2026-11-10&group_by=location');
  assert.deepEqual(
    tenth.map(({ key }) => key),
    [null],
  );
  const query = `from=2026-11-11&to=2026-11-11&group_by=hour&location=${auckland}`;
  assert.deepEqual(
    (await report(`/accounts/${cafe}`, query)).rows.map(({ key }) => key),
    [1],
  );
  await addOwner(server, 'eve@reports.test');
  const eve = await signInAs(server, 'eve@reports.test');
  for (const owner of [path, `/accounts/${cafe}`]) {
    const { status } = await eve.get(`${owner}/test/reports/sales?${NOVEMBER}&group_by=day`);
    assert.ok([403, 404].includes(status), `${owner}: ${status}`);
  }
});

test('a viewer reads reports, and a cashier does not', async () => {
  const accountId = await addShop('Roles');
  for (const [role, expected] of [
    ['viewer', 200],
    ['cashier', 403],
  ] as const) {
    const email = `${role}@reports.test`;
    await addMember(server, { email, accountId, role });
    const person = await signInAs(server, email);
    const path = `/accounts/${accountId}/test/reports/sales?${NOVEMBER}&group_by=day`;
    assert.equal((await person.get(path)).status, expected, role);
  }
});

test('compare=previous adds as many days before; nothing sold is 200 without rows', async () => {
  const shop = await addShop('Before');
  await sell(shop, inEuros('2026-11-03T12:00:00Z'));
  const days = 'from=2026-11-08&to=2026-11-14&group_by=day&compare=previous';
  const { rows, totals, previous } = await report(`/accounts/${shop}`, days);
  assert.deepEqual([rows, totals], [[], []]);
  assert.deepEqual([previous?.from, previous?.to], ['2026-11-01', '2026-11-07']);
  assert.deepEqual(
    previous?.rows.map(({ key, gross }) => [key, gross]),
    [['2026-11-03', 1_778]],
  );
  assert.equal(previous?.totals[0]?.count, 1);
  const { previous: none } = await report(`/accounts/${shop}`, `${NOVEMBER}&group_by=day`);
  assert.equal(none, null);
});

test('the CSV has minor units, and null is empty', async () => {
  const shop = await addShop('File');
  await sell(shop, inEuros('2026-11-10T12:00:00Z', { cashier: 'usr_ada' }));
  const path = `/accounts/${shop}/test/reports/sales?${NOVEMBER}&format=csv`;
  const sums = 'currency count quantity gross net tax discount tip refunded'.split(' ');
  const columns = [...sums, 'refunded_net', 'refunded_tax'];
  const one = parseCsv((await olga.get(`${path}&group_by=tax_rate`)).text);
  assert.deepEqual(one[0], ['key', 'label', ...columns]);
  assert.deepEqual(one[1]?.slice(0, 6), ['700', '7 %', 'eur', '1', '2', '684']);
  assert.deepEqual(one.at(-1)?.slice(0, 2), ['', '']);
  const two = await olga.get(`${path}&group_by=cashier,item&compare=previous`);
  assert.match(two.headers.get('content-type') ?? '', /^text\/csv/);
  const [head, first] = parseCsv(two.text);
  assert.deepEqual(head, ['from', 'to', 'key_1', 'label_1', 'key_2', 'label_2', ...columns]);
  assert.deepEqual(first?.slice(0, 4), ['2026-11-01', '2026-11-30', 'usr_ada', 'usr_ada']);
});

test('a wrong parameter is 400 and named', async () => {
  const shop = await addShop('Wrong');
  const good = { from: '2026-11-01', to: '2026-11-30', group_by: 'day' };
  const cases: readonly [string, Record<string, string | undefined>][] = [
    ['from', { from: undefined }],
    ['to', { to: undefined }],
    ['group_by', { group_by: undefined }],
    ['group_by', { group_by: 'month' }],
    ['group_by', { group_by: 'day,' }],
    ['group_by', { group_by: 'day,day' }],
    ['group_by', { group_by: 'day,item,hour' }],
    ['from', { from: '2026-02-30' }],
    ['from', { from: '2026-12-01' }],
    ['from', { from: '2025-10-26' }],
    ['location', { location: 'loc_000004OmWoCGFZbaeklcjR' }],
    ['terminal', { terminal: 'tml_000004OmWoCGFZbaeklcjR' }],
    ['compare', { compare: 'next' }],
    ['format', { format: 'xlsx' }],
  ];
  for (const [param, change] of cases) {
    const query = Object.entries({ ...good, ...change }).filter(([, value]) => value !== undefined);
    const text = new URLSearchParams(query as [string, string][]).toString();
    const { status, body } = await olga.get(`/accounts/${shop}/test/reports/sales?${text}`);
    assert.deepEqual([status, body.error?.param], [400, param], text);
  }
  await report(`/accounts/${shop}`, 'from=2025-10-27&to=2026-11-30&group_by=day');
});

const { below, pick } = (() => {
  const random = createRandom(109, 'reports');
  return {
    below: random.below,
    pick: <T>(list: readonly T[]): T => list[random.below(list.length)] as T,
  };
})();

const ITEMS = [COFFEE, CAKE, 'item_00000000000000000000c3', null];

function randomLines(): SaleLines {
  const lineItems = Array.from({ length: 1 + below(4) }, () => {
    const item = pick(ITEMS);
    return {
      ...{ name: item ?? 'Amount', item, category: pick(['Drinks', 'Food', null]) },
      ...{ quantity: pick([1, 2, 3, '0.350']), unit_amount: 300 + below(2_000) },
      ...{ tax_rate: pick([0, 700, 1_900]), tax_inclusive: below(3) > 0, discount: below(90) },
    };
  });
  return { lineItems, discount: pick([0, 0, below(150)]) };
}

function randomSale(at: Date): StoredSale {
  const lines = below(4) === 0 ? undefined : randomLines();
  const price = lines === undefined ? 100 + below(5_000) : Number(salePrice(lines));
  const tip = pick([0, below(400)]);
  const who = { cashier: pick(['usr_ada', 'usr_ben']), terminal: pick(['tml_1', 'tml_2']) };
  const sold = { at, ...(lines === undefined ? {} : { lines }), ...who };
  const currency = pick(['eur', 'jpy', null]);
  if (currency === null) return { ...sold, amount: BigInt(price + tip), tip: BigInt(tip) };
  const presentment = { currency, amount: price, tipAmount: tip };
  return {
    ...sold,
    amount: BigInt(price + tip) * 10_903n,
    tip: BigInt(tip) * 10_903n,
    presentment,
  };
}

interface Priced {
  readonly currency: string;
  readonly sales: number;
  readonly tips: number;
  readonly refunded: number;
}

type Slow = Map<string, Record<string, number>>;

/** The slow sum: by item (`null`: none) and currency, from receipts alone. */
function slowSums(
  sales: readonly StoredSale[],
  refunds: readonly StoredRefund[],
  ids: readonly string[],
): Slow {
  const itemsOf = new Map(sales.map(({ lines }, n) => [ids[n], lines]));
  const sums: Slow = new Map();
  const add = (key: string, values: Record<string, number>) => {
    const own = sums.get(key) ?? {};
    for (const [name, value] of Object.entries(values)) own[name] = (own[name] ?? 0) + value;
    sums.set(key, own);
  };
  const currencyOf = (one: { readonly presentment?: { readonly currency: string } | null }) =>
    one.presentment?.currency ?? 'usdc';
  for (const sale of sales) {
    const { lines, presentment, amount, tip = 0n } = sale;
    const currency = currencyOf(sale);
    const tipped = presentment === undefined ? Number(tip) : (presentment.tipAmount ?? 0);
    const price = presentment === undefined ? Number(amount - tip) : presentment.amount;
    add(`null ${currency}`, { tip: tipped });
    if (lines === undefined) add(`null ${currency}`, { gross: price, net: price, tax: 0 });
    else {
      const shares = lineShares(lines);
      lines.lineItems.forEach(({ item }, index) => {
        add(`${item} ${currency}`, { gross: Number(shares[index]?.gross) });
      });
    }
    const taxes = lines === undefined ? [{ net: price, tax: 0 }] : taxTable(lines);
    for (const { net, tax } of taxes) add(currency, { net, tax });
    const ofLines = lines?.lineItems.reduce((sum, { discount }) => sum + discount, 0) ?? 0;
    const discount = ofLines + (lines?.discount ?? 0);
    add(currency, { gross: price, tip: tipped, count: 1, discount });
    for (const who of [sale.cashier, sale.terminal]) add(`${who} ${currency}`, { gross: price });
  }
  for (const one of refunds) {
    const currency = currencyOf(one);
    const sum = Number(one.presentment?.amount ?? one.amount);
    const returned = one.taxes ?? [{ net: sum, tax: 0 }];
    add(currency, { refunded: sum });
    for (const { net, tax } of returned) add(currency, { refunded_net: net, refunded_tax: tax });
    add(`${one.cashier} ${currency}`, { refunded: sum });
    for (const { line, amount } of one.line_items ?? []) {
      const { item = null } = itemsOf.get(one.payment)?.lineItems[line] ?? {};
      if (item !== null) add(`${item} ${currency}`, { refunded: amount });
    }
  }
  return sums;
}

test('random sales and refunds are equal to a slow sum over receipts', async () => {
  const shop = await addShop('Random');
  const start = new Date('2026-11-01T00:00:00Z');
  const sales = Array.from({ length: 1_200 }, (_, n) => randomSale(addMs(start, n * 1_800_000)));
  const ids = await sell(shop, ...sales);
  const refunds = sales.flatMap((sale, n) => {
    const made: StoredRefund[] = [];
    for (let k = below(4); k > 0; k--) {
      const line = below(sale.lines?.lineItems.length ?? 1);
      const { quantity = 1 } = sale.lines?.lineItems[line] ?? {};
      const part = typeof quantity === 'number' ? 1 + below(quantity) : quantity;
      const sum = 1 + below(900);
      const bySum = sale.presentment === undefined ? sum : { minorUnits: sum };
      const asked = pick([null, bySum, bySum, { lineItems: [{ line, quantity: part }] }]);
      const input = {
        asked,
        at: addMs(sale.at, k * 60_000),
        cashier: pick(['usr_ada', 'usr_ben']),
      };
      const one = refundOf(ids[n] ?? '', sale, input, made);
      if (one !== null) made.push(one);
    }
    return made;
  });
  assert.ok(refunds.filter(({ line_items: lines }) => lines !== null).length > 100);
  await refund(shop, ...refunds);
  const slow = slowSums(sales, refunds, ids);
  const days = 'from=2026-11-01&to=2026-11-30';
  const groupings = 'day hour weekday item category cashier terminal tax_rate method item,hour';
  for (const grouping of groupings.split(' ')) {
    const { rows, totals } = await report(`/accounts/${shop}`, `${days}&group_by=${grouping}`);
    assert.deepEqual(
      totals.map(({ currency }) => currency),
      ['eur', 'jpy', 'usdc'],
    );
    for (const total of totals) {
      const { currency, count } = total;
      const own = rows.filter((row) => row.currency === currency);
      for (const name of SUMS) {
        const sum = own.reduce((all, row) => all + Number(row[name]), 0);
        assert.equal(sum, total[name], `${grouping} ${currency} ${name}`);
        assert.equal(total[name], slow.get(currency)?.[name] ?? 0, `${currency} ${name}`);
      }
      assert.equal(count, slow.get(currency)?.count);
    }
    for (const { key, currency, gross, refunded } of rows) {
      const sums = slow.get(`${key} ${currency}`);
      if (['item', 'cashier', 'terminal'].includes(grouping)) {
        assert.equal(gross, sums?.gross ?? 0, `${grouping} ${key} ${currency}`);
      }
      if (grouping === 'cashier' || (grouping === 'item' && key !== null)) {
        assert.equal(refunded, sums?.refunded ?? 0, `${grouping} ${key} ${currency}`);
      }
    }
  }
  const { body } = await olga.get(`/accounts/${shop}/test/totals?${days}`);
  const total = body.total as { presentment: Priced[]; payments: number };
  const { totals } = await report(`/accounts/${shop}`, `${days}&group_by=item`);
  for (const priced of total.presentment) {
    const own = totals.find(({ currency }) => currency === priced.currency);
    const { sales: sold, tips, refunded } = priced;
    assert.deepEqual([own?.gross, own?.tip, own?.refunded], [sold, tips, refunded]);
  }
  assert.equal(
    totals.reduce((sum, { count }) => sum + count, 0),
    total.payments,
  );
});

test('a report that was read before shows each later sale and refund', async () => {
  const shop = await addShop('Later');
  const first = inEuros('2026-11-10T12:00:00Z');
  const read = async () => {
    const { totals } = await report(`/accounts/${shop}`, `${NOVEMBER}&group_by=item`);
    return totals.map(({ count, refunded }) => [count, refunded]);
  };
  const [payment = ''] = await sell(shop, first);
  assert.deepEqual(await read(), [[1, 0]]);
  assert.deepEqual(await read(), [[1, 0]]);
  await sell(shop, inEuros('2026-11-10T12:00:01Z'));
  assert.deepEqual(await read(), [[2, 0]]);
  await refund(shop, refundOf(payment, first, { asked: null, at: '2026-11-10T12:00:02Z' }));
  assert.deepEqual(await read(), [[2, 1_976]]);
  await server.db.query('delete from refunds where payment_id = $1', [payment]);
  assert.deepEqual(await read(), [[2, 0]]);
  // After a restore, another sale can have the position of one that was lost.
  await server.db.query(
    `update payments set created = created + interval '1 s', lines = null, taxes = null,
       presentment = jsonb_set(presentment, '{amount}', '100')
     where account_id = $1`,
    [shop],
  );
  const { totals } = await report(`/accounts/${shop}`, `${NOVEMBER}&group_by=item`);
  assert.equal(totals[0]?.gross, 200);
});
