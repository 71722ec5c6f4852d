// A merchant's server in one file. It needs Node.js 20 or newer and nothing else.
//
//   npm start                          (in another shell: the sandbox)
//   node examples/merchant-server.mjs
//   curl -X POST http://127.0.0.1:8787/orders -d '{"order": "A-1001", "amount": 2500000}'
//
// POST /orders asks the terminal to collect an amount. When the customer has paid, Tapline sends a
// webhook, the signature is verified, and GET /orders/A-1001 says "paid", or "refunded" after a refund.

import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';

const PORT = Number(process.env.EXAMPLE_PORT ?? 8787);
const dataDir = process.env.TAPLINE_DATA_DIR ?? '.tapline';
const sandbox = JSON.parse(await readFile(`${dataDir}/sandbox.json`, 'utf8'));
const { secret_key: apiKey, terminal } = sandbox.test;

/** Calls the API. The Idempotency-Key makes a retry safe: the same key never charges twice. */
async function tapline(method, path, { body, key } = {}) {
  const response = await fetch(`${sandbox.base_url}/v1${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${apiKey}`,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...(key === undefined ? {} : { 'Idempotency-Key': key }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(`${answer.error.code}: ${answer.error.message}`);
  return answer;
}

// A real server stores both in its database: orders, and the newest event of each payment.
const orders = new Map();
const newest = new Map();

/**
 * The key is derived from the order, so repeated requests for one order create one payment intent.
 */
async function requestPayment({ order, amount }) {
  const intent = await tapline('POST', '/payment_intents', {
    key: `order-${order}`,
    body: { amount, terminal, order_id: order, description: `Order ${order}` },
  });
  // The webhook may have arrived first, or the order was already paid.
  if (!orders.has(order)) orders.set(order, { status: 'waiting' });
  return { ...orders.get(order), paymentIntent: intent.id };
}

/** Rejects messages that are not signed with our secret or are older than five minutes. */
function verify(rawBody, header, secret) {
  const parts = header.split(',').map((part) => part.trim().split('='));
  const times = parts.filter(([name]) => name === 't').map(([, time]) => time);
  if (times.length !== 1 || !(Math.abs(Date.now() / 1000 - Number(times[0])) <= 300)) return false;
  const hmac = createHmac('sha256', secret).update(`${times[0]}.`).update(rawBody);
  const expected = Buffer.from(hmac.digest('hex'));
  return parts
    .filter(([name]) => name === 'v1')
    .map(([, digest = '']) => Buffer.from(digest))
    .some((given) => given.length === expected.length && timingSafeEqual(given, expected));
}

const STATUSES = { succeeded: 'paid', partially_refunded: 'partly refunded', refunded: 'refunded' };

/**
 * Deliveries may be repeated and arrive in any order. An object's `sequence` rises with each event,
 * so an event that is not above the newest one is a repetition or outdated.
 */
function apply(event) {
  if (!event.type.startsWith('payment.')) return;
  const payment = event.data.object;
  if (event.sequence <= (newest.get(payment.id) ?? 0)) return;
  newest.set(payment.id, event.sequence);
  const status = STATUSES[payment.status] ?? payment.status;
  orders.set(payment.order_id, { status, payment: payment.id });
}

async function readBody(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function handle(request, rawBody) {
  const { method, url } = request;
  if (method === 'POST' && url === '/orders') {
    return [201, await requestPayment(JSON.parse(rawBody))];
  }
  if (method === 'GET' && url.startsWith('/orders/')) {
    const order = orders.get(decodeURIComponent(url.slice('/orders/'.length)));
    return order === undefined ? [404, { error: 'no such order' }] : [200, order];
  }
  if (method === 'POST' && url === '/webhooks') {
    // The signature covers the raw bytes, so verify before parsing.
    const signature = request.headers['service-signature'] ?? '';
    if (!verify(rawBody, signature, endpoint.secret)) return [400, { error: 'bad signature' }];
    apply(JSON.parse(rawBody));
    return [200, { received: true }];
  }
  return [404, { error: 'no such path' }];
}

const server = createServer(async (request, response) => {
  const rawBody = await readBody(request);
  const [status, body] = await handle(request, rawBody).catch((error) => [
    502,
    { error: error.message },
  ]);
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
});
await new Promise((resolve) => server.listen(PORT, '127.0.0.1', resolve));

// The secret is shown once. A real server stores it and reuses its endpoint.
const address = `http://127.0.0.1:${server.address().port}`;
const endpoint = await tapline('POST', '/webhook_endpoints', {
  body: { url: `${address}/webhooks`, enabled_events: ['payment.*'] },
});
console.log(`listening on ${address}`);

process.once('SIGTERM', async () => {
  await tapline('DELETE', `/webhook_endpoints/${endpoint.id}`).catch(() => {});
  process.exit(0);
});
