import assert from 'node:assert/strict';
import { present } from '#core/assert.ts';
import { quotedOf, usdc } from '../../../web/testing/priced.ts';
import {
  addCatalogueItem,
  addTestTerminal,
  intentsOf,
  paymentsOf,
  postAsMerchant,
  setShop,
} from '../../../web/testing/till.ts';
import { type Hands, until } from './hands.ts';
import {
  type Ground,
  type Journey,
  type Journeys,
  makeWallet,
  openTill,
  signIn,
  VALUE_OF,
} from './journey.ts';

/** Journeys of a shop that prices its sales in a currency. */

/** Sets the shop's currency for one journey, because the others price in USDC. */
function pricedIn(currency: string, journey: Journey): Journey {
  return async (hands, ground) => {
    await setShop(ground.sandbox, { currency });
    try {
      await journey(hands, ground);
    } finally {
      await setShop(ground.sandbox, { currency: null });
    }
  };
}

/** Matches exactly this text. */
const literal = (text: string) => new RegExp(text.replaceAll(/[.+*?^$()[\]{}|\\]/g, '\\$&'));

async function clickKeys(hands: Hands, keys: readonly string[]): Promise<void> {
  for (const key of keys) await hands.click('button', new RegExp(`^${literal(key).source}$`));
}

async function pay(hands: Hands): Promise<void> {
  await hands.choose('Test pass', 'ok');
  await hands.sees(/Paid/);
}

async function chargeByKeys(hands: Hands, ground: Ground, decimal: string): Promise<void> {
  const own = await openTill(hands, ground);
  await clickKeys(hands, ['2', decimal, '5', '0']);
  await hands.click('button', decimal === ',' ? /^Charge €\s?2,50$/ : /^Charge €2\.50$/);
  await hands.sees(/Cancel payment/);
  const [intent] = await intentsOf(ground.sandbox, own);
  const { currency, amount } = quotedOf(intent);
  assert.deepEqual([currency, amount], ['eur', 250]);
}

/** Returns what the customer pays in euros, with the fee, as the apps show it. */
function totalOf(sale: Parameters<typeof quotedOf>[0]): RegExp {
  const total = present(quotedOf(sale).total, 'total');
  return literal(`€${(total / 100).toFixed(2)}`);
}

/** A sale of 12.34 euros at this terminal. */
const PRICED = { presentment: { currency: 'eur', amount: 1_234 } };
async function addPass(hands: Hands): Promise<string> {
  await hands.click('button', /^Allow payments/);
  await hands.sees(/How much may shops take/);
  await hands.click('button', /^Allow payments/);
  await hands.sees(/Ready to pay/);
  await hands.click('link', /^Passes/);
  await hands.click('button', /^Add pass/);
  await hands.fill('Pass name', 'Keyring');
  await hands.click('button', /^Add pass/);
  const code = await until('a code', () => hands.evaluate<string | null>(VALUE_OF('Pass code')));
  await hands.click('button', /^Done/);
  return code;
}

