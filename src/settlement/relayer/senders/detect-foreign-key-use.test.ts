import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseEther } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { present } from '#core/assert.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { createBalanceRound } from '#settlement/relayer/senders/check-sender-balances.ts';
import { watchIdleNonces } from '#settlement/relayer/senders/detect-foreign-key-use.ts';
import type { SigningKey } from '#settlement/remote-signer.ts';
import type { TestDatabase } from '#testkit/fixtures/db/database.ts';
import { databaseForTests } from '#testkit/fixtures/db/database-for-tests.ts';
import { idleRelayer } from '#testkit/fixtures/settlement/idle-relayer.ts';
import {
  type OddWorld,
  settledNumbers,
  startOddWorld,
} from '#testkit/fixtures/settlement/relayer-scene.ts';
import { assertSucceeded } from '#testkit/fixtures/settlement/relayer-world.ts';
import { heldAccount } from '#testkit/network/held-key.ts';
import { type ProviderProxy, startProviderProxy } from '#testkit/network/provider-proxy.ts';

const ALARMS = `select count(*) from chain_alarms where kind = 'foreign_key_used'`;
const STOPPED = 'select count(*) from relayer_senders where stopped_at is not null';
const RECOVERIES = `select count(*) from network_recoveries where status <> 'done'`;

interface Theft {
  readonly world: OddWorld<ProviderProxy>;
  readonly payers: readonly PrivateKeyAccount[];
  payOne(): Promise<string>;
  /** Sends native coin away with a sender's key, as a thief would. */
  steal(key: SigningKey | undefined, nonce: number): Promise<void>;
  /** Has the relayer sign a payment, but lets the thief use its nonce first. */
  overtake(blockMs: number): Promise<string>;
}

/** Opens a scene in which a thief has a sender's key. The database has lost no data. */
async function openTheft(options: {
  readonly nodes: number;
  readonly database?: TestDatabase;
}): Promise<Theft> {
  const world = await startOddWorld(startProviderProxy, options);
  const payers = await world.network.addPayers(3);
  const payOne = () => world.pay({ payer: present(payers[0], 'payer'), settleWithinS: 600 });

  async function steal(key: SigningKey | undefined, nonce: number): Promise<void> {
    const raw = await heldAccount(key).signTransaction({
      type: 'eip1559',
      chainId: world.network.config.chainId,
      nonce,
      to: present(payers[0], 'payer').address,
      value: parseEther('0.1'),
      gas: 21_000n,
      maxFeePerGas: 10_000_000_000n,
      maxPriorityFeePerGas: 2_000_000n,
    });
    await world.network.rpc.call('eth_sendRawTransaction', [raw]);
  }

  async function overtake(blockMs: number): Promise<string> {
    world.startRelayer();
    const id = await payOne();
    await world.network.pending();
    const [row] = await world.database.db.query<{ sender: number; tx_hash: Hex }>(
      `select t.sender, a.tx_hash from chain_transactions t
       join chain_attempts a on a.transaction_id = t.id`,
    );
    const { sender, tx_hash: hash } = present(row, 'signed transaction');
    await world.network.rpc.call('anvil_dropTransaction', [hash]);
    await steal(world.network.config.relayerKeys[sender], 0);
    world.network.mineEvery(blockMs);
    return id;
  }

  return { world, payers, payOne, steal, overtake };
}

// The first suite waits for half a minute. Meanwhile the tests of the second suite run in turn.
describe('a sender whose key a thief has', { concurrency: 2 }, () => {
  describe('at a single address', singleAddress);
  describe('at two addresses', { concurrency: 1 }, twoAddresses);
});

function singleAddress(): void {
  let theft: Theft;

  before(async () => {
    theft = await openTheft({ nodes: 1 });
  });
  after(() => theft.world.stop());

  it('does not count as stolen before the address has shown it twice', async () => {
    const { world, overtake } = theft;
    const id = await overtake(300);
    const began = performance.now();
    await sleep(10_000);
    assert.deepEqual(await Promise.all([ALARMS, STOPPED].map(world.count)), [0, 0]);
    assertSucceeded(await world.outcomes([id], 60_000));
    assert(performance.now() - began >= 29_000, 'half a minute lies between two looks');
    assert.deepEqual(await Promise.all([ALARMS, STOPPED].map(world.count)), [1, 1]);
  });
}

