import assert from 'node:assert/strict';
import { readEvents } from '#settlement/contract-events.ts';
import { headsUrlOf } from '#settlement/heads.ts';
import { createPaymentCheck } from '#settlement/preflight.ts';
import type { TestDatabase } from '#testing/database.ts';
import { BEHAVIOURS, type BehaviourName } from '#testing/provider-behaviours.ts';
import { type ProviderProxy, startProviderProxy } from '#testing/provider-proxy.ts';
import { type RelayerWorld, startRelayerWorld } from '#testing/relayer-world.ts';

/** A relayer between two addresses of one chain, which mines by itself. */
export interface ProviderCourse {
  readonly world: RelayerWorld;
  readonly first: ProviderProxy;
  readonly second: ProviderProxy;
  stop(): Promise<void>;
}

export async function startProviderCourse(
  database: TestDatabase,
  blockMs: number,
): Promise<ProviderCourse> {
  const proxies: ProviderProxy[] = [];
  const world = await startRelayerWorld(async (rpcUrl) => {
    proxies.push(await startProviderProxy(rpcUrl), await startProviderProxy(rpcUrl));
    const rpcUrls = proxies.map((proxy) => proxy.url);
    // Providers of the kind refuse subscriptions: the head is polled.
    return { rpcUrls, rpcTimeoutsMs: [1_000], headsUrl: headsUrlOf(rpcUrls[0] ?? '') };
  }, database);
  const stopMining = world.network.mineEvery(blockMs);
  const [first, second] = proxies as [ProviderProxy, ProviderProxy];
  return {
    world,
    first,
    second,
    stop: async () => {
      await stopMining();
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
const WAIT_MS = 40_000;

/**
 * Taps, payments and refunds while the first address behaves as named. Afterwards chain and rows
 * agree: no payment is doubled or lost, nobody is charged after a decline.
 */
export async function runBehaviour(
  { world, first, second }: ProviderCourse,
  name: BehaviourName,
  rounds: number,
): Promise<CourseResult> {
  const { network, merchant } = world;
  const [payer, broke] = await network.addPayers(2);
  const [unwilling] = await network.addPayers(1, { perPayment: null });
  assert(payer !== undefined && broke !== undefined && unwilling !== undefined);
  const before = await network.merchantBalance(merchant.merchantNumber);
  const asked = first.calls + second.calls;
  const check = createPaymentCheck(network.chain);
  const { merchantNumber } = merchant;
  const sale = (address: `0x${string}`) =>
    check({ merchantNumber, payer: address, amount: AMOUNT, orderId: 'A-1' });
  first.behaviour = BEHAVIOURS[name]();
  const paid: string[] = [];
  for (let round = 0; round < rounds; round++) {
    assert.deepEqual(await sale(payer.address), { status: 'ok' }, `a tap while it ${name}`);
    assert.equal((await sale(unwilling.address)).status, 'declined');
    const ids = await world.payMany([{ payer }, { payer: broke }, { payer: unwilling }]);
    const [one, two, none] = await world.outcomes(ids, WAIT_MS);
    assert.deepEqual([one?.succeeded, two?.succeeded, none?.succeeded], [true, true, false]);
    paid.push(...ids.slice(0, 2));
  }
  const paymentId = await world.recordPayment(paid[0] ?? '');
  const payload = { paymentId, amount: REFUND.toString() };
  const refund = await world.ask({ kind: 'refund', payload });
  const [refunded] = await world.outcomes([refund], WAIT_MS);
  assert.equal(refunded?.succeeded, true, 'the refund');
  const balance = await network.merchantBalance(merchantNumber);
  assert.equal(balance - before, BigInt(paid.length) * AMOUNT - REFUND);
  // What is read of the chain, logs as well, is read through the same addresses.
  await eachSettledOnce(world);
  first.behaviour = null;
  const calls = first.calls + second.calls - asked;
  return { taps: rounds * 2, refunds: 1, calls };
}

async function eachSettledOnce({ network, count }: RelayerWorld): Promise<void> {
  const { number } = await network.chain.newest();
  const logs = await network.chain.logs({ fromBlock: 0n, toBlock: number });
  const settled = readEvents(network.config.settlement, logs).flatMap((event) =>
    event.event === 'PaymentSettled' ? [event.number] : [],
  );
  assert.equal(new Set(settled).size, settled.length, 'a payment was settled twice');
  const sql = `select count(*) from chain_requests where kind = 'payment' and status = 'succeeded'`;
  assert.equal(await count(sql), settled.length, 'chain and rows differ');
  assert.equal(await count('select count(*) from chain_alarms'), 0, 'an alarm waits for a person');
}
