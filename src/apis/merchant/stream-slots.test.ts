import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createStreamSlots } from '#apis/merchant/stream-slots.ts';
import { silentLog } from '#observability/log.ts';
import { databaseForTests } from '#testkit/fixtures/db/database-for-tests.ts';

const MOST = 2;

const database = databaseForTests();

/** Stores slots as a killed process leaves them: in use until `held` from now. */
async function leaveSlots(keyId: string, held: string): Promise<void> {
  await database.db.query(
    `insert into event_stream_slots (key_id, slot, held_until)
     select $1, n, now() + $3::interval from generate_series(1, $2::int) as n`,
    [keyId, MOST, held],
  );
}

async function free(keyId: string): Promise<number> {
  const slots = createStreamSlots({ db: database.db, log: silentLog }, MOST);
  const taken: (() => void)[] = [];
  for (;;) {
    const release = await slots.take(keyId);
    if (release === null) break;
    taken.push(release);
  }
  for (const release of taken) release();
  return taken.length;
}

test("slots are held for seconds, even if the database's clock was a day ahead", async () => {
  await leaveSlots('held', '5 s');
  assert.equal(await free('held'), 0);
  await leaveSlots('over', '-1 s');
  assert.equal(await free('over'), MOST);
  await leaveSlots('stepped', '1 day');
  assert.equal(await free('stepped'), MOST);
});
