import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, Tx } from '#db/database.ts';

/** Runs the work in a transaction that stays open until the test commits it. */
export async function underWay(
  db: Database,
  work: (tx: Tx) => Promise<unknown>,
): Promise<{ commit(): Promise<unknown> }> {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const { promise: ready, resolve: begun } = Promise.withResolvers<void>();
  const done = db.transaction(async (tx) => {
    await work(tx);
    begun();
    await gate;
  });
  await Promise.race([ready, done]);
  return {
    commit: () => {
      open();
      return done;
    },
  };
}

/** Waits until this many sessions of the database wait for a lock. */
export async function waitingForLocks(db: Database, count: number): Promise<void> {
  for (;;) {
    const rows = await db.query(
      `select 1 as waiting from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
    );
    if (rows.length === count) return;
    await sleep(2);
  }
}
