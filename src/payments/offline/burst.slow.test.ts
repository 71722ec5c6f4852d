import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createPreflight } from '#payments/preflight-by-network.ts';
import {
  forwardedIn,
  forwardSales,
  type KeptSale,
  setLimits,
  signOffline,
} from '#testkit/apis/offline-sales.ts';
import { type PayGround, startPayGround } from '#testkit/apis/pay-ground.ts';
import { AMOUNT, PULLED } from '#testkit/fixtures/payments/sale-amounts.ts';
import { addTerminal } from '#testkit/fixtures/payments/store.ts';
import { type ProviderProxy, startProviderProxy } from '#testkit/network/provider-proxy.ts';

let ground: PayGround;
let node: ProviderProxy;

before(async () => {
  ground = await startPayGround({
    isIdle: true,
    overrides: async (rpcUrl) => {
      node = await startProviderProxy(rpcUrl);
      return { rpcUrls: [node.url], rpcTimeoutsMs: [TIMEOUT_MS] };
    },
  });
  await setLimits(ground);
});

after(async () => {
  await ground.close();
  await node.stop();
});

/** The time that the slow node needs for one request; it works on one at a time. */
const REQUEST_MS = 30;
/** Three times what the node needs for the eight requests that it gets at once. */
const TIMEOUT_MS = 800;
const SALES = 100;
const CUT_EVERY_MS = 100;
/** Number of sales that a till forwards at once. */
const PORTION = 10;
/** Sales of other tills during the burst, and the time between two of them. */
const OTHERS = 12;
const OTHERS_EVERY_MS = 250;

/** Makes the node answer one request after the other. */
function slowDown(): void {
  let freeAt = 0;
  node.behavior = {
    delayMs: () => {
      const now = performance.now();
      freeAt = Math.max(now, freeAt) + REQUEST_MS;
      return freeAt - now;
    },
  };
}

/** Forwards sales over a line that is cut before each answer, until `done` returns true. */
async function forwardCut(sales: readonly KeptSale[], done: () => boolean): Promise<void> {
  for (let from = 0; !done(); from = (from + PORTION) % sales.length) {
    await fetch(`${ground.server.url}/api/device/v1/offline_payments`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${ground.store.deviceKey}`,
        'Content-Type': 'application/json',
      },
      body: JSON.stringify({ payments: sales.slice(from, from + PORTION) }),
      signal: AbortSignal.timeout(CUT_EVERY_MS),
    }).catch(() => null);
  }
}

async function newTill() {
  const { db, clock, merchant } = ground.store;
  const { terminalId, deviceKey } = await addTerminal(db, merchant, clock.now());
  await setLimits(ground, undefined, terminalId);
  return ground.server.device(deviceKey);
}

test('tills sell while others forward sales to a slow node over a line that is cut', async () => {
  const wallet = await ground.bare(PULLED * BigInt(3 * SALES));
  const sign = (count: number) =>
    Promise.all(Array.from({ length: count }, () => signOffline(ground, wallet)));
  const [whole, cut, others] = [await sign(SALES), await sign(SALES), await sign(OTHERS)];
  const [second, third] = [await newTill(), await newTill()];
  const preflight = createPreflight([ground.world.network.chain]);
  const merchantNumber = ground.world.merchant.merchantNumber ?? 0n;
  const tap = { payer: wallet.address, merchantNumber, amount: BigInt(AMOUNT), orderId: 'tap' };

  slowDown();
  let isDone = false;
  const cutting = forwardCut(cut, () => isDone);
  const forwarding = forwardSales(second, whole);
  const statuses: Promise<number>[] = [];
  const taps: unknown[] = [];
  for (const sale of others) {
    statuses.push(forwardSales(third, [sale]).then(({ status }) => status));
    taps.push(preflight({ livemode: false, ...tap }));
    await sleep(OTHERS_EVERY_MS);
  }
  const heard = { forwarded: await Promise.all(statuses), taps: await Promise.all(taps) };
  const forwarded = await forwarding;
  isDone = true;
  await cutting;
  node.behavior = null;
  assert.deepEqual(new Set(heard.forwarded), new Set([200]));
  assert.ok(!heard.taps.includes('unavailable'), JSON.stringify(heard.taps));
  assert.equal(forwardedIn(forwarded).length, SALES);
});
