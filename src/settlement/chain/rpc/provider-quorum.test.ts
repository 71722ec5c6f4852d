import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { PrivateKeyAccount } from 'viem/accounts';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import { type OddWorld, startOddWorld } from '#testkit/fixtures/settlement/relayer-scene.ts';
import { headFollowed } from '#testkit/fixtures/settlement/relayer-turns.ts';
import { assertSucceeded } from '#testkit/fixtures/settlement/relayer-world.ts';
import type { Behavior } from '#testkit/network/provider-behaviors.ts';
import { type ProviderProxy, startProviderProxy } from '#testkit/network/provider-proxy.ts';

const BY_HASH = 'eth_getTransactionByHash';
const LATER = `0x${'ab'.repeat(32)}`;
const BLOCK_MS = 60;
/**
 * Two polls of the head make fewer requests than this, so after this many requests the second poll,
 * which sees further blocks, has ended.
 */
const ASKED = 10;
const WAIT_MS = 15_000;
const SLOW_MS = 250;

/** The number of times that the slow provider was queried for a transaction's block. */
let requestCount: number;

/** Returns a provider behavior that names this block for every transaction. */
const names = (blockHash: string | null): Behavior => ({
  answer: (call, own) => {
    if (call.method !== BY_HASH) return own;
    requestCount++;
    if (blockHash === null) return { result: null };
    return { result: { ...(own.result as object), blockHash } };
  },
});

describe('success at inclusion', () => {
  let world: OddWorld<ProviderProxy>;
  let payer: PrivateKeyAccount;

  beforeEach(async () => {
    requestCount = 0;
    const config = { confirmations: 0, receiptProviders: 2 } as const;
    world = await startOddWorld(startProviderProxy, { nodes: 2, config });
    payer = await world.network.addPayer();
    world.startRelayer();
  });

  afterEach(() => world.stop());

  const node = (index: number): ProviderProxy => {
    const proxy = world.nodes[index];
    assert.ok(proxy !== undefined);
    return proxy;
  };

  const is = (index: number, behavior: Behavior | null) => {
    node(index).behavior = behavior;
  };

  /** Mines the transaction in the newest block. */
  async function include(): Promise<string> {
    const id = await world.pay({ payer });
    await world.network.pending();
    await world.network.mine();
    return id;
  }

  it('counts when two addresses name the same block', async () => {
    assertSucceeded(await world.outcomes([await include()]));
  });

  it("asks the second address while the first one's receipt is still on its way", async () => {
    const heard: string[] = [];
    const hears = (method: string): NonNullable<Behavior['answer']> => {
      return (call, own) => {
        if (call.method === method && own.result !== null) heard.push(method);
        return own;
      };
    };
    is(0, { delayMs: () => SLOW_MS, answer: hears('eth_getTransactionReceipt') });
    is(1, { answer: hears(BY_HASH) });
    await world.outcomes([await include()]);
    assert.deepEqual(heard, [BY_HASH, 'eth_getTransactionReceipt']);
  });

  for (const [name, behavior] of [
    ['does not know the transaction', names(null)],
    ['names another block', names(LATER)],
  ] as const) {
    it(`does not count while one provider ${name}, however many blocks follow`, async () => {
      is(1, behavior);
      const id = await include();
      const stopMining = world.network.mineEvery(BLOCK_MS);
      const isAsked = await waitUntil(() => requestCount >= ASKED, WAIT_MS);
      await stopMining();
      assert.equal(await world.outcome(id), null);
      assert(isAsked, `it was asked ${requestCount} times only`);
      is(1, null);
      await world.network.mine();
      assertSucceeded(await world.outcomes([id]));
    });
  }

  it('does not count one provider both for its receipt and as the second provider', async () => {
    const denies = names(null);
    is(0, {
      answer: (call, own, head) =>
        call.method === 'eth_getTransactionReceipt'
          ? { error: { code: -32_601, message: 'the method does not exist' } }
          : denies.answer?.(call, own, head),
    });
    const id = await include();
    const isAsked = await waitUntil(() => requestCount >= 1, WAIT_MS);
    await headFollowed(node(0));
    assert.equal(await world.outcome(id), null);
    assert(isAsked);
  });

  it('counts one block later if no second provider answers', async () => {
    is(1, { whole: () => 'cut' });
    const id = await include();
    await headFollowed(node(0));
    assert.equal(await world.outcome(id), null);
    await world.network.mine();
    assertSucceeded(await world.outcomes([id]));
  });
});
