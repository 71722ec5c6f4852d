import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { createPaymentCheck } from '#settlement/chain/check/check-payment.ts';
import { headsUrlOf } from '#settlement/chain/rpc/subscribe-heads.ts';
import type { TestDatabase } from '#testing/database.ts';
import { BEHAVIORS, type BehaviorName } from '#testing/provider-behaviors.ts';
import { type ProviderProxy, startProviderProxy } from '#testing/provider-proxy.ts';
import { askRefund, settledNumbers } from '#testing/relayer-scene.ts';
import { type RelayerWorld, startRelayerWorld } from '#testing/relayer-world.ts';
import type { StartNode } from '#testing/test-network.ts';

/** A relayer that reaches its chain through two provider addresses. The chain mines on its own. */
export interface ProviderCourse {
  readonly world: RelayerWorld;
  readonly first: ProviderProxy;
  readonly second: ProviderProxy;
  readonly blockMs: number;
  stop(): Promise<void>;
}

/**
 * Time-outs of the two addresses, in milliseconds. The first is short, so that the test is fast.
 * The second is long enough for a slow machine, where a time-out would prove nothing.
 */
const TIMEOUTS_MS = [1_000, 15_000];

export async function startProviderCourse(
  database: TestDatabase,
  blockMs: number,
  { startNode }: { readonly startNode?: StartNode } = {},
): Promise<ProviderCourse> {
  const proxies: ProviderProxy[] = [];
  const world = await startRelayerWorld(
    async (rpcUrl) => {
      proxies.push(await startProviderProxy(rpcUrl), await startProviderProxy(rpcUrl));
      const rpcUrls = proxies.map((proxy) => proxy.url);
      // Gives the relayer an address without subscriptions, as some providers have none. It then
      // polls for new blocks.
      return { rpcUrls, rpcTimeoutsMs: TIMEOUTS_MS, headsUrl: headsUrlOf(rpcUrls[0] ?? '') };
    },
    database,
    startNode,
  );
  world.network.mineEvery(blockMs);
  const [first, second] = proxies as [ProviderProxy, ProviderProxy];
  return {
    world,
    first,
    second,
    blockMs,
    stop: async () => {
      await world.stop();
      await Promise.all(proxies.map((proxy) => proxy.stop()));
    },
  };
}

export interface CourseResult {
  readonly taps: number;
  readonly refunds: number;
  readonly calls: number;
}

const AMOUNT = 1_000_000n;
const REFUND = 400_000n;
const WAIT_MS = 90_000;
/**
 * Time-out in blocks. A transaction may be mined 20 blocks late and revert; the next one may then
 * be late as well.
 */
const WAIT_BLOCKS = 60;
/**
 * Shortest settlement time-out in seconds. After a shorter one, payments would be declined, which
 * is right but proves nothing here.
 */
const LEAST_WITHIN_S = 60;
/**
 * Number of blocks between the set-up and the misbehavior, so that even lagging nodes have the
 * set-up's transactions.
 */
const KNOWN_BLOCKS = 4;
const KNOWN_MS = 2_000;

/**
 * Makes payments and a refund while the first address misbehaves in this way. Afterwards, chain and
 * database must agree: no payment is lost or made twice, and no payer is charged after a decline.
 */
export async function runBehavior(
  course: ProviderCourse,
  name: BehaviorName,
  rounds: number,
): Promise<CourseResult> {
  const { world, first, second, blockMs } = course;
  const waitMs = WAIT_MS + WAIT_BLOCKS * blockMs;
  const settleWithinS = Math.max(LEAST_WITHIN_S, Math.ceil((WAIT_BLOCKS * blockMs) / 1_000));
  const { network, merchant } = world;
  const [payer, broke] = await network.addPayers(2);
  const unwilling = await network.addPayer({ perPayment: null });
  assert(payer !== undefined && broke !== undefined);
  await network.mine(KNOWN_BLOCKS);
  const before = await network.merchantBalance(merchant.merchantNumber);
  const asked = first.calls + second.calls;
  const check = createPaymentCheck(network.chain);
  const { merchantNumber } = merchant;
  const sale = (address: `0x${string}`) =>
    check({ merchantNumber, payer: address, amount: AMOUNT, orderId: 'A-1' });
  first.behavior = BEHAVIORS[name]();
  const paid: string[] = [];
  for (let round = 0; round < rounds; round++) {
    assert.deepEqual(await sale(payer.address), { status: 'ok' }, `a tap while it ${name}`);
    assert.equal((await sale(unwilling.address)).status, 'declined');
    const ids = await world.payMany(
      [payer, broke, unwilling].map((one) => ({ payer: one, settleWithinS })),
    );
    const [one, two, none] = await world.outcomes(ids, waitMs);
    assert.deepEqual([one?.succeeded, two?.succeeded, none?.succeeded], [true, true, false]);
    paid.push(...ids.slice(0, 2));
  }
  const paymentId = await world.recordPayment(paid[0] ?? '');
  const refund = await askRefund(world, paymentId, REFUND);
  const [refunded] = await world.outcomes([refund], waitMs);
  assert.equal(refunded?.succeeded, true, 'the refund');
  // Waits, because the checks read the chain through the same misbehaving addresses.
  await onceAllNodesKnow(blockMs, async () => {
    const balance = await network.merchantBalance(merchantNumber);
    assert.equal(balance - before, BigInt(paid.length) * AMOUNT - REFUND);
    await eachSettledOnce(world);
  });
  first.behavior = null;
  const calls = first.calls + second.calls - asked;
  return { taps: rounds * 2, refunds: 1, calls };
}

/** Repeats a check for some blocks, until lagging nodes have the newest payments. */
async function onceAllNodesKnow(blockMs: number, check: () => Promise<void>): Promise<void> {
  const until = performance.now() + KNOWN_MS + 2 * KNOWN_BLOCKS * blockMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > until) throw error;
      await sleep(blockMs / 2);
    }
  }
}

async function eachSettledOnce({ network, count }: RelayerWorld): Promise<void> {
  const settled = await settledNumbers(network);
  assert.equal(new Set(settled).size, settled.length, 'a payment was settled twice');
  const sql = `select count(*) from chain_requests where kind = 'payment' and status = 'succeeded'`;
  assert.equal(await count(sql), settled.length, 'chain and rows differ');
  assert.equal(await count('select count(*) from chain_alarms'), 0, 'an alarm waits for a person');
}
