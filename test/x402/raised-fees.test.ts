import assert from 'node:assert/strict';
import { after, before, mock, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { caller } from '#testing/api-client.ts';
import { signInWallet } from '#testing/wallet-sign-in.ts';
import type { FacilitatorOptions } from '../../x402/src/index.ts';
import { openX402Ground, payingFetch, type X402Ground } from './x402-ground.ts';

/** Tests the bridge wallet's policy after the network has raised its fees above it. */

const PRICE = 1_000_000;
const FUNDS = 10_000_000n;
/** Acquirer and protocol fee of the sandbox, in basis points. */
const FEE_RATE = 50;
/** Enough for an approval on a busy machine. */
const WITHIN_MS = 60_000;

let ground: X402Ground;

before(async () => {
  ground = await openX402Ground();
});

after(() => ground?.close());

/** Opens a facilitator that signs a policy while the network's fees are one basis point lower. */
async function openBeforeRaise(perDay: number, changed: Partial<FacilitatorOptions> = {}) {
  const { fetch: real } = globalThis;
  const { limits } = ground.settings();
  const lower = mock.method(globalThis, 'fetch', async (...sent: Parameters<typeof real>) => {
    const response = await real(...sent);
    if (sent[1]?.method !== 'GET' || !String(sent[0]).endsWith('/approvals')) return response;
    const wallet = (await response.json()) as { fee_rates: { acquirer: number } };
    wallet.fee_rates.acquirer -= 1;
    return Response.json(wallet, { status: response.status });
  });
  try {
    // The current policy allows less than this limit, so the facilitator signs a new one.
    await ground.another({ ...changed, limits: { ...limits, perDay } });
  } finally {
    lower.mock.restore();
  }
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
