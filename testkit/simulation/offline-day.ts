import assert from 'node:assert/strict';
import { systemClock } from '#core/clock.ts';
import { caller } from '#testkit/apis/api-client.ts';
import { addMember } from '#testkit/apis/people.ts';
import { PersonClient } from '#testkit/apis/person-client.ts';
import { putRates } from '#testkit/fixtures/payments/rates.ts';
import type { RestoreGround } from '#testkit/simulation/restore-ground.ts';
import { allowOffline, demoTill, type Till } from '#testkit/simulation/ways/shops.ts';

/**
 * A day on which a euro shop's line is cut: Lena sells a cart with a percentage, the euro rises by
 * 4 %, the shop's currency becomes francs, and the database is restored to a copy from before the
 * till's terms. Afterwards every reader shows the sale as the customer saw it.
 */

/** Cashier Lena's PIN. */
export const PIN = '4927';
/** The cart of 19.10: two coffees and a bag. */
export const CART = [
  { name: 'Flat white', quantity: 2, unit_amount: 380, tax_rate: 700 },
  { name: 'Tote bag', quantity: 1, unit_amount: 1_150, tax_rate: 1_900 },
] as const;
/** Basis points of the discount on the cart, which is 1.91. */
export const DISCOUNT = 1_000;
/** The price of the cart in cents. */
export const PRICE = 1_719;

const MORNING = { eur: '1.08542277217', chf: '1.2', usd: '1' };
/** The euro has risen by 4 %. */
const EVENING = { ...MORNING, eur: '1.128839683057' };

/** The rows that every reader must show, whatever has changed since the sale. */
const PRICED = {
  ...{ currency: 'eur', amount: PRICE, rate: '1.096276999892', margin: 100 },
  ...{ tip_amount: 0, total: 1_727, fees: 8 },
};
const SOLD = { amount: 18_845_002, total_charged: 18_939_227, discount: 191, discount_rate: 1_000 };
const TAXES = [
  { rate: 700, net: 639, tax: 45, gross: 684 },
  { rate: 1_900, net: 870, tax: 165, gross: 1_035 },
];
/** The accountants' file, one row per rate: USDC, then net, tax, rate and gross in euros. */
const BOOKED = [
  ['7.498534', '6.39', '0.45', '7.00', '6.84'],
  ['11.346468', '8.70', '1.65', '19.00', '10.35'],
];
/** The column of the amount in USDC. */
const AMOUNT = 4;
const RECEIPT = [
  'Flat white €7.60',
  '2 × €3.80, 7% tax included',
  'Tote bag €11.50',
  'Discount on all items −€1.91',
  'Sale €17.19',
  'Service fee €0.08',
  'Total €17.27',
  '18.93 USDC · €1 = 1.0963 USDC',
  'Net €6.39, with tax €6.84',
  'Net €8.70, with tax €10.35',
  'Accepted offline',
  'with a margin of 1% for offline sales',
];

interface Reading {
  /** The id of the payment. */
  readonly payment: unknown;
  /** The id of the cashier. */
  readonly lena: string;
}

async function checkReceipt({ node }: RestoreGround, { payment: id, lena }: Reading) {
  const { url, merchant } = node(0);
  const { body: payment } = await merchant.get(`/payments/${id}`);
  const { pathname } = new URL(String(payment.receipt_url));
  const receiptAs = async (form: string) =>
    (await fetch(`${new URL(String(url)).origin}${pathname}.${form}`)).text();
  const receipt = JSON.parse(await receiptAs('json'));
  for (const shown of [payment, receipt]) {
    assert.partialDeepStrictEqual(shown.presentment, PRICED);
    assert.deepEqual(shown.taxes, TAXES);
  }
  assert.partialDeepStrictEqual(payment, { ...SOLD, cashier: lena, shop_rate: EVENING.chf });
  const printed = (await receiptAs('txt')).replaceAll(/\s+/g, ' ');
  const missing = RECEIPT.filter((line) => !printed.includes(line));
  assert.deepEqual(missing, [], printed);
}

interface ReadingBooks extends Reading {
  readonly name: string;
  readonly till: Till;
  readonly owner: PersonClient;
}

async function checkBooks(
  { node, sandbox }: RestoreGround,
  { payment, lena, name, till, owner }: ReadingBooks,
) {
  const device = caller(`${node(0).url}/device/v1`, till.deviceKey);
  const { body: totals } = await device.get('/totals');
  const cashiers = totals.cashiers as readonly { readonly cashier_id: string | null }[];
  const sales = { payments: 1, sales: SOLD.amount };
  assert.partialDeepStrictEqual(
    cashiers.find(({ cashier_id: id }) => id === lena),
    {
      ...{ ...sales, cashier: name },
      presentment: [{ currency: 'eur', sales: PRICE, tips: 0, refunded: 0 }],
    },
  );
  assert.deepEqual(totals.offline, { ...sales, bounced: 0, bounced_amount: 0 });
  const day = `from=${totals.from}&to=${totals.to}`;
  const path = `/accounts/${sandbox.account}/test/exports/statement?format=csv&${day}`;
  const { text } = await owner.get(path);
  const rows = text.split('\r\n').filter((line) => line.includes(String(payment)));
  const cells = rows.map((row) => row.split(',')).map((all) => [all[AMOUNT], ...all.slice(-4)]);
  assert.deepEqual(cells, BOOKED, text);
}

/**
 * Sets the shop up: prices in euros, a cashier, and a till that may sell offline.
 * @param till the till, default: the demo's
 */
export async function openEuroShop(world: RestoreGround, till = demoTill(world), name = 'Lena') {
  const { db, node, sandbox } = world;
  const root = () => `${node(0).url}/dashboard/v1`;
  const account = `/accounts/${sandbox.account}`;
  const owner = async () => {
    const person = new PersonClient(root());
    assert.equal((await person.post('/session', sandbox.dashboard)).status, 200);
    return person;
  };
  const change = async (settings: object) => {
    const person = await owner();
    const { version } = (await person.get(account)).body;
    const changed = await person.patch(account, { version, ...settings });
    assert.equal(changed.status, 200, changed.text);
  };
  const email = `${name.toLowerCase().replace(' ', '.')}@shop.test`;
  const added = { email, accountId: sandbox.account, role: 'cashier' } as const;
  const lena = await addMember({ db, clock: systemClock }, added);
  await db.query('update users set name = $2 where id = $1', [lena, name]);
  await db.query('update memberships set may_discount = true where user_id = $1', [lena]);
  const pin = await (await owner()).send('PUT', `${account}/members/${lena}/pin`, { pin: PIN });
  assert.equal(pin.status, 200, pin.text);
  await allowOffline(db, till.terminal);
  const setRates = (rates: Readonly<Record<string, string>>) =>
    putRates(db, rates, { now: new Date(), maxAgeS: 3_600 });
  return {
    lena,
    /** Compares what payment, receipt, totals and books show with the golden rows. */
    checkSale: async (payment: unknown) => {
      await checkReceipt(world, { payment, lena });
      await checkBooks(world, { payment, lena, name, till, owner: await owner() });
    },
    openInTheMorning: async () => {
      await change({ currency: 'eur' });
      await setRates(MORNING);
    },
    /** The rate moves, and the owner sets another currency. */
    changeInTheEvening: async () => {
      await setRates(EVENING);
      await change({ currency: 'chf' });
    },
  };
}
