import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { renewLeases } from '#settlement/relayer/lane-queries.ts';
import { type TestDatabase, testDatabase } from '#testing/database.ts';
import { underWay, waitingForLocks } from '#testing/open-transactions.ts';

let database: TestDatabase;

before(async () => {
  database = await testDatabase(6);
  // The higher lanes first: an update in the order of the table meets them first.
  for (const lane of [3, 2, 1]) {
    await database.db.query(
      `insert into relayer_lanes (livemode, lane, role, address, next_nonce, lease_owner)
       values (false, $1, 'operator', $2, 0, 'worker')`,
      [lane, `0x${randomBytes(20).toString('hex')}`],
    );
  }
  await database.db.query('analyze relayer_lanes');
});

after(() => database.close());

test('leases are renewed from the lowest lane on: no two workers wait in a circle', async () => {
  const { db } = database;
  const first = await underWay(db, (tx) =>
    tx.query('select from relayer_lanes where lane = 1 for no key update'),
  );
  const lease = { livemode: false, owner: 'worker', leaseMs: 9_000 };
  const renewed = db.transaction(async (tx) => {
    // A plan that may be chosen any day: it meets the rows in the order of the table.
    await tx.query(`select set_config('enable_nestloop', 'off', true),
      set_config('enable_mergejoin', 'off', true), set_config('enable_indexscan', 'off', true),
      set_config('enable_bitmapscan', 'off', true)`);
    return renewLeases(tx, { ...lease, lanes: [3, 2, 1], fences: [0n, 0n, 0n] });
  });
  await waitingForLocks(db, 1);
  const free = await db.query<{ lane: number }>(
    'select lane from relayer_lanes where lane > 1 for no key update skip locked',
  );
  assert.equal(free.length, 2, 'it holds a higher lane while it waits for the lowest');
  await first.commit();
  assert.deepEqual((await renewed).sort(), [1, 2, 3]);
});
