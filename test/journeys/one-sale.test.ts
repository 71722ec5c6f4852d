import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Tapline } from 'tapline';
import { operatorRoutes } from '#apis/operator/operator-routes.ts';
import { declaredRoutes } from '#app/declared-routes.ts';
import { present } from '#core/assert.ts';
import { dayIn } from '#core/calendar.ts';
import type { DeclaredRoute } from '#http/route-errors.ts';
import type { RateTax } from '#prices/sale-lines.ts';
import { type DashboardServer, startDashboardServer } from '#testkit/apis/dashboard-server.ts';
import { tokenOf } from '#testkit/apis/pay-links.ts';
import { addMember, addStaff, signInAs } from '#testkit/apis/people.ts';
import type { PersonClient } from '#testkit/apis/person-client.ts';
import { assertSums, type Progress, sumsIn } from '#testkit/apis/sale-sums.ts';
import { type CartGround, type SoldCart, sellCarts } from '#testkit/apis/sold-carts.ts';
import { parseCsv, parseJsonl } from '#testkit/fixtures/payments/books.ts';
import { CART_SALES, type CartSale, cartRequest } from '#testkit/fixtures/payments/cart-sales.ts';

/**
 * Sells a cart in each of four currencies and reads it from every route that shows sums of sales.
 * A new route fails until it is read here, or until a reason says why it shows no sums of a sale.
 */

let shop: CartGround;
let desk: DashboardServer;
let owner: PersonClient;
let staff: PersonClient;
let organization = '';
let today = '';

before(async () => {
  shop = await sellCarts();
  const { store, world } = shop.ground;
  const { network, database } = world;
  desk = await startDashboardServer([network.chain], { operatorRoutes, database });
  desk.clock.advance(Date.now() - desk.clock.now().getTime() + 1_000);
  today = dayIn('UTC', desk.clock.now());
  const { accountId } = store.merchant.tenant;
  await addMember(desk, { email: 'owner@cart.test', accountId, role: 'owner' });
  owner = await signInAs(desk, 'owner@cart.test');
  ({ client: staff } = await addStaff(desk, 'olga@staff.test'));
  organization = String((await owner.post('/organizations', { name: 'Carts' })).body.id);
  await store.db.query('update accounts set organization_id = $1 where id = $2', [
    organization,
    accountId,
  ]);
  for (const { intent } of shop.sold) {
    const looked = await staff.post(`/payment_intents/${intent}/looks`, { reason: 'Test.' });
    assert.equal(looked.status, 200, looked.text);
  }
});

after(async () => {
  await desk?.close();
  await shop?.close();
});

const ROUTES = declaredRoutes();
type SurfaceName = keyof typeof ROUTES;

/** Fields of responses that hold sums of sales or refunds, or objects with such fields. */
const SUMS = new Set([
  ...['presentment', 'total_charged', 'amount_refunded', 'refunded', 'sales', 'gross', 'volume'],
  'previous_attributes',
]);

/** Routes that show sums, but not those of a paid sale of this file. */
const OTHER_SUMS: Readonly<Record<string, string>> = {
  ...{ listOfflinePayments: 'offline sales', retrieveOfflinePayment: 'offline sales' },
  dashboardListOfflinePayments: 'offline sales',
  dashboardRetrieveOfflinePayment: 'offline sales',
  export_offline_payments: 'offline sales',
  exportOrganization_offline_payments: 'offline sales',
  ...{ forwardOfflinePayments: 'offline sales', handInOfflinePayments: 'offline sales' },
  testOfflinePayment: 'an offline sale that is not sent',
  ...{ export_withdrawals: 'payouts', exportOrganization_withdrawals: 'payouts' },
  ...{ retrieveBalance: 'a balance', dashboardRetrieveBalance: 'a balance' },
  exportCatalogue: 'prices of items',
  readContracts: 'what a contract may settle in an hour',
  readNetworkActivity: 'the volume of all shops',
  listDeclinedPaymentIntents: 'sales that were not paid',
  downloadExport: 'a file of a schedule: the statement',
  streamEvents: 'the objects of listEvents',
  followEvents: 'the objects of listEvents',
};
/** Routes whose sums are limits of terminals. */
const LIMITS = /[tT]erminals?$|^(retrieve|report|rotate)Device|^previewPairing$|TerminalTag$/;

