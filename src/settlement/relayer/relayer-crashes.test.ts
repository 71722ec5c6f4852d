import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { PrivateKeyAccount } from 'viem/accounts';
import type { Failpoint } from '#core/failpoints.ts';
import { databaseForTests } from '#testkit/fixtures/db/database-for-tests.ts';
import { assertSettledOnce } from '#testkit/fixtures/settlement/relayer-scene.ts';
import {
  type RelayerWorld,
  startRelayerWorld,
} from '#testkit/fixtures/settlement/relayer-world.ts';

const POINTS: readonly Failpoint[] = [
  'settlement.sender_taken',
  'settlement.signed_committed',
  'settlement.broadcast_sent',
  'settlement.receipt_seen',
  'settlement.outcome_committed',
];

describe('a relayer killed between two steps', () => {
  const database = databaseForTests(12);
  let world: RelayerWorld;
  let payers: PrivateKeyAccount[];

  beforeEach(async () => {
    world = await startRelayerWorld(undefined, database);
    payers = await world.network.addPayers(3);
    world.network.mineEvery(100);
  });

  afterEach(() => world.stop());

  for (const point of POINTS) {
    it(`settles each payment once if it died at ${point}`, async () => {
      const child = world.spawnRelayer(point);
      const ids = await world.payMany(payers.map((payer) => ({ payer })));
      await child.ended;
      world.startRelayer();
      await assertSettledOnce(world, ids);
      assert.deepEqual(world.complaints, []);
    });
  }
});
