import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { decodePaymentResponseHeader } from '@x402/fetch';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { testFolder } from '../../testkit/fixtures/core/test-folder.ts';
import { installTool, type Tool } from '../../testkit/fixtures/core/tools.ts';
import { openX402Ground, payingFetch, type X402Ground } from './x402-ground.ts';

/** Unmodified x402 clients buy from a shop whose payments Tapline settles. */

const run = promisify(execFile);
const PRICE = 2_500_000;
/** Fees of 30 and 20 basis points, minus 5 of cashback. */
const TOTAL = PRICE + 7_500 + 5_000 - 1_250;
const FUNDS = 10_000_000n;

const folder = testFolder();
let ground: X402Ground;
let shop: string;

before(async () => {
  ground = await openX402Ground();
  shop = await ground.openShop(PRICE);
});

after(() => ground?.close());

describe('@x402/fetch', () => {
  test('gets 402, pays with one signature, and gets the resource', async () => {
    const buyer = await ground.newBuyer(FUNDS);
    const before = await ground.merchantReceived();
    assert.equal((await fetch(shop)).status, 402);

    const response = await payingFetch(ground, buyer)(shop);
    const body = (await response.json()) as { coffee: string; paymentIntent: string };
    assert.equal(response.status, 200, JSON.stringify(body));
    assert.equal(body.coffee, 'Ethiopia, washed');

    const receipt = decodePaymentResponseHeader(response.headers.get('PAYMENT-RESPONSE') ?? '');
    assert.equal(receipt.success, true);
    assert.equal(await ground.usdcOf(buyer.address), FUNDS - BigInt(TOTAL));
    assert.equal(await ground.merchantReceived(), before + BigInt(PRICE));
    assert.equal(await ground.usdcOf(ground.bridge.address), 0n);
    const { data } = (
      await ground.merchant.get(`/payments?payment_intent=${body.paymentIntent}&limit=1`)
    ).body as { data: { payment_method: { type: string }; amount: number }[] };
    assert.equal(data[0]?.payment_method.type, 'agent_token');
    assert.equal(data[0]?.amount, PRICE);
  });

  test('gets its money back when the merchant cannot be paid', async () => {
    await ground.limitBridge(PRICE - 1);
    const buyer = await ground.newBuyer(FUNDS);
    const before = await ground.merchantReceived();
    const response = await payingFetch(ground, buyer)(shop);
    await ground.limitBridge(null);
    assert.equal(response.status, 402);
    const body = (await response.json()) as { error: string; message: string };
    assert.equal(body.error, 'limit_exceeded');
    assert.match(body.message, /The money was refunded\./);
    assert.equal(await ground.usdcOf(buyer.address), FUNDS);
    assert.equal(await ground.merchantReceived(), before);
  });

  test('without enough USDC is refused before anything moves', async () => {
    const poor = await ground.newBuyer(1n);
    const response = await payingFetch(ground, poor)(shop);
    assert.equal(response.status, 402);
    const { error } = (await response.json()) as { error: string };
    assert.equal(error, 'invalid_exact_evm_insufficient_balance');
    assert.equal(await ground.usdcOf(poor.address), 1n);
  });
});

test('a page of another site may request, pay and read the paid content', async () => {
  const request = {
    Origin: 'https://shop.example',
    'Access-Control-Request-Method': 'GET',
    'Access-Control-Request-Headers': 'payment-signature',
  };
  const preflight = await fetch(shop, { method: 'OPTIONS', headers: request });
  assert.equal(preflight.status, 204);
  const header = (response: Response, name: string) =>
    response.headers.get(`Access-Control-${name}`);
  assert.equal(header(preflight, 'Allow-Origin'), '*');
  assert.equal(header(preflight, 'Allow-Methods'), 'GET');
  assert.equal(header(preflight, 'Allow-Headers'), 'payment-signature');
  const offer = await fetch(shop, { headers: { Origin: request.Origin } });
  const paid = await payingFetch(ground, await ground.newBuyer(FUNDS))(shop);
  assert.deepEqual([offer.status, paid.status], [402, 200]);
  for (const response of [offer, paid]) {
    assert.equal(header(response, 'Allow-Origin'), '*');
    const exposed = 'PAYMENT-REQUIRED, PAYMENT-RESPONSE';
    assert.equal(header(response, 'Expose-Headers'), exposed);
  }
});

describe('@x402/axios', () => {
  let tool: Tool;

  before(async () => {
    // Uses a separate folder, because axios requires an older core than the other clients.
    tool = await installTool('axios-client', folder);
  });

  test('buys as well', async () => {
    const key = generatePrivateKey();
    const { address } = privateKeyToAccount(key);
    await ground.fund(address, FUNDS);
    const { chain_id, usdc } = ground.shared.sandbox.test;
    const args = ['buy.mjs', shop, key, String(chain_id), usdc];
    const { stdout } = await run(process.execPath, args, { cwd: tool.cwd });
    const bought = JSON.parse(stdout) as { status: number; data: object; receipt: string };
    assert.equal(bought.status, 200);
    assert.equal(decodePaymentResponseHeader(bought.receipt).success, true);
    assert.equal(await ground.usdcOf(address), FUNDS - BigInt(TOTAL));
  });
});
