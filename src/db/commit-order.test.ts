import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Bug } from '#core/assert.ts';
import { addMs } from '#core/clock.ts';
import type { Tenant } from '#core/mode.ts';
import { raisePlaces, stampOrder, stampOrders } from '#db/commit-order.ts';
import type { Tx } from '#db/database.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { waitingForLocks } from '#testkit/fixtures/core/open-transactions.ts';
import { testDatabase } from '#testkit/fixtures/db/database.ts';
import { addMerchant } from '#testkit/fixtures/payments/store.ts';

const NOW = new Date('2026-10-01T12:00:00.000Z');

const database = openForTests(testDatabase, async () => {
  await database.db.query(
    `create table written (account_id text, livemode boolean, created timestamptz(3),
       position bigint, unique (account_id, livemode, position))`,
  );
});

async function addTenant(): Promise<Tenant> {
  return (await addMerchant(database.db, { now: NOW })).tenant;
}

interface Written {
  readonly created: Date;
  readonly position: bigint;
}

async function writeOne(tx: Tx, tenant: Tenant, now: Date): Promise<void> {
  const stamp = await stampOrder(tx, tenant, now, 1);
  await tx.query('insert into written values ($1, $2, $3, $4)', [
    tenant.accountId,
    tenant.livemode,
    stamp.created,
    stamp.next(),
  ]);
}

/** Reads like a client that requests only rows newer than the last one it has seen. */
async function readNewer(tenant: Tenant, last: Written): Promise<Written[]> {
  return database.db.query<Written>(
    `select created, position from written
     where account_id = $1 and livemode = $2 and (created, position) > ($3, $4)
     order by created, position`,
    [tenant.accountId, tenant.livemode, last.created, last.position],
  );
}

test('a poller that reads forward misses nothing that concurrent writers commit', async () => {
  const tenant = await addTenant();
  const [writers, each] = [5, 40];
  let writing = true;
  const write = async (writer: number) => {
    for (let i = 0; i < each; i++) {
      // Simulates machines whose clocks differ. Their transactions also differ in length.
      const now = addMs(new Date(), (writer - 2) * 20);
      await database.db.transaction(async (tx) => {
        await writeOne(tx, tenant, now);
        if (i % 5 === writer) await tx.query('select pg_sleep(0.004)');
      });
    }
  };
  const seen: Written[] = [];
  const poll = async () => {
    const last = seen.at(-1) ?? { created: new Date(0), position: 0n };
    seen.push(...(await readNewer(tenant, last)));
  };
  const polling = (async () => {
    while (writing) await poll();
  })();
  await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
  writing = false;
  await polling;
  await poll();
  const positions = seen.map((row) => Number(row.position));
  assert.deepEqual(
    positions,
    Array.from({ length: writers * each }, (_, index) => index + 1),
  );
});

test('created never goes back, even when the clock does', async () => {
  const tenant = await addTenant();
  const created: string[] = [];
  for (const ms of [0, 5, -60_000, 4, 6]) {
    await database.db.transaction(async (tx) => {
      const stamp = await stampOrder(tx, tenant, addMs(NOW, ms), 1);
      created.push(stamp.created.toISOString().slice(-5));
    });
  }
  assert.deepEqual(
    created,
    ['.000Z', '.005Z', '.005Z', '.005Z', '.006Z'].map((end) => end.slice(-5)),
  );
});

test('positions of one account and mode are consecutive', async () => {
  const tenant = await addTenant();
  const places: bigint[] = [];
  for (const count of [1, 3, 2]) {
    await database.db.transaction(async (tx) => {
      const stamp = await stampOrder(tx, tenant, NOW, count);
      for (let i = 0; i < count; i++) places.push(stamp.next());
    });
  }
  assert.deepEqual(places, [1n, 2n, 3n, 4n, 5n, 6n]);
});

test('positions of a transaction that was rolled back are assigned again', async () => {
  const tenant = await addTenant();
  const failing = database.db.transaction(async (tx) => {
    await stampOrder(tx, tenant, NOW, 5);
    throw new Error('no');
  });
  await assert.rejects(failing);
  const slot = await database.db.transaction(async (tx) =>
    (await stampOrder(tx, tenant, NOW, 1)).next(),
  );
  assert.equal(slot, 1n);
});

