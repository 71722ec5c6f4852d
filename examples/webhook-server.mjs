// Receives webhooks with the package `tapline`. Node.js 20 or newer.
//
//   npm start                                                   in one window: the sandbox
//   export TAPLINE_WEBHOOK_SECRET=$(npx tapline listen --print-secret)
//   node examples/webhook-server.mjs                            in another one
//   npx tapline listen --forward-to http://127.0.0.1:8788       in a third
//   npx tapline trigger payment.succeeded                       and the order is paid

import { createServer } from 'node:http';
import { verify, WebhookVerificationError } from 'tapline/webhooks';

const secret = process.env.TAPLINE_WEBHOOK_SECRET;
// A real server stores both in its database: orders, and the newest event of each payment.
const orders = new Map();
const newest = new Map();
const WORDS = { succeeded: 'paid', partially_refunded: 'partly refunded', refunded: 'refunded' };

/**
 * Deliveries may be repeated and arrive in any order, so only events newer than the last one count.
 */
function apply(event) {
  if (!event.type.startsWith('payment.')) return;
  const { order_id, id, status } = event.data.object;
  if (event.sequence <= (newest.get(id) ?? 0)) return;
  newest.set(id, event.sequence);
  const before = orders.get(order_id);
  orders.set(order_id, WORDS[status] ?? status);
  if (orders.get(order_id) !== before)
    console.log(`${order_id} is ${orders.get(order_id)} by ${id}`);
}

const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  try {
    // The signature covers the raw bytes, so verify before any JSON parsing.
    apply(await verify(Buffer.concat(chunks), request.headers, secret));
    response.writeHead(200).end();
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    response.writeHead(400).end(error.message);
  }
});
server.listen(Number(process.env.EXAMPLE_PORT ?? 8788), '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
process.once('SIGTERM', () => process.exit(0));
