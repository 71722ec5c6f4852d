import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { Tx } from '#db/database.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import {
  lockHeldSender,
  releaseSenders,
  renewLeases,
  SenderLost,
  takeSenders,
} from '#settlement/relayer/jobs/sender-queries.ts';
import { underWay, waitingForLocks } from '#testkit/fixtures/core/open-transactions.ts';
import { databaseForTests } from '#testkit/fixtures/db/database-for-tests.ts';

const database = databaseForTests(6, async () => {
  // Insert higher senders first, because an update that follows the table's order would lock them
  // first.
  for (const sender of [3, 2, 1]) {
    await database.db.query(
      `insert into relayer_senders (livemode, sender, role, address, next_nonce, lease_owner)
       values (false, $1, 'operator', $2, 0, 'worker')`,
      [sender, `0x${randomBytes(20).toString('hex')}`],
    );
  }
  await database.db.query('analyze relayer_senders');
});

async function lease(owner: string | null): Promise<void> {
  await database.db.query('update relayer_senders set lease_owner = $1', [owner]);
}

const LEASE = { livemode: false, owner: 'worker', leaseMs: 9_000 };
const SENDERS = { senders: [3, 2, 1], fencingTokens: [0n, 0n, 0n] };

/** Statements that lock several senders at once. */
const OF_SEVERAL = {
  renewed: (tx: Tx) => renewLeases(tx, { ...LEASE, ...SENDERS }),
  'given back': (tx: Tx) => releaseSenders(tx, { ...LEASE, ...SENDERS }),
};

for (const [name, work] of Object.entries(OF_SEVERAL)) {
  test(`leases are ${name} from the lowest sender up, so no workers deadlock`, async () => {
    const { db } = database;
    const first = await underWay(db, (tx) =>
      tx.query('select from relayer_senders where sender = 1 for no key update'),
    );
    const done = db.transaction(async (tx) => {
      // Force a plan that PostgreSQL may choose at any time: it reads rows in the table's order.
      await tx.query(`select set_config('enable_nestloop', 'off', true),
        set_config('enable_mergejoin', 'off', true), set_config('enable_indexscan', 'off', true),
        set_config('enable_bitmapscan', 'off', true)`);
      await work(tx);
    });
    await waitingForLocks(db, 1);
    const free = await db.query<{ sender: number }>(
      'select sender from relayer_senders where sender > 1 for no key update skip locked',
    );
    assert.equal(free.length, 2, 'it holds a higher sender while it waits for the lowest');
    await first.commit();
    await done;
    await lease('worker');
  });
}

test('only leases of this worker and network with current fencing tokens are renewed', async () => {
  const { db } = database;
  const renew = (other: object) => renewLeases(db, { ...LEASE, ...SENDERS, ...other });
  assert.deepEqual((await renew({})).sort(), [1, 2, 3]);
  assert.deepEqual(await renew({ owner: 'another' }), []);
  assert.deepEqual(await renew({ livemode: true }), []);
  assert.deepEqual(await renew({ fencingTokens: [0n, 1n, 1n] }), [3]);
});

const HELD = { relayer: { livemode: false, owner: 'worker' }, sender: 1, fencingToken: 0n };

test('a sender is locked until the database transaction that uses it ends', async () => {
  const { db } = database;
  const working = await underWay(db, (tx) => lockHeldSender(tx, HELD));
  const free = await db.query('select sender from relayer_senders for share skip locked');
  await working.commit();
  assert.deepEqual(free.map((row) => Object(row).sender).sort(), [2, 3]);
});

test('no sender is used while it is unknown whether the ledger is complete', async () => {
  const { db } = database;
  const lock = () => db.transaction((tx) => lockHeldSender(tx, HELD));
  assert.equal(await lock(), 0n);
  const release = db.watch.guard(false, () => {});
  await assert.rejects(lock(), SenderLost);
  release();
});

test('two workers that look for a sender at the same time take different ones', async () => {
  const { db } = database;
  await lease(null);
  const rows = await db.query<{ address: Hex }>('select address from relayer_senders');
  const filter = { livemode: false, addresses: rows.map(({ address }) => address), limit: 1 };
  const take = (tx: Tx, owner: string) => takeSenders(tx, { ...filter, owner, leaseMs: 9_000 });
  const first = await underWay(db, (tx) => take(tx, 'one'));
  const second = await db.transaction(async (tx) => {
    await tx.query(`select set_config('lock_timeout', '5s', true)`);
    return take(tx, 'two');
  });
  await first.commit();
  assert.deepEqual(
    second.map(({ sender }) => sender),
    [2],
  );
});