test('using more positions than were reserved is a bug', async () => {
  const tenant = await addTenant();
  const greedy = database.db.transaction(async (tx) => {
    const stamp = await stampOrder(tx, tenant, NOW, 1);
    stamp.next();
    stamp.next();
  });
  await assert.rejects(greedy, Bug);
});

test('an account without a row for its mode is a bug', async () => {
  const known = await addTenant();
  const unknown = { ...known, livemode: true };
  await assert.rejects(
    database.db.transaction((tx) => stampOrder(tx, unknown, NOW, 1)),
    Bug,
  );
  const expected = [known, unknown].map((tenant) => ({ tenant, count: 1 }));
  await assert.rejects(
    database.db.transaction((tx) => stampOrders(tx, expected, NOW)),
    Bug,
  );
});

test('several requests for one account are added up', async () => {
  const tenant = await addTenant();
  const twice = [1, 2].map((count) => ({ tenant, count }));
  const stampOf = await database.db.transaction((tx) => stampOrders(tx, twice, NOW));
  const stamp = stampOf(tenant);
  assert.deepEqual([stamp.next(), stamp.next(), stamp.next()], [1n, 2n, 3n]);
  assert.throws(() => stamp.next(), Bug);
  assert.throws(() => stampOf({ ...tenant, livemode: true }), Bug);
});

test('each of several accounts gets as many positions as requested', async () => {
  const [a, b] = [await addTenant(), await addTenant()];
  await database.db.transaction((tx) => stampOrder(tx, b, addMs(NOW, 9), 7));
  const stampOf = await database.db.transaction((tx) =>
    stampOrders(
      tx,
      [
        { tenant: b, count: 1 },
        { tenant: a, count: 2 },
      ],
      NOW,
    ),
  );
  const [ofA, ofB] = [stampOf(a), stampOf(b)];
  assert.deepEqual([ofA.next(), ofA.next(), ofB.next()], [1n, 2n, 8n]);
  assert.deepEqual([ofA.created, ofB.created], [NOW, addMs(NOW, 9)]);
});

/**
 * Adds enough accounts that PostgreSQL chooses a plan that finds, and so locks, a batch's rows in
 * name order.
 */
async function addThousands(): Promise<void> {
  const { db } = database;
  await db.query(`insert into accounts (id, name, created)
    select 'acct_' || n, 'Shop', now() from generate_series(1, 5000) n`);
  await db.query(`insert into account_modes (account_id, livemode)
    select 'acct_' || n, false from generate_series(1, 5000) n`);
  await db.query('analyze account_modes');
}

test('batches that name the same accounts in different orders never deadlock', async () => {
  await addThousands();
  const [a, b] = [await addTenant(), await addTenant()];
  let runs = 0;
  const stampAll = (order: readonly Tenant[]) =>
    database.db.transaction(async (tx) => {
      runs++;
      const expected = order.map((tenant) => ({ tenant, count: 1 }));
      return stampOrders(tx, expected, NOW);
    });
  const batches: Promise<unknown>[] = [];
  await database.db.transaction(async (tx) => {
    await stampOrder(tx, b, NOW, 1);
    // The first batch waits for b. The second one locks a and then waits for b.
    batches.push(stampAll([b, a]));
    await waitingForLocks(database.db, 1);
    batches.push(stampAll([a, b]));
    await waitingForLocks(database.db, 2);
  });
  await Promise.all(batches);
  // Two runs: each batch ran once. A deadlock would have caused a third run.
  assert.equal(runs, 2);
});

test('one account does not wait for another', async () => {
  const [slow, quick] = [await addTenant(), await addTenant()];
  let end: () => void = () => {};
  const gate = new Promise<void>((resolve) => {
    end = resolve;
  });
  const holding = database.db.transaction(async (tx) => {
    await stampOrder(tx, slow, NOW, 1);
    await gate;
  });
  const stamped = database.db.transaction(async (tx) => {
    await stampOrder(tx, quick, NOW, 1);
    return 'stamped';
  });
  assert.equal(await Promise.race([stamped, sleep(2_000, 'stuck')]), 'stamped');
  end();
  await holding;
});

test('positions of a mode are raised above all that may have been assigned and lost', async () => {
  const tenant = await addTenant();
  const place = () =>
    database.db.transaction(async (tx) => (await stampOrder(tx, tenant, NOW, 1)).next());
  const before = await place();
  await raisePlaces(database.db, true);
  assert.equal(await place(), before + 1n);
  await raisePlaces(database.db, false);
  assert.equal(await place(), before + 2n + 1_048_576n);
});