export const PRICE_JOURNEYS: Journeys = {
  'a sale in euros is typed, paid and refunded in euros': pricedIn('eur', async (hands, ground) => {
    const own = await openTill(hands, ground);
    await clickKeys(hands, ['2', '.', '5', '0']);
    await hands.click('button', /^Charge €2\.50$/);
    await hands.sees(/Cancel payment/);
    const [intent] = await intentsOf(ground.sandbox, own);
    await hands.sees(totalOf(intent));
    await pay(hands);
    await hands.sees(totalOf(intent));
    await hands.sees(/€2\.50/);
    await hands.sees(literal(usdc(intent?.amount)));
    await hands.click('button', /^New payment/);
    await hands.click('button', /^Last payment/);
    await hands.click('button', /^Refund/);
    await hands.fill('Amount', '1,500');
    await hands.sees(/Write 1500 or 1\.50/);
    await hands.fill('Amount', '1,00');
    await hands.click('button', /^Refund €1\.00$/);
    const refunded = await until('the refund', async () => {
      const [payment] = await paymentsOf(ground.sandbox, own);
      return Number(payment?.amount_refunded) || null;
    });
    assert.equal(refunded, Math.floor((Number(intent?.amount) * 100) / 250));
    await hands.sees(/€1\.00/);
  }),
  'a cart is charged with its lines and discounts': pricedIn('eur', async (hands, ground) => {
    const { sandbox } = ground;
    const [coffee, cake] = [`Flat white ${crypto.randomUUID()}`, `Cake ${crypto.randomUUID()}`];
    const tax = { tax_rate: 700, tax_inclusive: true, currency: 'eur' };
    await addCatalogueItem(sandbox, { name: coffee, unit_amount: 350, ...tax });
    await addCatalogueItem(sandbox, { name: cake, unit_amount: 420, ...tax });
    const own = await openTill(hands, ground);
    await hands.click('link', /^Catalogue/);
    for (const item of [coffee, coffee, cake]) await hands.click('button', new RegExp(`^${item}`));
    await hands.sees(/Charge €11\.20/);
    await hands.click('button', new RegExp(`^Edit: ${cake}`));
    await hands.fill('Quantity', '0,5');
    await hands.fill('Discount', '2,11');
    await hands.sees(/The discount can be at most €2\.10/);
    await hands.fill('Discount', '0,10');
    await hands.click('button', /^Save/);
    await hands.click('button', /^Discount$/);
    await hands.click('button', /^10 %$/);
    await hands.click('button', /^Save/);
    await hands.sees(/Charge €8\.10/);
    // The cart outlives a reload.
    await hands.goto(`${sandbox.web_url}/terminal/catalogue`);
    await hands.click('button', /^Charge €8\.10$/);
    await hands.sees(/Cancel payment/);
    const [intent] = await intentsOf(sandbox, own);
    assert.deepEqual([quotedOf(intent).amount, intent?.discount], [810, 90]);
    const lines = intent?.line_items as readonly Record<string, unknown>[];
    assert.deepEqual(
      lines.map(({ name, quantity, discount }) => [name, String(quantity), discount]),
      [
        [coffee, '2', 0],
        [cake, '0.5', 10],
      ],
    );
    await pay(hands);
    const [payment] = await paymentsOf(sandbox, own);
    await hands.goto(String(payment?.receipt_url));
    const exact = `${Number(payment?.amount) / 1e6} USDC`;
    for (const shown of [cake, 'Discount on all items', '€8.10', exact])
      await hands.sees(literal(shown));
    await hands.sees(/Checked by your browser/);
  }),
  'the decimal key is that of the locale': pricedIn('eur', async (hands, ground) => {
    const hasComma = await hands.useLocale('en-AT');
    await chargeByKeys(hands, ground, hasComma ? ',' : '.');
  }),
  'yen have no decimals and dinars have three': pricedIn('jpy', async (hands, ground) => {
    const own = await openTill(hands, ground);
    await hands.fill('Amount', '1.000');
    await hands.sees(/Charge ¥1,000/);
    const points = `[...document.querySelectorAll('.key')].filter((key) =>
      /^[.,]$/.test(key.textContent)).length`;
    assert.equal(await hands.evaluate(points), 0);
    await hands.fill('Amount', '2.50');
    await hands.sees(/This currency has no decimals/);
    await setShop(ground.sandbox, { currency: 'kwd' });
    await hands.goto(`${ground.sandbox.web_url}/terminal`);
    await hands.fill('Amount', '1.250');
    await hands.click('button', /^Charge KWD\s1\.250$/);
    await hands.sees(/Cancel payment/);
    assert.equal(quotedOf((await intentsOf(ground.sandbox, own))[0]).amount, 1_250);
  }),
  'pay page, tag page and dashboard show both sums': async (hands, ground) => {
    const { sandbox } = ground;
    const own = await addTestTerminal(sandbox);
    const intent = await postAsMerchant(sandbox, '/payment_intents', {
      ...PRICED,
      terminal: own.id,
    });
    const both = [/€12\.34/, literal(usdc(intent.amount))];
    const device = await fetch(`${sandbox.base_url}/device/v1/payment_intents/${intent.id}`, {
      headers: { Authorization: `Bearer ${own.deviceKey}` },
    });
    const { payment_url: url } = (await device.json()) as { payment_url: string };
    for (const page of [url, own.tagUrl]) {
      await hands.goto(page);
      for (const sum of both) await hands.sees(sum);
    }
    await postAsMerchant(sandbox, `/test_helpers/terminals/${own.id}/tap`, {
      payment_intent: intent.id,
      credential: { type: 'nfc_id', value: sandbox.test.passes.ok },
    });
    const [payment] = await paymentsOf(sandbox, own);
    await signIn(hands, ground, 'dashboard');
    await hands.click('link', /^Payments/);
    await hands.click('link', new RegExp(String(payment?.id)));
    for (const sum of both) await hands.sees(sum);
    await hands.sees(/€1 = /);
  },
  'a wallet shows both sums': async (hands, ground) => {
    await makeWallet(hands, ground);
    const value = await addPass(hands);
    const own = await addTestTerminal(ground.sandbox);
    const sale = { ...PRICED, terminal: own.id };
    const intent = await postAsMerchant(ground.sandbox, '/payment_intents', sale);
    const path = `/test_helpers/terminals/${own.id}/tap`;
    const tap = { payment_intent: intent.id, credential: { type: 'nfc_id', value } };
    await postAsMerchant(ground.sandbox, path, tap);
    await hands.click('link', /^History/);
    const [payment] = await paymentsOf(ground.sandbox, own);
    await hands.sees(totalOf(payment));
    const { amount, fees } = present(payment, 'payment') as {
      readonly amount: number;
      readonly fees: Readonly<Record<'acquirer' | 'protocol' | 'cashback', number>>;
    };
    const left = amount + fees.acquirer + fees.protocol - fees.cashback;
    await hands.sees(literal(usdc(left)));
  },
};
