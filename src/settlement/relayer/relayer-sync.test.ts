import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { CUSTOM } from '#settlement/profiles.ts';
import type { ProviderAnswer } from '#testing/back-ends.ts';
import { type TestDatabase, testDatabase } from '#testing/database.ts';
import type { Behavior } from '#testing/provider-behaviors.ts';
import { type ProviderProxy, startProviderProxy } from '#testing/provider-proxy.ts';
import { type BusyWorld, settledNumbers, startBusyWorld } from '#testing/relayer-scene.ts';

const BLOCK_MS = 200;
const SYNC = 'eth_sendRawTransactionSync';
const USUAL = 'eth_sendRawTransaction';
const RECEIPT = 'eth_getTransactionReceipt';

const sync = (answer: (real: ProviderAnswer) => ProviderAnswer): Behavior => ({
  answer: ({ method }, real) => (method === SYNC ? answer(real) : real),
});
const receiptOf = (real: ProviderAnswer) => real.result as Record<string, unknown>;

/** What an address that knows the method does with it, and whether it has taken the bytes. */
const ODD: Readonly<Record<string, Behavior>> = {
  'says that it is in no block yet': sync(() => ({
    error: { code: 4, message: 'The transaction was added to the mempool but timed out' },
  })),
  'gives the hash instead': sync((real) => ({ result: receiptOf(real).transactionHash })),
  'gives a receipt of another block': sync((real) => ({
    result: {
      ...receiptOf(real),
      blockHash: `0x${'ab'.repeat(32)}`,
      logs: (receiptOf(real).logs as object[]).map((log) => ({
        ...log,
        blockHash: `0x${'ab'.repeat(32)}`,
      })),
    },
  })),
  'gives nothing': sync(() => ({ result: null })),
  'drops the bytes and says that they are on their way': {
    keeps: ({ method }) => method === SYNC,
    answer: ({ method }, real) =>
      method === SYNC ? { error: { code: 4, message: 'added to the mempool but' } } : real,
  },
  'hangs, and has dropped the bytes': {
    whole: (calls) => (calls.some(({ method }) => method === SYNC) ? 'silent' : null),
  },
  'cuts the connection': {
    whole: (calls) => (calls.some(({ method }) => method === SYNC) ? 'cut' : null),
  },
};

describe('a broadcast that a node answers with its receipt', () => {
  let database: TestDatabase;
  let world: BusyWorld<ProviderProxy>;
  let asked: string[];

  before(async () => {
    database = await testDatabase(12);
  });

  after(() => database.close());

  afterEach(() => world.stop());

  async function open(nodes: number, witnesses: 1 | 2 = 1): Promise<void> {
    const profile = { ...CUSTOM, blockMs: BLOCK_MS };
    const config = { profile, receiptWitnesses: witnesses };
    const options = { nodes, config, blockMs: BLOCK_MS, database };
    world = await startBusyWorld(startProviderProxy, options);
    asked = [];
    for (const node of world.nodes) {
      node.offersSync = true;
      node.watchers.add(({ method }) => asked.push(method));
    }
  }

  const times = (method: string) => asked.filter((one) => one === method).length;

  async function payOne(): Promise<void> {
    const [outcome] = await world.outcomes([await world.pay({ payer: world.payer })]);
    assert.equal(outcome?.succeeded, true);
  }

  it('needs no question for the receipt, and no second broadcast', async () => {
    await open(1);
    let unasked = 0;
    for (let count = 0; count < 3; count++) {
      const before = times(RECEIPT);
      await payOne();
      if (times(RECEIPT) === before) unasked++;
    }
    assert.equal(times(SYNC), 3);
    assert.equal(times(USUAL), 0);
    // On a busy machine the head may come before the answer, and is then asked about.
    assert.ok(unasked > 0, 'each payment asked for its receipt');
  });

  it('is believed only with the word of the second address', async () => {
    await open(2, 2);
    await payOne();
    const [, second] = world.nodes as [ProviderProxy, ProviderProxy];
    // It does not know the transaction for a while.
    let denied = 0;
    second.behavior = {
      answer: ({ method }, real) => {
        if (method !== 'eth_getTransactionByHash' || denied >= 6) return real;
        denied++;
        return { result: null };
      },
    };
    const intent = await world.pay({ payer: world.payer });
    while (denied < 6) {
      assert.equal(await world.outcome(intent), null, 'it is processing while one denies it');
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    const [outcome] = await world.outcomes([intent]);
    assert.equal(outcome?.succeeded, true);
    assert.equal((await settledNumbers(world.network)).length, 2);
  });

  it('is asked of an address that does not know it once, not for each payment', async () => {
    await open(1);
    for (const node of world.nodes) node.offersSync = false;
    for (let count = 0; count < 3; count++) await payOne();
    assert.equal(times(SYNC), 1);
    assert.equal(times(USUAL), 3);
  });

  for (const [name, behavior] of Object.entries(ODD)) {
    it(`settles once where the address ${name}`, async () => {
      await open(1);
      for (const node of world.nodes) node.behavior = behavior;
      for (let count = 0; count < 2; count++) await payOne();
      assert.equal((await settledNumbers(world.network)).length, 2);
      const forged = `chain_transactions where block_hash like '0xabab%'`;
      assert.equal(await world.count(`select count(*) from ${forged}`), 0, 'a block of nobody');
    });
  }
});
