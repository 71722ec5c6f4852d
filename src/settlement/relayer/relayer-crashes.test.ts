import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import type { PrivateKeyAccount } from 'viem/accounts';
import type { Failpoint } from '#core/failpoints.ts';
import { type TestDatabase, testDatabase } from '#testing/database.ts';
import { settledNumbers } from '#testing/relayer-scene.ts';
import { type RelayerWorld, startRelayerWorld } from '#testing/relayer-world.ts';

const POINTS: readonly Failpoint[] = [
  'settlement.sender_taken',
  'settlement.signed_committed',
  'settlement.broadcast_sent',
  'settlement.receipt_seen',
  'settlement.outcome_committed',
];

describe('a relayer killed between two steps', () => {
  let database: TestDatabase;
  let world: RelayerWorld;
  let payers: PrivateKeyAccount[];
  let stopMining: () => Promise<void>;

  before(async () => {
    database = await testDatabase(12);
  });

  after(() => database.close());

  beforeEach(async () => {
    world = await startRelayerWorld(undefined, database);
    payers = await world.network.addPayers(3);
    stopMining = world.network.mineEvery(100);
  });

  afterEach(async () => {
    await stopMining();
    await world.stop();
  });

  for (const point of POINTS) {
    it(`settles each payment once if it died at ${point}`, async () => {
      const child = world.spawnRelayer(point);
      const ids = await world.payMany(payers.map((payer) => ({ payer })));
      await child.ended;
      world.startRelayer();
      const outcomes = await world.outcomes(ids);
      assert(outcomes.every((outcome) => outcome.succeeded));
      const numbers = await settledNumbers(world.network);
      assert.equal(numbers.length, 3);
      assert.equal(new Set(numbers).size, 3);
      const { merchantNumber } = world.merchant;
      assert.equal(await world.network.merchantBalance(merchantNumber), 3_000_000n);
      assert.deepEqual(world.complaints, []);
    });
  }
});
