import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { CUSTOM } from '#settlement/chain-profiles.ts';
import { databaseForTests } from '#testkit/fixtures/db/database-for-tests.ts';
import {
  type BusyWorld,
  settledNumbers,
  startBusyWorld,
} from '#testkit/fixtures/settlement/relayer-scene.ts';
import { assertSucceeded } from '#testkit/fixtures/settlement/relayer-world.ts';
import type { ProviderAnswer, ProviderCall } from '#testkit/network/back-ends.ts';
import type { Behavior } from '#testkit/network/provider-behaviors.ts';
import { type ProviderProxy, startProviderProxy } from '#testkit/network/provider-proxy.ts';

const BLOCK_MS = 200;
/** Latency of a distant node: during one round trip, two blocks are mined. */
const FAR_MS = 400;
/**
 * Calls per payment that providers' free plans allow (for idle minutes: `test/long/price.test.ts`).
 */
const MOST_PER_PAYMENT = 8;
const PAYMENTS = 10;
const HEAD = 'eth_getBlockByNumber';
const RECEIPT = 'eth_getTransactionReceipt';
const BY_HASH = 'eth_getTransactionByHash';

/** Changes the node's first `count` answers with a receipt. */
function firstReceipts(count: number, answer: (real: ProviderAnswer) => ProviderAnswer): Behavior {
  let left = count;
  return {
    answer: ({ method }, real) =>
      method === RECEIPT && real.result !== null && left-- > 0 ? answer(real) : real,
  };
}

const inBlock = (blockHash: string) => (real: ProviderAnswer) => {
  const receipt = real.result as { readonly logs: readonly object[] };
  const logs = receipt.logs.map((log) => ({ ...log, blockHash }));
  return { result: { ...receipt, blockHash, logs } };
};

describe('a block that a node announces', () => {
  const database = databaseForTests(12);
  let world: BusyWorld<ProviderProxy>;
  /** The methods of each request since the last payment began. */
  let requests: string[][];

  afterEach(() => world.stop());

  async function open(nodes: 1 | 2 = 1): Promise<void> {
    const config = {
      profile: { ...CUSTOM, blockMs: BLOCK_MS },
      receiptProviders: nodes,
      headPollMs: 25,
      idleHeadMs: 15_000,
    };
    const options = { nodes, config, blockMs: BLOCK_MS, announces: true, database };
    world = await startBusyWorld(startProviderProxy, options);
    behave({});
  }

  /** Sets the behavior of all addresses from now on, and records their requests. */
  function behave(behavior: Behavior): void {
    const whole = (calls: readonly ProviderCall[]) => {
      requests.push(calls.map(({ method }) => method));
      return null;
    };
    requests = [];
    for (const node of world.nodes) node.behavior = { ...behavior, whole };
  }

  async function payOne(): Promise<void> {
    assertSucceeded(await world.outcomes([await world.pay({ payer: world.payer })]));
  }

  const asks = (method: string) => requests.filter((methods) => methods.includes(method));

  it('is requested together with the receipts that it should contain', async () => {
    await open();
    await payOne();
    requests = [];
    for (let count = 0; count < 3; count++) await payOne();
    assert.ok(asks(RECEIPT).length >= 3);
    for (const methods of asks(RECEIPT)) assert.equal(methods[0], HEAD, methods.join());
  });

  it('is requested while the second address is asked to confirm the receipt', async () => {
    await open(2);
    await payOne();
    requests = [];
    await payOne();
    const order = requests.flat().filter((method) => [RECEIPT, BY_HASH].includes(method));
    assert.deepEqual(order.toSorted(), [RECEIPT, BY_HASH].toSorted(), 'each of them once');
  });

  it('is not requested by its number from a distant node', async () => {
    await open();
    await payOne();
    behave({ delayMs: () => FAR_MS });
    const questions: unknown[] = [];
    for (const node of world.nodes) {
      node.watchers.add(({ method, params }) => {
        if (method === HEAD && /^0x/.test(String(params[0]))) questions.push(params[0]);
      });
    }
    for (let count = 0; count < 3; count++) await payOne();
    assert.deepEqual(questions, []);
  });

  it('settles a payment that its node does not show at first', async () => {
    await open();
    behave(firstReceipts(1, () => ({ result: null })));
    await payOne();
    assert.equal((await settledNumbers(world.network)).length, 1);
  });

  it('settles no payment whose receipt names a block outside the chain', async () => {
    await open();
    behave(firstReceipts(1, inBlock(`0x${'ab'.repeat(32)}`)));
    await payOne();
    const forged = `chain_transactions where block_hash like '0xabab%'`;
    assert.equal(await world.countRows(forged), 0);
  });

  it("costs no more calls than providers' free plans allow", async () => {
    await open();
    await payOne();
    await sleep(2_000);
    requests = [];
    for (let count = 0; count < PAYMENTS; count++) {
      await payOne();
      await sleep(300 + Math.random() * BLOCK_MS);
    }
    const each = requests.flat().length / PAYMENTS;
    assert.ok(each <= MOST_PER_PAYMENT, `${each} calls for each payment`);
  });
});
