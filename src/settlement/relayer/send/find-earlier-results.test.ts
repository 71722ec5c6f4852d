import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BusyWorld, startBusyWorld } from '#testkit/fixtures/settlement/relayer-scene.ts';
import { type ProviderProxy, startProviderProxy } from '#testkit/network/provider-proxy.ts';

/** A batch of RPC calls is spread over several nodes, and the node that returns the logs lags. */
describe('a payment that was settled before, while a node omits its event', () => {
  let world: BusyWorld<ProviderProxy>;
  let proxy: ProviderProxy;
  /** The number of log requests so far, and the number from which on all logs are returned. */
  let requestCount: number;
  let completeFrom: number;

  before(async () => {
    world = await startBusyWorld(startProviderProxy, { blockMs: 60 });
    [proxy] = world.nodes as [ProviderProxy];
  });

  after(() => world.stop());

  beforeEach(() => {
    requestCount = 0;
    completeFrom = Number.POSITIVE_INFINITY;
    proxy.behavior = {
      answer: (call, real) =>
        call.method === 'eth_getLogs' && requestCount++ < completeFrom ? { result: [] } : real,
    };
  });

  afterEach(() => {
    proxy.behavior = null;
  });

  /** Deletes the first settlement, as restoring a backup would, and requests it again. */
  async function askAgain(): Promise<{ intent: string; first: unknown }> {
    const intent = await world.pay({ payer: world.payer });
    const first = await factsOf(intent);
    await world.database.db.query(
      `update chain_requests set status = 'queued', transaction_id = null, outcome = null
       where subject_id = $1`,
      [intent],
    );
    return { intent, first };
  }

  /**
   * Returns the result's facts except the time when the block was seen, which depends on the poll.
   */
  async function factsOf(intent: string): Promise<unknown> {
    const [outcome] = await world.outcomes([intent]);
    const { seenAt: _, ...facts } = (outcome?.facts ?? {}) as Readonly<Record<string, unknown>>;
    return facts;
  }

  const alarms = () => world.countRows('chain_alarms');

  it('is found when the logs are requested again', async () => {
    completeFrom = 2;
    const { intent, first } = await askAgain();
    assert.deepEqual(await factsOf(intent), first);
    assert.equal(requestCount, 3);
    assert.equal(await alarms(), 0);
  });

  it("is neither declined nor reported as another payment's number", async () => {
    const { intent, first } = await askAgain();
    const deadline = performance.now() + 10_000;
    while (requestCount < 12) {
      assert(performance.now() < deadline, `the logs were asked for ${requestCount} times only`);
      await sleep(20);
    }
    assert.equal(await world.outcome(intent), null);
    assert.equal(await alarms(), 0);
    completeFrom = 0;
    assert.deepEqual(await factsOf(intent), first);
  });
});