/** Returns the names of all fields in a schema, at any depth. */
function fieldsOf(schema: unknown, known: Set<string> = new Set()): Set<string> {
  if (typeof schema !== 'object' || schema === null) return known;
  for (const [name, part] of Object.entries(schema)) {
    if (name === 'properties') for (const field of Object.keys(part)) known.add(field);
    if (name !== 'examples') fieldsOf(part, known);
  }
  return known;
}

/** True if a response of the route may show sums of a sale: as JSON, or in a file or stream. */
function showsSums({ responses, operationId }: DeclaredRoute): boolean {
  if (operationId in OTHER_SUMS || LIMITS.test(operationId)) return false;
  return Object.values(responses).some(({ schema, contentTypes = [] }) => {
    const isFile = contentTypes.some((type) => /csv|jsonl|xml|event-stream/.test(type));
    return isFile || [...fieldsOf(schema)].some((field) => SUMS.has(field));
  });
}

interface Intent {
  readonly id: string;
  readonly total?: number;
  readonly service_fee?: number;
}

interface Read {
  readonly status: number;
  readonly body: unknown;
  readonly text: string;
}

async function read(surface: SurfaceName, path: string, cart: SoldCart): Promise<Read> {
  if (surface === 'dashboard') return owner.get(path);
  if (surface === 'operator') return staff.get(path);
  const { server } = shop.ground;
  const { merchant } = shop;
  const device = server.device();
  const callers = { merchant, device, payer: cart.payer.me, pay: server.pay };
  const { status, body } = await callers[surface].get(path);
  return { status, body, text: JSON.stringify(body) };
}

/** Returns the path of a route for a cart. */
function pathOf({ path, params = {}, operationId }: DeclaredRoute, cart: SoldCart): string {
  const { accountId: account } = shop.ground.store.merchant.tenant;
  const { payment, intent: paymentIntent, refund, event, receipt } = cart;
  const kinds = { payment, paymentIntent, refund, event, account, organization };
  const token = operationId === 'retrieveReceipt' ? receipt : tokenOf(paymentIntent);
  const texts = { mode: 'test', day: today, token };
  return path.replaceAll(/\{(\w+)\}/g, (all, name: string) => {
    const kind = params[name] ?? 'text';
    const values: Readonly<Record<string, string>> = kind === 'text' ? texts : kinds;
    return values[kind === 'text' ? name : kind] ?? all;
  });
}

/** Queries without which routes show no sale, or not as JSON. */
const QUERIES: Readonly<Record<string, (cart: SoldCart) => string>> = {
  searchPayments: ({ orderId }) => `?order_id=${orderId}`,
  searchNetwork: ({ payment }) => `?text=${payment}`,
  listEvents: () => '?limit=100',
  dashboardListEvents: () => '?limit=100',
  listUpdates: ({ updates }) => `?after=${encodeURIComponent(updates)}`,
  listDeviceRefunds: ({ payment }) => `?payment=${payment}`,
};

/** Routes that are read while a sale is open, and by the tests of files and totals below. */
const ELSEWHERE = new Set([
  ...['nextPaymentIntent', 'retrieveChipAuthorization', 'listConfirmations', 'getConfirmation'],
  ...['retrieveTag', 'export_payments', 'export_payment_intents', 'export_refunds'],
  ...['exportOrganization_payments', 'exportOrganization_payment_intents'],
  ...['exportOrganization_refunds', 'export_statement', 'readTotals', 'retrieveDeviceTotals'],
  ...['readOrganizationTotals', 'readStatistics', 'readDailyReport'],
  ...['readSalesReport', 'readOrganizationSalesReport'],
  ...['listShifts', 'retrieveShift', 'listDeviceShifts', 'retrieveDeviceShift'],
  ...['dashboardListShifts', 'dashboardRetrieveShift'],
]);

/** Returns the sales whose sums a route shows, after comparing them. */
async function compare(surface: SurfaceName, route: DeclaredRoute): Promise<Set<string | null>> {
  const found = new Set<string | null>();
  for (const cart of shop.sold) {
    const path = `${pathOf(route, cart)}${QUERIES[route.operationId]?.(cart) ?? ''}`;
    const { status, body, text } = await read(surface, path, cart);
    assert.equal(status, 200, `${surface} ${path} ${text}`);
    for (const sums of sumsIn(body, CART_SALES)) {
      found.add(sums.sale.currency);
      assertSums(sums, `${surface} ${path}`);
    }
  }
  return found;
}

