import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { claimPayments } from '#settlement/relayer/transaction-queries.ts';
import { type TestDatabase, testDatabase } from '#testing/database.ts';
import { underWay } from '#testing/open-transactions.ts';

let database: TestDatabase;
before(async () => {
  database = await testDatabase(4);
});
after(() => database.close());

test('a payment that one worker is about to sign is passed over by the others', async () => {
  const { db } = database;
  await db.query(
    `insert into chain_requests (livemode, kind, subject_id, number, payload, status, created)
     select false, 'payment', 'pi_' || n, n, '{}', 'queued', now() from generate_series(1, 3) n`,
  );
  const claim = (limit: number) =>
    db.transaction((tx) => claimPayments(tx, { livemode: false, authorized: false, limit }));
  const subjects = (rows: readonly { subject_id: string }[]) =>
    rows.map(({ subject_id: id }) => id);
  const first = await underWay(db, (tx) =>
    claimPayments(tx, { livemode: false, authorized: false, limit: 2 }),
  );
  assert.deepEqual(subjects(await claim(3)), ['pi_3']);
  await first.commit();
  assert.deepEqual(subjects(await claim(3)), ['pi_1', 'pi_2', 'pi_3']);
});
