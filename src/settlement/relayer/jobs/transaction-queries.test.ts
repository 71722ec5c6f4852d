import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { only } from '#core/assert.ts';
import { claimPayments, lockQueued, selectDeclined } from '#settlement/relayer/jobs/job-queries.ts';
import {
  endUnsigned,
  insertTransactions,
  type NewTransaction,
  selectOpenNonces,
  selectOpenTransactions,
  upsertUnsigned,
} from '#settlement/relayer/jobs/transaction-queries.ts';
import { underWay, waitingForLocks } from '#testkit/fixtures/core/open-transactions.ts';
import { databaseForTests } from '#testkit/fixtures/db/database-for-tests.ts';

const database = databaseForTests(4);
/** The ids of the jobs of three waiting payments. */
let ids: bigint[];

beforeEach(async () => {
  await database.db.query('delete from chain_requests');
  const rows = await database.db.query<{ id: bigint }>(
    `insert into chain_requests (livemode, kind, subject_id, number, payload, status, created)
     select false, 'payment', 'pi_' || n, n, '{}', 'queued', now() from generate_series(1, 3) n
     returning id`,
  );
  ids = rows.map(({ id }) => id);
});
test('a payment that one worker is about to sign is skipped by the others', async () => {
  const { db } = database;
  const claim = async (limit: number) => {
    const filter = { livemode: false, authorized: false, limit };
    const rows = await db.transaction((tx) => claimPayments(tx, filter));
    return rows.map(({ id }) => id);
  };
  const first = await underWay(db, (tx) =>
    claimPayments(tx, { livemode: false, authorized: false, limit: 2 }),
  );
  assert.deepEqual(await claim(3), ids.slice(2));
  await first.commit();
  assert.deepEqual(await claim(3), ids);
});

test('a job that another worker is about to send alone, or that is done, is skipped', async () => {
  const { db } = database;
  const lock = () => db.transaction((tx) => lockQueued(tx, ids));
  const first = await underWay(db, (tx) => lockQueued(tx, ids.slice(0, 1)));
  assert.deepEqual(await lock(), ids.slice(1));
  await first.commit();
  assert.deepEqual(await lock(), ids);
  await db.query(`update chain_requests set status = 'failed', outcome = '{}' where id = $1`, [
    ids[2],
  ]);
  assert.deepEqual(await lock(), ids.slice(0, 2));
});

const UNSIGNED: Omit<NewTransaction, 'wanted'> = {
  ...{ nonce: 0n, kind: 'payment', target: '0x07', input: '0x', gasLimit: 1n },
  ...{ validUntil: null, signedAtMs: null, attempts: [], requests: [] },
};

test('a higher offer for a call never replaces its cancellation', async () => {
  const { db } = database;
  const now = new Date();
  const feesOf = (wei: bigint) => ({ maxFeePerGas: wei, maxPriorityFeePerGas: wei });
  const call = { cancels: false, fees: feesOf(10n) };
  const higher = { cancels: false, fees: feesOf(20n) };
  const cancellation = { cancels: true, fees: feesOf(15n) };
  const ended = await db.transaction(async (tx) => {
    await tx.query(
      `insert into relayer_senders (livemode, sender, role, address, next_nonce)
       values (false, 7, 'operator', '0x' || repeat('7', 40), 1)`,
    );
    const where = { livemode: false, sender: 7, nextNonce: 1n };
    const calls = [{ ...UNSIGNED, wanted: call }];
    const { id } = only(await insertTransactions(tx, where, calls, now), 'transaction');
    const first = await endUnsigned(tx, id, call);
    await upsertUnsigned(tx, id, higher, now);
    await upsertUnsigned(tx, id, cancellation, now);
    const second = await endUnsigned(tx, id, higher);
    const [open] = await selectOpenTransactions(tx, { livemode: false, sender: 7 });
    return { first, second, cancels: open?.unsigned?.cancels };
  });
  assert.deepEqual(ended, { first: true, second: false, cancels: true });
});

test('a nonce is open while its transaction is signed and not mined', async () => {
  const { db } = database;
  await db.query(`
    insert into relayer_senders (livemode, sender, role, address, next_nonce)
    select false, sender, 'operator',
      '0x' || repeat(sender::text, 40), 4 from generate_series(1, 2) sender`);
  await db.query(`
    insert into chain_transactions
      (livemode, sender, nonce, kind, status, created, target, input, gas_limit, tx_hash)
    select false, sender, nonce, 'payment', status, now(), '0x', '', 21000,
      case when status in ('mined', 'finalized') then sender || '-' || nonce end
    from generate_series(1, 2) sender,
      (values ('signed', 1), ('mined', 2), ('finalized', 3), ('foreign', 4))
        as stored (status, nonce)`);
  const open = await selectOpenNonces(db, { livemode: false, senders: [1] });
  assert.deepEqual(open, [{ sender: 1, nonce: 1n }]);
});

test('two workers revive the same declined payment one after the other', async () => {
  const { db } = database;
  await db.query(
    `update chain_requests set status = 'failed', outcome = '{}', applied_at = now() where id = $1`,
    [ids[0]],
  );
  const read = () =>
    db.transaction((tx) => selectDeclined(tx, { livemode: false, numbers: [1n, 2n, 3n] }));
  const first = await underWay(db, (tx) =>
    tx.query(
      `update chain_requests set status = 'succeeded' where id = any($1::bigint[])
       and id in (select id from chain_requests where status = 'failed' for update)`,
      [ids],
    ),
  );
  const second = read();
  await waitingForLocks(db, 1);
  await first.commit();
  assert.deepEqual(await second, []);
});