test('every route shows the same sums of a sale that was paid and refunded in part', async () => {
  const wrong: string[] = [];
  let routes = 0;
  for (const surface of Object.keys(ROUTES) as SurfaceName[]) {
    for (const route of ROUTES[surface].filter(showsSums)) {
      const { method, operationId } = route;
      if (method !== 'GET' || ELSEWHERE.has(operationId)) continue;
      routes++;
      try {
        const found = await compare(surface, route);
        if (found.size < CART_SALES.length) wrong.push(`${operationId} shows ${[...found]}`);
      } catch (error) {
        wrong.push(`${operationId}: ${(error as Error).message}`);
      }
    }
  }
  assert.deepEqual(wrong, []);
  assert.ok(routes >= 20, `only ${routes} routes`);
});

test('a sale has the same sums while it is open, before and after the tip is known', () => {
  for (const { open, tipped } of shop.sold) {
    for (const [progress, shown] of Object.entries({ untipped: open, tipped })) {
      for (const [name, body] of Object.entries(shown)) {
        const paid = name === 'approved';
        const sums = sumsIn(body, CART_SALES, paid ? 'paid' : (progress as Progress));
        assert.equal(sums.length, 1, `${progress} ${name}`);
        for (const one of sums) assertSums(one, `${progress} ${name}`);
      }
    }
  }
});

/** Returns the names of the objects in the responses of a route. */
function titlesOf({ responses }: DeclaredRoute): string[] {
  return Object.values(responses).flatMap(({ schema }) => {
    const { title } = (schema ?? {}) as { readonly title?: string };
    return title === undefined ? [] : [title];
  });
}

/** Changes whose response has no object that a GET route returns. */
const OWN_OBJECTS = ['exportPayerData', 'authorizePayLink'];

test('a change answers with an object that a route of the same sums returns', () => {
  const all = Object.values(ROUTES).flat().filter(showsSums);
  const known = new Set(all.filter(({ method }) => method === 'GET').flatMap(titlesOf));
  const others = all.filter((route) => {
    return route.method !== 'GET' && !titlesOf(route).some((title) => known.has(title));
  });
  assert.deepEqual(
    others.map(({ operationId }) => operationId),
    OWN_OBJECTS,
  );
});

/** From the created intent to the refunded payment. */
const EVENTS_OF_SALE = 9;

test('webhooks and the SDK have the same sums', async () => {
  const sdk = new Tapline(shop.key, { baseUrl: `${shop.ground.server.url}/api` });
  const sent = await shop.webhooks(EVENTS_OF_SALE * shop.sold.length);
  const bodies: unknown[] = sent.map((body) => JSON.parse(body));
  for (const { intent, payment, refund } of shop.sold) {
    bodies.push(await sdk.paymentIntents.retrieve(intent), await sdk.payments.retrieve(payment));
    bodies.push(await sdk.refunds.retrieve(refund));
  }
  for (const sums of sumsIn(bodies, CART_SALES)) assertSums(sums, JSON.stringify(sums.object));
});

test('a till finds a sale by what the shop gets, and by what the customer paid', async () => {
  const device = shop.ground.server.device();
  for (const { sale, orderId, payment } of shop.sold) {
    const { price, tip, total, atoms, currency } = sale;
    const ofShop = [price + tip, total].map((sum) => `presentment_amount=${sum}`);
    const ofChain = [atoms.price + atoms.tip, atoms.paid].map((sum) => `amount=${sum}`);
    for (const sum of currency === null ? ofChain : [...ofShop, ...ofChain]) {
      const { body } = await device.get(`/payments?order_id=${orderId}&${sum}`);
      const found = body.data as readonly { readonly id: string }[];
      assert.deepEqual(
        found.map(({ id }) => id),
        [payment],
        `${currency} ${sum}`,
      );
    }
  }
});

type Row = Readonly<Record<string, string>>;

function tableOf(text: string): Row[] {
  const [header = [], ...rows] = parseCsv(text.replace(/^\ufeff/, ''));
  return rows.map((row) => Object.fromEntries(row.map((cell, at) => [header[at] ?? '', cell])));
}

/** Columns with sums in atoms, and in the unit of the sale. */
const IN_ATOMS = /^(sale|tip|amount|amount_refunded|total_charged|paid|fees\..*)$/;
const IN_UNITS = /^(discount|tax|presentment\.(amount|tip_amount|total|fees))$/;
const DIGITS: Readonly<Record<string, number>> = { eur: 2, jpy: 0, kwd: 3 };
const USDC_DIGITS = 6;

