import type { Database, Sql, Tx } from '#db/database.ts';

// Table names and bounds cannot be parameters of DDL. Those inserted here are built by
// event-retention.ts from constants and a date, or come from the catalog.

/** The key of an advisory lock, which no other lock uses (test/tidy.test.ts checks that). */
const MAINTENANCE_LOCK = 7_218_344_192;

export interface Bounds {
  readonly name: string;
  readonly parent: string;
  readonly column: string;
  readonly from: Date;
  readonly to: Date;
}

export async function selectPartitions(sql: Sql, parent: string): Promise<string[]> {
  const rows = await sql.query<{ name: string }>(
    `select c.relname::text as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = to_regclass($1) order by c.relname`,
    [parent],
  );
  return rows.map((row) => row.name);
}

export async function takeMaintenanceLock(tx: Tx): Promise<boolean> {
  const rows = await tx.query<{ taken: boolean }>('select pg_try_advisory_xact_lock($1) as taken', [
    MAINTENANCE_LOCK,
  ]);
  return rows[0]?.taken === true;
}

export async function setLockTimeout(tx: Tx, ms: number): Promise<void> {
  await tx.query(`select set_config('lock_timeout', $1, true)`, [`${ms}ms`]);
}

export async function createTableLike(tx: Tx, name: string, parent: string): Promise<void> {
  await tx.query(`create table if not exists "${name}" (like ${parent} including all)`);
}

/**
 * Moves rows that arrived before their partition existed out of the default one. The caller must
 * block inserts.
 */
export async function moveFromDefault(tx: Tx, bounds: Bounds): Promise<void> {
  await tx.query(`lock table ${bounds.parent}_default in access exclusive mode`);
  await tx.query(
    `with moved as (
       delete from ${bounds.parent}_default
       where ${bounds.column} >= $1 and ${bounds.column} < $2 returning *
     )
     insert into "${bounds.name}" select * from moved`,
    [bounds.from, bounds.to],
  );
}

export async function attachPartition(tx: Tx, bounds: Bounds): Promise<void> {
  const [from, to] = [bounds.from.toISOString(), bounds.to.toISOString()];
  await tx.query(
    `alter table ${bounds.parent} attach partition "${bounds.name}"
     for values from ('${from}') to ('${to}')`,
  );
}

export async function dropTable(tx: Tx, name: string): Promise<void> {
  await tx.query(`drop table "${name}"`);
}

/** Deletes due deliveries whose events are about to be dropped. */
export async function deleteExpiredDue(db: Database, before: Date): Promise<void> {
  await db.query('delete from webhook_due where event_created < $1', [before]);
}

export async function deleteExpiredReplays(db: Database, before: Date): Promise<void> {
  await db.query('delete from webhook_replays where created < $1', [before]);
}

/** Deletes rows of expired days from the default partition, which itself stays. */
export async function deleteFromDefault(
  db: Database,
  which: { readonly parent: string; readonly column: string; readonly before: Date },
): Promise<void> {
  await db.query(`delete from ${which.parent}_default where ${which.column} < $1`, [which.before]);
}
