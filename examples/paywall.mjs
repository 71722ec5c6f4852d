// Sells a weather forecast to x402 clients, which pay per request. Node.js 20 or newer.
//
//   npm start                                       in one window: the sandbox
//   node examples/paywall.mjs                       in another one
//   node examples/agent.mjs http://127.0.0.1:8789   in a third: it pays, and prints the forecast

import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { usdc } from 'tapline';
// In your own project: from 'tapline-x402'.
import { openFacilitator, paywallOf, serverOf } from '../x402/dist/index.js';

const dataDir = process.env.TAPLINE_DATA_DIR ?? '.tapline';
const sandbox = JSON.parse(await readFile(`${dataDir}/sandbox.json`, 'utf8'));
const { secret_key: apiKey, agent_terminal: terminal, rpc_url: rpcUrl } = sandbox.test;

// A real shop stores the key of its bridge wallet, which needs a little Ether for gas.
const privateKey = process.env.X402_PRIVATE_KEY ?? `0x${randomBytes(32).toString('hex')}`;

const facilitator = await openFacilitator({
  baseUrl: sandbox.base_url,
  apiKey,
  account: sandbox.account,
  terminal,
  privateKey,
  rpcUrl,
  limits: { perPayment: usdc('1'), perDay: usdc('100') },
});
// The sandbox's own chain lets anyone set a balance.
await fetch(rpcUrl, {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'anvil_setBalance',
    params: [facilitator.bridge, '0xde0b6b3a7640000'],
  }),
});

const paywall = paywallOf(facilitator);
const server = serverOf(async (request) => {
  const paid = await paywall(request, { price: usdc('0.05'), description: 'A forecast' });
  if (paid instanceof Response) return paid;
  console.log(`${paid.payer} has paid ${paid.paymentIntent}`);
  return Response.json({ tomorrow: 'Sunny, 21 °C' }, { headers: paid.headers });
});
server.listen(Number(process.env.EXAMPLE_PORT ?? 8789), '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
process.once('SIGTERM', () => process.exit(0));
