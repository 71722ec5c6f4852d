// A server-driven terminal, for merchants who come from Stripe: the same steps, with Tapline's
// calls. docs/guides/coming-from.md compares both, line by line. Node.js 20 or newer.
//
//   npm start                            (in another shell: the sandbox)
//   node examples/server-driven.mjs
//   curl http://127.0.0.1:8791/readers
//   curl http://127.0.0.1:8791/sell -d '{"reader": "tml_…", "amount": "2.50"}'
//   curl http://127.0.0.1:8791/present -d '{"reader": "tml_…"}'
//   curl http://127.0.0.1:8791/collect -d '{"intent": "pi_…"}'

import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { Tapline, usdc } from 'tapline';

const dataDir = process.env.TAPLINE_DATA_DIR ?? '.tapline';
const sandbox = JSON.parse(await readFile(`${dataDir}/sandbox.json`, 'utf8'));
const tapline = new Tapline(sandbox.test.secret_key, { baseUrl: sandbox.base_url });

const STEPS = {
  '/readers': async () => {
    const { data } = await tapline.terminals.list().page;
    return data;
  },
  '/reader': ({ reader }) => {
    return tapline.terminals.retrieve(reader);
  },
  // The terminal shows the amount at once; no second request is needed.
  '/sell': ({ reader, amount }) => {
    return tapline.paymentIntents.create({ amount: usdc(amount), terminal: reader });
  },
  '/sale': ({ intent }) => {
    return tapline.paymentIntents.retrieve(intent);
  },
  // In test mode: simulates the customer's tap.
  '/present': ({ reader }) => {
    return tapline.testHelpers.tap(reader);
  },
  // The tap takes the money and there is no capture, so this only waits for the result.
  '/collect': ({ intent }) => {
    return tapline.paymentIntents.waitFor(intent);
  },
  '/stop': ({ reader }) => {
    return tapline.terminals.cancelCurrent(reader);
  },
  '/refund': async ({ intent }) => {
    const { payment } = await tapline.paymentIntents.retrieve(intent);
    return tapline.refunds.create({ payment });
  },
};

const server = createServer(async (request, response) => {
  const step = Object.hasOwn(STEPS, request.url) ? STEPS[request.url] : undefined;
  const say = (status, body) =>
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  // A program calls these steps. A page that a browser on this machine shows may not.
  if (request.headers.origin) return say(403, { error: { message: 'Not from a page.' } });
  if (step === undefined) return say(404, { error: { message: 'There is no such step.' } });
  try {
    say(200, await step(request.method === 'POST' ? await json(request) : {}));
  } catch ({ message }) {
    say(400, { error: { message } });
  }
});
server.listen(Number(process.env.EXAMPLE_PORT ?? 8791), '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
process.once('SIGTERM', () => process.exit(0));
