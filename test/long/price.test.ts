import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PrivateKeyAccount } from 'viem/accounts';
import { createPaymentCheck } from '#settlement/chain/check/check-payment.ts';
import { testDatabase } from '#testkit/fixtures/db/database.ts';
import {
  type RelayerWorld,
  startRelayerWorld,
} from '#testkit/fixtures/settlement/relayer-world.ts';
import { type ProviderProxy, startProviderProxy } from '#testkit/network/provider-proxy.ts';
import { spawnNetwork, temporaryDataDir } from '#testkit/network/spawn-network.ts';
import { startTestNetwork } from '#testkit/network/test-network.ts';
import { groundEnv } from '#testkit/simulation/chaos/chaos-process.ts';

/**
 * Maximum number of RPC calls per minute for an idle network without a subscription, at any block
 * time.
 */
const MOST_IDLE = 15;
/**
 * The same limit for a whole process, which also reads its merchants' wallets, with three calls a
 * minute.
 */
const MOST_IDLE_PROCESS = 18;
/** The same limit with five blocks per second. */
const MOST_IDLE_FAST = 60;
const MOST_PER_PAYMENT = 8;
const MOST_IN_BURSTS = 3;
const MOST_PER_STALLED_SECOND = 4;

const IDLE_MS = 60_000;
const STALL_MS = 30_000;
const BURSTS = 3;
const BURST_PAYMENTS = 10;
const WAIT_MS = 60_000;

interface Ground {
  readonly world: RelayerWorld;
  readonly payers: readonly PrivateKeyAccount[];
  calls(): number;
  /** Calls of this process by method, since its start. */
  methods(): Map<string, number>;
  stopMining(): Promise<void>;
}

/** Runs a relayer that has learned the block time, behind a counting proxy. */
async function onGround(
  chain: { readonly blockMs: number; readonly learnMs: number; readonly announces: boolean },
  measure: (ground: Ground) => Promise<void>,
): Promise<void> {
  const { blockMs, learnMs, announces } = chain;
  const database = await testDatabase(12);
  let proxy: ProviderProxy | undefined;
  const world = await startRelayerWorld(async (rpcUrl) => {
    proxy = await startProviderProxy(rpcUrl);
    const headsUrl = announces ? rpcUrl.replace('http', 'ws') : null;
    return { rpcUrls: [proxy.url], headsUrl, headPollMs: 25, idleHeadMs: 15_000 };
  }, database);
  const payers = await world.network.addPayers(BURST_PAYMENTS);
  const stopMining = world.network.mineEvery(blockMs);
  world.startRelayer();
  await sleep(learnMs);
  const methods = () => {
    const counts = new Map<string, number>();
    for (const { method, count } of world.network.chain.rpc.counts()) {
      counts.set(method, (counts.get(method) ?? 0) + count);
    }
    return counts;
  };
  try {
    await measure({ world, payers, calls: () => proxy?.calls ?? 0, methods, stopMining });
  } finally {
    await stopMining();
    await world.stop();
    await proxy?.stop();
    await database.close();
  }
}

/** Runs the check before a payment for each payer, pays, and waits for the results. */
async function pay({ world }: Ground, payers: readonly PrivateKeyAccount[]): Promise<void> {
  const { merchantNumber } = world.merchant;
  const check = createPaymentCheck(world.network.chain);
  const checks = payers.map(({ address }) =>
    check({ merchantNumber, payer: address, amount: 1n, orderId: 'A' }),
  );
  for (const one of await Promise.all(checks)) assert.equal(one.status, 'ok');
  const ids = await world.payMany(payers.map((payer) => ({ payer })));
  for (const { succeeded } of await world.outcomes(ids, WAIT_MS)) assert(succeeded);
}

async function measureIdle({ calls }: Ground): Promise<number> {
  const before = calls();
  await sleep(IDLE_MS);
  return calls() - before;
}

