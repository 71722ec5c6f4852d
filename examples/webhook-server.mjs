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
// A real server keeps both in its database.
const paid = new Map();
const seen = new Set();

function apply(event) {
  if (seen.has(event.id)) return; // Deliveries may come twice.
  seen.add(event.id);
  if (event.type === 'payment.succeeded') {
    const { order_id, id } = event.data.object;
    paid.set(order_id, id);
    console.log(`${order_id} is paid by ${id}`);
  }
}

const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  try {
    // The signature covers the bytes as they came: no JSON parser may touch them before.
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
