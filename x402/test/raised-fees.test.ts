import assert from 'node:assert/strict';
import http from 'node:http';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { caller } from '../../testkit/apis/api-client.ts';
import { signInWallet } from '../../testkit/apis/wallet-sign-in.ts';
import type { FacilitatorOptions } from '../src/index.ts';
import { decodeHeader } from '../src/payment-requirements.ts';
import { openX402Ground, payingFetch, type X402Ground } from './x402-ground.ts';

/** Tests the bridge wallet's policy and pending payments after the network has changed its fees. */

const PRICE = 1_000_000;
const FUNDS = 10_000_000n;
/** Acquirer and protocol fee of the sandbox, in basis points. */
const FEE_RATE = 50;
/** Enough for an approval on a busy machine. */
const WITHIN_MS = 60_000;

let ground: X402Ground;

/** A bridge wallet of its own for each test: one may approve five times an hour. */
beforeEach(async () => {
  ground = await openX402Ground();
});

afterEach(() => ground?.close());

/** Returns the response with an acquirer fee that is `points` basis points higher. */
async function raised(incoming: http.IncomingMessage, points: number): Promise<Readable> {
  let text = '';
  for await (const chunk of incoming) text += chunk;
  const wallet = JSON.parse(text);
  wallet.fee_rates.acquirer += points;
  const { statusCode, statusMessage } = incoming;
  const rawHeaders = ['content-type', 'application/json'];
  const changed = Readable.from([Buffer.from(JSON.stringify(wallet))]);
  return Object.assign(changed, { statusCode, statusMessage, rawHeaders });
}

/** Runs `act` while the network's acquirer fee is `points` basis points higher. */
async function withFee<T>(points: number, act: () => Promise<T>): Promise<T> {
  const real = http.request;
  type Respond = (incoming: Readable) => void;
  const request = (url: string, options: http.RequestOptions, respond: Respond) =>
    real(url, options, async (incoming) => {
      const isRead = options.method === 'GET' && url.endsWith('/approvals');
      respond(isRead ? await raised(incoming, points) : incoming);
    });
  const changed = mock.method(http, 'request', request as typeof real);
  try {
    return await act();
  } finally {
    changed.mock.restore();
  }
}

/** Opens a facilitator that signs a policy while the network's fees are one basis point lower. */
function openBeforeRaise(perDay: number, changed: Partial<FacilitatorOptions> = {}) {
  const { limits } = ground.settings();
  // The current policy allows less than this limit, so the facilitator signs a new one.
  return withFee(-1, () => ground.another({ ...changed, limits: { ...limits, perDay } }));
}

async function policyRate(): Promise<number> {
  const { sandbox } = ground.shared;
  const { chain_id: chainId } = sandbox.test;
  const token = await signInWallet(sandbox.web_url, ground.bridge, { chainId });
  const { body } = await caller(`${sandbox.base_url}/payer/v1`, token).get('/approvals');
  return (body as unknown as { policy: { max_fee_rate: number } }).policy.max_fee_rate;
}

async function buys(shop: string): Promise<void> {
  const response = await payingFetch(ground, await ground.newBuyer(FUNDS))(shop);
  assert.equal(response.status, 200, await response.text());
}

test('a payment that is pending while the fees change is not asked for again', async (t) => {
  const buyer = await ground.newBuyer(FUNDS);
  const { hasty, shop, totalNow, total, first, payment } = await withFee(1, async () => {
    const hasty = await ground.another({ waitMs: 0, sweepMs: 500 });
    t.after(() => hasty.close());
    const shop = await ground.openShop(PRICE, hasty);
    const totalNow = () => hasty.requirements({ price: PRICE, resource: shop }).amount;
    const total = totalNow();
    let payment = '';
    const first = await payingFetch(ground, buyer, (request) => {
      payment = request.headers.get('PAYMENT-SIGNATURE') ?? payment;
      return fetch(request);
    })(shop);
    return { hasty, shop, totalNow, total, first, payment };
  });
  assert.equal(first.status, 503, await first.text());
  const until = Date.now() + WITHIN_MS;
  while (totalNow() === total && Date.now() < until) await sleep(100);
  assert.notEqual(totalNow(), total);
  const ask = () => fetch(shop, { headers: { 'PAYMENT-SIGNATURE': payment } });
  let again = await ask();
  while (again.status === 503 && Date.now() < until) again = await ask();
  assert.equal(again.status, 200, await again.text());
  assert.equal(await ground.usdcOf(buyer.address), FUNDS - BigInt(total));
  // The payment is not worth more than what it bought.
  const dearer = { price: 2 * PRICE, resource: shop };
  const answer = await hasty.requirementsFor(decodeHeader(payment), dearer);
  assert.equal(answer.amount, hasty.requirements(dearer).amount);
});

test('a start signs a policy that accepts the raised fees', async () => {
  await openBeforeRaise(2_000_000_000);
  assert.equal(await policyRate(), FEE_RATE - 1);
  const facilitator = await ground.another();
  assert.equal(await policyRate(), FEE_RATE);
  await buys(await ground.openShop(PRICE, facilitator));
});

test('a running facilitator signs a policy that accepts the raised fees', async () => {
  await openBeforeRaise(3_000_000_000, { sweepMs: 500 });
  const until = Date.now() + WITHIN_MS;
  while ((await policyRate()) !== FEE_RATE && Date.now() < until) await sleep(500);
  assert.equal(await policyRate(), FEE_RATE);
  await buys(await ground.openShop(PRICE));
});
