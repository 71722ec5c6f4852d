import type { Tx } from '#db/database.ts';

/** Waits until no other transaction holds the lock of this name, then holds it until the commit. */
export async function lockName(tx: Tx, name: string): Promise<void> {
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [name]);
}