/** Returns a cell as the API has it: a number, a list, `null` or text. */
function cellValue(cell: string, column: string, row: Row, decimals: boolean): unknown {
  if (cell === '') return null;
  if (column === 'taxes' || column === 'line_items') return JSON.parse(cell);
  const isSum = IN_ATOMS.test(column) || IN_UNITS.test(column) || column === 'discount_rate';
  if (!isSum) return cell;
  const currency = IN_UNITS.test(column) ? row['presentment.currency'] : undefined;
  const digits = DIGITS[currency ?? ''] ?? USDC_DIGITS;
  return decimals ? Math.round(Number(cell) * 10 ** digits) : Number(cell);
}

/** Returns the object of a row: `fees.acquirer` is the field `acquirer` of `fees`. */
function objectOf(row: Row, decimals: boolean): Record<string, unknown> {
  const object: Record<string, unknown> = { presentment: {} };
  for (const [column, cell] of Object.entries(row)) {
    // Of the whole sale, or, in the file for accountants, of a rate: see the rows of taxes.
    if (column === 'net') continue;
    const value = cellValue(cell, column, row, decimals);
    const [name = '', inside] = column.split('.');
    if (inside === undefined) object[name] = value;
    else object[name] = { ...(object[name] as object), [inside]: value };
  }
  return row['presentment.currency'] === '' ? { ...object, presentment: null } : object;
}

function objectsIn(text: string, format: string): Record<string, unknown>[] {
  if (format === 'jsonl')
    return text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  // In the file for accountants, the sums of the whole sale are in the last of its rows.
  const byId = new Map(tableOf(text).map((row) => [row.id, row]));
  return [...byId.values()].map((row) => objectOf(row, format === 'csv'));
}

const FILES = { payments: 'payment', payment_intents: 'payment_intent', refunds: 'refund' };

test('exports have the same sums in each format', async () => {
  const { accountId } = shop.ground.store.merchant.tenant;
  const places = [`/accounts/${accountId}/test`, `/organizations/${organization}/test`];
  for (const [name, object] of Object.entries(FILES)) {
    for (const format of ['csv', 'csv_atoms', 'jsonl']) {
      for (const place of places) {
        const { text } = await owner.get(`${place}/exports/${name}?format=${format}`);
        const rows = objectsIn(text, format).map((row) => ({ ...row, object }));
        const sums = sumsIn(rows, CART_SALES);
        assert.equal(sums.length, CART_SALES.length, text);
        for (const one of sums) {
          const price = (one.object.presentment ?? {}) as object;
          const isWhole = object === 'refund' || one.sale.currency === null || 'fees' in price;
          assert.ok(isWhole, `${name} in ${format} has neither total nor fees`);
          assertSums(one, `${name} ${format}`);
        }
      }
    }
  }
});

const atomsOf = (pick: (sale: CartSale) => number) =>
  CART_SALES.reduce((sum, sale) => sum + pick(sale), 0);
const inShop = CART_SALES.filter(({ currency }) => currency !== null);
const inOrder = CART_SALES.toSorted((one, other) =>
  (one.currency ?? '').localeCompare(other.currency ?? ''),
);

/** The sums of all sales, as totals show them. */
const FIGURES = {
  ...{ payments: CART_SALES.length, refunds: CART_SALES.length, declines: 0 },
  sales: atomsOf(({ atoms }) => atoms.price),
  tips: atomsOf(({ atoms }) => atoms.tip),
  refunded: atomsOf(({ atoms }) => atoms.refund),
  presentment: inShop.map(({ currency, price, tip, refund }) => {
    return { currency, sales: price, tips: tip, refunded: refund };
  }),
};

