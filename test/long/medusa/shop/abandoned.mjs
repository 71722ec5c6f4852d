// A complete Medusa: store API, workflows and webhook route. Carts are abandoned after 35 seconds,
// and their customers tap after 40. The last line prints each cart's result.
//   node abandoned.mjs '<json: databaseUrl, baseUrl, apiKey, terminal>'
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { Tapline } from 'tapline';

const require = createRequire(import.meta.url);
const loaders = require('@medusajs/medusa/loaders/index');
const flows = require('@medusajs/medusa/core-flows');
const directory = import.meta.dirname;
const ABANDONED_S = 35;
const TAPPED_S = 40;
/** Medusa processes a webhook after a few seconds, and retries when it was busy. */
const SETTLED_S = 60;

const settings = JSON.parse(process.argv[2]);
const { apiKey, baseUrl, terminal } = settings;
const tapline = new Tapline(apiKey, { baseUrl });
const app = require('express')();
const server = createServer(app).listen(0, '127.0.0.1');
await once(server, 'listening');
const url = `http://127.0.0.1:${server.address().port}`;
const { secret } = await tapline.webhookEndpoints.create({
  url: `${url}/hooks/payment/tapline_pos`,
  enabled_events: ['payment_intent.*'],
});
process.env.SHOP_SETTINGS = JSON.stringify({ ...settings, webhookSecret: secret });
const { container } = await loaders.default({ directory, expressApp: app });

const run = async (workflow, input) => (await workflow(container).run({ input })).result;
const [channel] = await run(flows.createSalesChannelsWorkflow, {
  salesChannelsData: [{ name: 'Shop' }],
});
const [region] = await run(flows.createRegionsWorkflow, {
  regions: [{ name: 'Here', currency_code: 'usd', payment_providers: ['pp_tapline_pos'] }],
});
const [key] = await run(flows.createApiKeysWorkflow, {
  api_keys: [{ title: 'till', type: 'publishable', created_by: '' }],
});
await run(flows.linkSalesChannelsToApiKeyWorkflow, { id: key.id, add: [channel.id] });

async function store(path, body, { signal } = {}) {
  const headers = { 'Content-Type': 'application/json', 'x-publishable-api-key': key.token };
  const request = { method: 'POST', headers, body: JSON.stringify(body), signal };
  const response = await fetch(`${url}/store${path}`, request);
  const answer = await response.json();
  if (!response.ok) throw Object.assign(new Error(answer.message), { name: answer.type });
  return answer;
}

const itemOf = (unit_price) => ({
  ...{ title: 'Coffee', quantity: 1, unit_price, requires_shipping: false },
});

/** Creates a cart whose payment the terminal requests. */
async function cartOf(price) {
  const { id } = await run(flows.createCartWorkflow, {
    ...{ region_id: region.id, sales_channel_id: channel.id, currency_code: 'usd' },
    ...{ email: 'customer@shop.example', items: [itemOf(price)] },
  });
  const made = await store('/payment-collections', { cart_id: id });
  const collection = made.payment_collection.id;
  const { payment_collection: begun } = await store(
    `/payment-collections/${collection}/payment-sessions`,
    { provider_id: 'pp_tapline_pos' },
  );
  return { id, collection, intent: begun.payment_sessions[0].data.id };
}

const complete = ({ id }, options) => store(`/carts/${id}/complete`, {}, options);

/**
 * `waitSeconds` is 30, so at 35 seconds one completion has timed out while another is still
 * waiting.
 */
const began = performance.now();
const until = (seconds) => sleep(Math.max(0, began + seconds * 1_000 - performance.now()));
const carts = {
  neverCompleted: await cartOf(2.5),
  gaveUp: await cartOf(3.25),
  hungUp: await cartOf(4),
  changed: await cartOf(5),
  dropped: await cartOf(6),
};
const seen = {};
const gaveUp = complete(carts.gaveUp).catch(({ name }) => name);
await until(ABANDONED_S - 15);
const line = new AbortController();
const hungUp = complete(carts.hungUp, { signal: line.signal }).catch(({ name }) => name);
await until(ABANDONED_S);
line.abort();
seen.completions = { gaveUp: await gaveUp, hungUp: await hungUp };
// A different total needs a new session, and a deleted collection has no session.
await run(flows.addToCartWorkflow, { cart_id: carts.changed.id, items: [itemOf(1)] });
const query = container.resolve('query');
const { data: sessions } = await query.graph({
  entity: 'payment_session',
  fields: ['id'],
  filters: { payment_collection_id: carts.dropped.collection },
});
await run(flows.deletePaymentSessionsWorkflow, { ids: sessions.map(({ id }) => id) });
await until(TAPPED_S);
await Promise.all(
  Object.values(carts).map(({ intent }) =>
    // A canceled intent cannot be tapped, which is checked below.
    tapline.testHelpers.tap(terminal, { payment_intent: intent }).catch(() => undefined),
  ),
);

async function stateOf({ id, collection, intent }) {
  const found = (entity, fields, filters) => query.graph({ entity, fields, filters });
  const orders = await found('order_cart', ['order_id'], { cart_id: id });
  const money = ['captured_amount', 'refunded_amount'];
  const {
    data: [paid],
  } = await found('payment_collection', money, { id: collection });
  const { status, payment } = await tapline.paymentIntents.retrieve(intent);
  const refunded = payment && (await tapline.payments.retrieve(payment)).amount_refunded;
  return {
    ...{ intent: status, refunded, orders: orders.data.length },
    captured: Number(paid?.captured_amount ?? 0),
  };
}

const isSettled = ({ intent, orders }) => intent === 'canceled' || orders === 1;
do {
  await sleep(500);
  const states = await Promise.all(Object.values(carts).map(stateOf));
  seen.carts = Object.fromEntries(Object.keys(carts).map((name, index) => [name, states[index]]));
} while (
  !Object.values(seen.carts).every(isSettled) &&
  performance.now() < began + (TAPPED_S + SETTLED_S) * 1_000
);
console.log(`\n${JSON.stringify(seen)}`);
process.exit(0);
