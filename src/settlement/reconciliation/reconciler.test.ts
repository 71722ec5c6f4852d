import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { systemClock } from '#core/clock.ts';
import { silentLog } from '#core/log.ts';
import { connectWakeups, type Wakeups } from '#db/wakeups.ts';
import { saveDifferences } from '#settlement/reconciliation/reconcile-queries.ts';
import { askIfUnknown } from '#settlement/reconciliation/reconciler.ts';
import { type TestDatabase, testDatabase } from '#testing/database.ts';
import { startTestNetwork, type TestNetwork } from '#testing/test-network.ts';

let database: TestDatabase;
let network: TestNetwork;
let wakeups: Wakeups;

before(async () => {
  [database, network] = await Promise.all([testDatabase(4), startTestNetwork()]);
  wakeups = await connectWakeups(database.db);
});
after(async () => {
  await wakeups.close();
  await network.stop();
  await database.close();
});

const UNKNOWN = { kind: 'refund_unknown_here', subject: '7/0x07', details: { chain: {} } };

/** As a reconciliation would that finds it, again or for the first time. */
async function find(): Promise<{ asked: number; alarms: string[] }> {
  const { db } = database;
  await db.transaction((tx) => saveDifferences(tx, false, [UNKNOWN], systemClock.now()));
  await askIfUnknown({ db, chain: network.chain, clock: systemClock, wakeups, log: silentLog });
  const [row] = await db.query<{ asked: bigint }>(
    'select asked from network_recoveries where not livemode',
  );
  const alarms = await db.query<{ alarm: string }>(
    `select kind || ' ' || subject as alarm from chain_alarms where not livemode`,
  );
  return { asked: Number(row?.asked), alarms: alarms.map(({ alarm }) => alarm) };
}

test('what a recovery did not cure is left to a person: no other one runs for it', async () => {
  const first = await find();
  assert.deepEqual(first.alarms, []);
  // It runs, and leaves the difference as it is.
  await database.db.query(
    `update network_recoveries set status = 'done', finished = now() where not livemode`,
  );
  const uncured = { asked: first.asked, alarms: ['not_recovered refund 7/0x07'] };
  assert.deepEqual(await find(), uncured);
  assert.deepEqual(await find(), uncured);
});