test('totals, statistics and statements have the sums of what the shop gets', async () => {
  const { accountId } = shop.ground.store.merchant.tenant;
  const root = `/accounts/${accountId}/test`;
  const days = `from=${today}&to=${today}`;
  const json = async (path: string) => (await owner.get(path)).body as Record<string, unknown>;
  const device = shop.ground.server.device();
  const totals = await json(`${root}/totals?${days}`);
  for (const shown of [totals, (await device.get(`/totals?${days}`)).body]) {
    assert.deepEqual(shown.total, FIGURES);
    const taxes = (pick: (sale: CartSale) => readonly RateTax[]) =>
      inOrder.flatMap((sale) => pick(sale).map((row) => ({ currency: sale.currency, ...row })));
    assert.deepEqual(
      shown.taxes,
      taxes(({ taxes: sold }) => sold),
    );
    assert.deepEqual(
      shown.refunded_taxes,
      taxes(({ refundTaxes }) => refundTaxes),
    );
    assert.deepEqual(
      shown.discounts,
      CART_SALES.map(({ currency, discount: amount }) => ({ currency, amount })),
    );
  }
  const all = await json(`/organizations/${organization}/test/totals?${days}`);
  assert.deepEqual(all.total, FIGURES);

  for (const path of [root, `/organizations/${organization}/test`]) {
    const { totals } = await json(`${path}/reports/sales?${days}&group_by=item`);
    const sums = (totals as readonly Record<string, unknown>[]).map((own) => {
      return [own.currency, own.gross, own.tip, own.refunded, own.refunded_net];
    });
    const expected = CART_SALES.map(({ currency, price, tip, refund, refundTaxes }) => {
      return [currency ?? 'usdc', price, tip, refund, refundTaxes[0]?.net];
    });
    assert.deepEqual(sums, expected, path);
  }

  const rows = tableOf((await owner.get(`${root}/totals?${days}&format=csv`)).text);
  const ofSales = rows.filter(({ label }) => label === 'Sales');
  assert.deepEqual(
    ofSales.map(({ currency, sales, tips, refunded }) => [currency, sales, tips, refunded]),
    inShop.map(({ currency, ...sums }) => {
      return [currency, ...[sums.price, sums.tip, sums.refund].map(String)];
    }),
  );
  const ofTaxes = rows.filter(({ label = '' }) => /tax$/i.test(label));
  assert.equal(ofTaxes.length, 3 * CART_SALES.length);

  const gets = FIGURES.sales + FIGURES.tips;
  const { data } = await json(`${root}/statistics?${days}`);
  const [day] = data as readonly Record<string, unknown>[];
  assert.deepEqual([day?.volume, day?.tips, day?.refunded], [gets, FIGURES.tips, FIGURES.refunded]);
  const report = await json(`${root}/reports/daily/${today}`);
  assert.deepEqual([report.refunded, report.net], [FIGURES.refunded, gets - FIGURES.refunded]);
  const statement = await owner.get(`${root}/exports/statement?${days}&format=jsonl`);
  assert.equal(parseJsonl(statement.text).head.closing_balance, gets - FIGURES.refunded);
});

test('the report of a shift has the sums of what the shop gets', async () => {
  const { accountId } = shop.ground.store.merchant.tenant;
  const root = `/accounts/${accountId}/test/shifts`;
  const { id } = shop.shift;
  const figures = CART_SALES.map((sale) => ({
    ...{ currency: sale.currency ?? 'usdc', count: 1, sales: sale.price, tips: sale.tip },
    ...{ discounts: sale.discount, refunds: 1, refunded: sale.refund, taxes: sale.taxes },
    ...{ refunded_taxes: sale.refundTaxes, atoms: sale.atoms.price + sale.atoms.tip },
  }));
  const device = shop.ground.server.device();
  const answers = await Promise.all([
    ...[shop.merchant.get('/shifts'), shop.merchant.get(`/shifts/${id}`)],
    ...[device.get('/shifts'), device.get(`/shifts/${id}`)],
    ...[owner.get(root), owner.get(`${root}/${id}`)],
  ]);
  for (const { body } of [{ body: shop.shift }, ...answers]) {
    const [report] = (body.data ?? [body]) as readonly { figures: typeof figures }[];
    const shown = report?.figures.toSorted((one, other) =>
      one.currency.localeCompare(other.currency),
    );
    assert.deepEqual(shown, figures, JSON.stringify(body));
  }
});

test('people see what the customer of a sale in USDC pays, also before it is paid', async () => {
  const { accountId } = shop.ground.store.merchant.tenant;
  const { intent, sale } = present(
    shop.sold.find((cart) => cart.sale.currency === null),
    'sale in USDC',
  );
  const body = { ...cartRequest(sale), terminal: shop.ground.store.terminalId };
  const open = await shop.merchant.post('/payment_intents', body);
  assert.equal(open.status, 201, JSON.stringify(open.body));
  const root = `/accounts/${accountId}/test/payment_intents`;
  const listed = (await owner.get(`${root}?limit=100`)).body.data as readonly Intent[];
  for (const [id, total, fees] of [
    [open.body.id, sale.untipped.total, sale.untipped.fees],
    [intent, sale.total, sale.fees],
  ]) {
    const { body: one } = await owner.get(`${root}/${id}`);
    for (const shown of [one, listed.find((row) => row.id === id)]) {
      assert.deepEqual([shown?.total, shown?.service_fee], [total, fees]);
    }
  }
});