async function measureAlone(
  ground: Ground,
  { payments, blockMs }: { blockMs: number; payments: number },
) {
  const { calls, methods, payers } = ground;
  const each: number[] = [];
  const total = new Map<string, number>();
  for (let i = 0; i < payments; i++) {
    const before = { calls: calls(), methods: methods() };
    await pay(ground, payers.slice(0, 1));
    each.push(calls() - before.calls);
    for (const [method, count] of methods()) {
      const more = count - (before.methods.get(method) ?? 0);
      total.set(method, (total.get(method) ?? 0) + more);
    }
    await sleep(3_000 + Math.random() * blockMs);
  }
  const parts = [...total].filter(([, count]) => count > 0).sort(([, a], [, b]) => b - a);
  return {
    mean: each.reduce((sum, one) => sum + one, 0) / each.length,
    range: `${Math.min(...each)}–${Math.max(...each)}`,
    parts: parts.map(([method, count]) => `${method} ${(count / payments).toFixed(1)}`).join(),
  };
}

async function measureBursts(ground: Ground): Promise<number> {
  const before = ground.calls();
  for (let i = 0; i < BURSTS; i++) await pay(ground, ground.payers);
  return (ground.calls() - before) / (BURSTS * BURST_PAYMENTS);
}

async function measureStall(ground: Ground): Promise<number> {
  await ground.stopMining();
  const [payer] = ground.payers;
  assert(payer !== undefined);
  await ground.world.pay({ payer });
  await sleep(2_000);
  const before = ground.calls();
  await sleep(STALL_MS);
  const perSecond = ((ground.calls() - before) * 1_000) / STALL_MS;
  await ground.world.network.mine();
  return perSecond;
}

interface Measured {
  readonly what: string;
  readonly calls: number;
  readonly goal: number;
}

function judge(t: TestContext, all: readonly Measured[]): void {
  for (const { what, calls } of all) t.diagnostic(`${what} ${calls.toFixed(1)}`);
  for (const { what, calls, goal } of all) assert(calls <= goal, `${what}: ${calls} > ${goal}`);
}

for (const { blockMs, learnMs, payments, announces = false } of [
  { blockMs: 200, learnMs: 60_000, payments: 20 },
  { blockMs: 200, learnMs: 60_000, payments: 20, announces: true },
  { blockMs: 1_000, learnMs: 60_000, payments: 10 },
  { blockMs: 1_000, learnMs: 60_000, payments: 10, announces: true },
  { blockMs: 12_000, learnMs: 180_000, payments: 6 },
]) {
  const told = announces ? ', announced' : '';
  describe(`a worker's calls at blocks of ${blockMs} ms${told}`, () => {
    it("are within a provider's free plan", async (t) => {
      await onGround({ blockMs, learnMs, announces }, async (ground) => {
        const idle = await measureIdle(ground);
        const alone = await measureAlone(ground, { blockMs, payments });
        const burst = await measureBursts(ground);
        const stalled = await measureStall(ground);
        const name = `blocks of ${blockMs} ms${told}:`;
        const mostIdle = blockMs < 1_000 ? MOST_IDLE_FAST : MOST_IDLE;
        t.diagnostic(`${name} a payment ${alone.range} (${alone.parts})`);
        judge(t, [
          { what: `${name} an idle minute`, calls: idle, goal: mostIdle },
          { what: `${name} a payment alone`, calls: alone.mean, goal: MOST_PER_PAYMENT },
          { what: `${name} a payment in bursts`, calls: burst, goal: MOST_IN_BURSTS },
          { what: `${name} a stalled second`, calls: stalled, goal: MOST_PER_STALLED_SECOND },
        ]);
      });
    });
  });
}

describe('the calls of a whole process, with everything that runs in it', () => {
  it("are within a provider's free plan while there are no payments", async (t) => {
    const database = await testDatabase(20);
    const network = await startTestNetwork();
    const proxy = await startProviderProxy(network.node.rpcUrl);
    const stopMining = network.mineEvery(1_000);
    const folder = await temporaryDataDir();
    const secret = randomBytes(32);
    const config = { ...network.config, rpcUrls: [proxy.url] };
    const env = groundEnv({ databaseUrl: database.url, secret, networks: [config] });
    const service = await spawnNetwork({ dataDir: folder.path, env });
    try {
      await sleep(IDLE_MS);
      const before = proxy.calls;
      await sleep(IDLE_MS);
      const calls = proxy.calls - before;
      judge(t, [{ what: 'a whole process, an idle minute', calls, goal: MOST_IDLE_PROCESS }]);
    } finally {
      await service.stop();
      await stopMining();
      await network.stop();
      await proxy.stop();
      await database.close();
      await folder.remove();
    }
  });
});
