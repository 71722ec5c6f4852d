import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { present } from '#core/assert.ts';
import { wallet } from '#sandbox/derive-wallets.ts';
import { CART, openEuroShop, PIN } from '#testkit/simulation/offline-day.ts';
import { openRestoreGround, type RestoreGround } from '#testkit/simulation/restore-ground.ts';
import { addTill, demoTill, type Till } from '#testkit/simulation/ways/shops.ts';
import { gatewayTo } from '../../web/testing/gateway.ts';
import { addCatalogueItem } from '../../web/testing/till.ts';
import { chromiumEngine, firefoxEngine } from './engines/by-playwright.ts';
import { webkitEngine } from './engines/by-webdriver.ts';
import { type Engine, type Hands, until } from './engines/hands.ts';
import { VALUE_OF } from './engines/journey.ts';
import { becomes, PERSISTS, seesOutage } from './engines/tablet-journeys.ts';

/**
 * The day of `offline-day.ts` at a till in three browser engines. `test/faults/recovery.test.ts`
 * plays it without a browser.
 */

const PAGES = '../../web/testing';
/** Functions that run in a page. Loaded without types, because these tests have no `document`. */
const { hasTerms, signRequest } = await import(`${PAGES}/offline.ts`);

const engines = [chromiumEngine(), firefoxEngine(), webkitEngine()];
let world: RestoreGround;

before(async () => {
  world = await openRestoreGround();
  await (await openEuroShop(world)).openInTheMorning();
  for (const { quantity: _, ...item } of CART) {
    const more = { tax_inclusive: true, currency: 'eur' };
    await addCatalogueItem({ ...world.sandbox, base_url: address() }, { ...item, ...more });
  }
});

const address = () => present(world.node(0).url, 'address of the service');

after(async () => {
  for (const engine of engines) await engine.close();
  await world?.close();
});

/** Starts Lena's shift at a till that has stored the app and its terms. */
async function startShift(hands: Hands, url: string, name: string): Promise<void> {
  await hands.goto(url);
  await hands.sees(/Start shift/);
  await hands.evaluate(PERSISTS);
  await hands.choose('Person', name);
  await hands.fill('PIN', PIN);
  await hands.click('button', /^Start shift/);
  await hands.sees(/If the connection is lost: You can keep selling, up to €/);
  await becomes(hands, `(${hasTerms})()`);
  await becomes(hands, 'navigator.serviceWorker.controller !== null');
}

async function fillCart(hands: Hands): Promise<void> {
  await hands.click('link', /^Catalogue/);
  for (const { name, quantity } of CART) {
    for (let count = 0; count < quantity; count++) await hands.click('button', new RegExp(name));
  }
  await hands.click('button', /^Discount$/);
  await hands.click('button', /^10 ?%$/);
  await hands.click('button', /^Save/);
  await hands.sees(/Charge €17\.19/);
}

/** Sells the cart to a wallet that shows both sums. */
async function sellOffline(hands: Hands): Promise<void> {
  await hands.click('button', /^Charge €17\.19/);
  const request = await until('a request', () =>
    hands.evaluate<string | null>(VALUE_OF('Request')),
  );
  assert.match(request, /^TLREQ2/);
  await hands.sees(/€17\.27/);
  await hands.sees(/18\.93 USDC/);
  const payer = wallet(world.ground.secret, 'testnet payer ok');
  await hands.fill('Answer', await signRequest(payer, request));
  await hands.click('button', /^Accept answer/);
  await hands.sees(/Accepted offline/);
  await hands.sees(/€17\.27/);
}

async function paidAt({ terminal }: Till): Promise<unknown> {
  return until('the payment', async () => {
    const { body } = await world.node(0).merchant.get(`/payments?terminal=${terminal}`);
    const [paid = null] = body.data as readonly { readonly id: string }[];
    return paid?.id ?? null;
  });
}

async function playDay(hands: Hands, engine: string): Promise<void> {
  const till = await addTill(world, demoTill(world), `Till of ${engine}`);
  const name = `Lena ${engine}`;
  const shop = await openEuroShop(world, till, name);
  const restore = await world.backUp(`before the terms of ${engine}`);
  await shop.openInTheMorning();
  const gateway = await gatewayTo(new URL(address()).origin);
  try {
    await startShift(hands, `${gateway.url}/terminal#key=${till.deviceKey}`, name);
    await fillCart(hands);
    gateway.cut();
    await seesOutage(hands);
    await sellOffline(hands);
    await shop.changeInTheEvening();
    await restore();
    await shop.changeInTheEvening();
    gateway.join();
    await shop.checkSale(await paidAt(till));
    // The copy does not have Lena's shift, so the till asks who starts one.
    await hands.sees(/Start shift/);
    await becomes(hands, `!document.body.innerText.includes('1 sale waits')`);
  } finally {
    await gateway.close();
  }
}

function runIn(engine: Engine): void {
  const options = engine.missing === null ? {} : { skip: engine.missing };
  test(`in ${engine.name}, every reader shows what Lena sold offline`, options, async (t) => {
    const hands = await engine.open();
    try {
      await playDay(hands, engine.name);
    } catch (error) {
      const shown = 'location.href + document.body.innerText.slice(0, 1000)';
      t.diagnostic(String(await hands.evaluate(shown).catch(() => 'no page')));
      throw error;
    } finally {
      await hands.close();
    }
  });
}

describe('a euro shop sells while its line is cut', () => {
  for (const engine of engines) runIn(engine);
});
