import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createPaymentCheck } from '#settlement/preflight.ts';
import { testDatabase } from '#testing/database.ts';
import { type ProviderProxy, startProviderProxy } from '#testing/provider-proxy.ts';
import { startRelayerWorld } from '#testing/relayer-world.ts';

const IDLE_MS = 60_000;
/** The issue's own numbers: calls per idle minute and per payment alone, without a subscription. */
const MOST_IDLE = 15;
const MOST_PER_PAYMENT = 8;

for (const { blockMs, learnMs, payments } of [
  { blockMs: 1_000, learnMs: 60_000, payments: 10 },
  { blockMs: 12_000, learnMs: 180_000, payments: 5 },
]) {
  it(`a worker's calls at blocks of ${blockMs} ms are within a free plan`, async (t) => {
    const database = await testDatabase(12);
    let proxy: ProviderProxy | undefined;
    const world = await startRelayerWorld(async (rpcUrl) => {
      proxy = await startProviderProxy(rpcUrl);
      return { rpcUrls: [proxy.url], headPollMs: 25, idleHeadMs: 15_000 };
    }, database);
    const calls = () => proxy?.calls ?? 0;
    const [payer] = await world.network.addPayers(1);
    assert(payer !== undefined);
    const stopMining = world.network.mineEvery(blockMs);
    world.startRelayer();
    await sleep(learnMs);
    const beforeIdle = calls();
    await sleep(IDLE_MS);
    const idle = calls() - beforeIdle;
    const check = createPaymentCheck(world.network.chain);
    const { merchantNumber } = world.merchant;
    const each: number[] = [];
    for (let i = 0; i < payments; i++) {
      const before = calls();
      await check({ merchantNumber, payer: payer.address, amount: 1n, orderId: 'A' });
      await world.outcomes([await world.pay({ payer })], 60_000);
      each.push(calls() - before);
      await sleep(3_000 + Math.random() * blockMs);
    }
    const mean = each.reduce((sum, one) => sum + one, 0) / each.length;
    t.diagnostic(
      `blocks of ${blockMs} ms: ${idle} an idle minute, ${mean.toFixed(1)} (${Math.min(...each)}–` +
        `${Math.max(...each)}) a payment`,
    );
    await stopMining();
    await world.stop();
    await proxy?.stop();
    await database.close();
    assert(idle <= MOST_IDLE, `${idle} calls in an idle minute`);
    assert(mean <= MOST_PER_PAYMENT, `${mean} calls for a payment`);
  });
}
