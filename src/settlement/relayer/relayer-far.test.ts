import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type BusyWorld,
  settleSale,
  startBusyWorld,
} from '#testkit/fixtures/settlement/relayer-scene.ts';
import { assertSucceeded } from '#testkit/fixtures/settlement/relayer-world.ts';
import { type ProviderProxy, startProviderProxy } from '#testkit/network/provider-proxy.ts';

const FAR_MS = 500;
const REQUESTS = 16;
const WAIT_MS = 60_000;

let world: BusyWorld<ProviderProxy>;

before(async () => {
  world = await startBusyWorld(startProviderProxy, { blockMs: 200 });
});

after(() => world.stop());

test('jobs that are sent alone are simulated concurrently at a distant node', async () => {
  const simulated: number[] = [];
  const [node] = world.nodes as [ProviderProxy];
  node.behavior = { delayMs: () => FAR_MS };
  node.watchers.add(({ method }) => {
    if (method === 'eth_estimateGas') simulated.push(performance.now());
  });
  const payload = { to: world.payer.address, amount: '1' };
  const requests = Array.from({ length: REQUESTS }, () => world.ask({ kind: 'faucet', payload }));
  assertSucceeded(await world.outcomes(await Promise.all(requests), WAIT_MS));
  const together = simulated.map(
    (at) => simulated.filter((other) => other >= at && other < at + FAR_MS / 2).length,
  );
  assert.ok(Math.max(...together) >= 4, `${Math.max(...together)} at once`);
});

test('a payment does not wait until the previous broadcast is answered', async () => {
  const [node] = world.nodes as [ProviderProxy];
  const { payer } = world;
  node.behavior = null;
  // Settle a sale, so that the relayer learns that the node answers broadcasts without a receipt.
  await settleSale(world, { payer, amount: 1n });
  node.behavior = { delayMs: () => FAR_MS };
  const sentAt: number[] = [];
  node.watchers.add(({ method }) => {
    if (method === 'eth_sendRawTransaction') sentAt.push(performance.now());
  });
  const first = await world.pay({ payer, amount: 2n });
  while (sentAt.length === 0) await sleep(5);
  const askedAt = performance.now();
  const second = await world.pay({ payer, amount: 3n });
  while (sentAt.length === 1) await sleep(5);
  const waitedMs = (sentAt[1] ?? 0) - askedAt;
  assert.ok(waitedMs < FAR_MS / 2, `sent after ${waitedMs.toFixed(0)} ms`);
  assertSucceeded(await world.outcomes([first, second], WAIT_MS));
});