function twoAddresses(): void {
  const database = databaseForTests(12);
  let theft: Theft;

  beforeEach(async () => {
    theft = await openTheft({ nodes: 2, database });
  });
  afterEach(() => theft.world.stop());

  it('stops, and its payments settle once through another', async () => {
    const { world, overtake } = theft;
    const id = await overtake(80);
    assertSucceeded(await world.outcomes([id]));
    assert.equal((await settledNumbers(world.network)).length, 1);
    const counts = await Promise.all([ALARMS, STOPPED, RECOVERIES].map(world.count));
    assert.deepEqual(counts, [1, 1, 0]);
    const senders = await database.db.query<{ sender: number }>(
      `select distinct t.sender from chain_transactions t
       join relayer_senders l using (livemode, sender) where l.stopped_at is null`,
    );
    assert.equal(senders.length, 1, 'one other sender has signed');
  });

  it('stops when a worker takes it, without a recovery, and the others continue', async () => {
    const { world, payers, payOne, steal } = theft;
    world.network.mineEvery(50);
    const relayer = world.startRelayer();
    await world.outcomes([await payOne()]);
    await relayer.stop();
    const [row] = await database.db.query<{ sender: number; next_nonce: bigint }>(
      'select sender, next_nonce from relayer_senders order by next_nonce desc, sender limit 1',
    );
    const { sender, next_nonce: nonce } = present(row, 'sender');
    await steal(world.network.config.relayerKeys[sender], Number(nonce));
    await sleep(300);
    world.startRelayer();
    const ids = await world.payMany(payers.map((payer) => ({ payer })));
    assertSucceeded(await world.outcomes(ids));
    for (let look = 0; look < 100 && (await world.count(STOPPED)) === 0; look++) await sleep(50);
    const stopped = await database.db.query<{ sender: number }>(
      'select sender from relayer_senders where stopped_at is not null',
    );
    assert.deepEqual(stopped, [{ sender }]);
    assert.deepEqual(await Promise.all([ALARMS, RECOVERIES].map(world.count)), [1, 0]);
  });

  it('stops while it is idle', async () => {
    const { world, steal } = theft;
    const worker = await idleRelayer(world);
    const sender = present([...worker.senders.values()][0], 'sender');
    const second = present(world.nodes[1], 'second node');
    await watchIdleNonces(worker, [...worker.senders.values()]);
    assert.equal(await world.count(STOPPED), 0, 'the key was not used elsewhere');
    await steal(world.network.config.relayerKeys[sender.sender], 0);
    await world.network.mine();
    const block = present(await world.network.chain.block('latest'), 'head');
    worker.see({ head: block });
    // Only one address reports the foreign transaction, so it must not be believed immediately.
    second.behavior = {
      answer: ({ method }, real) => (method === 'eth_getBlockByNumber' ? { result: null } : real),
    };
    await watchIdleNonces(worker, [sender]);
    assert.equal(await world.count(STOPPED), 0);
    assert.deepEqual(createBalanceRound(worker)(), [sender], 'it is looked at again soon');
    second.behavior = null;
    await watchIdleNonces(worker, [sender]);
    assert.deepEqual(await Promise.all([STOPPED, ALARMS, RECOVERIES].map(world.count)), [1, 1, 0]);
    assert.equal(sender.status, 'stopped');
    assert.deepEqual(createBalanceRound(worker)(), []);
  });

  it('is not stopped because nodes show no receipts', async () => {
    const { world, payOne } = theft;
    for (const node of world.nodes) {
      node.behavior = {
        answer: ({ method }, real) =>
          method === 'eth_getTransactionReceipt' || method === 'eth_getTransactionByHash'
            ? { result: null }
            : real,
      };
    }
    world.network.mineEvery(80);
    world.startRelayer();
    const id = await payOne();
    await sleep(5_000);
    assert.equal(await world.outcome(id), null);
    for (const node of world.nodes) node.behavior = null;
    assertSucceeded(await world.outcomes([id]));
    const counts = await Promise.all([ALARMS, STOPPED, RECOVERIES].map(world.count));
    assert.deepEqual(counts, [0, 0, 0]);
    assert.equal(await world.countRows('chain_alarms'), 0);
  });
}
