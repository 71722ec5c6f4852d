import { addMs } from '#core/clock.ts';
import { DAY_MS } from '#core/durations.ts';
import type { Database, Tx } from '#db/database.ts';
import {
  attachPartition,
  createTableLike,
  deleteExpiredDue,
  deleteExpiredReplays,
  deleteFromDefault,
  dropTable,
  moveFromDefault,
  selectPartitions,
  setLockTimeout,
  takeMaintenanceLock,
} from '#events/partition-queries.ts';

/** The retention of behavior.md 10.3. */
export const RETENTION_DAYS = 30;
/**
 * Number of days ahead for which partitions are created: operators have a week to notice that
 * maintenance is failing.
 */
const DAYS_AHEAD = 7;
/**
 * The time to wait for a table's lock: a longer wait would block every transaction that writes
 * events.
 */
const LOCK_TIMEOUT_MS = 500;

/** Tables that are partitioned by UTC day: of the event, or of the logged request. */
const PARENTS = ['events', 'webhook_deliveries', 'webhook_attempts', 'request_log'] as const;
type Parent = (typeof PARENTS)[number];

const COLUMN: Readonly<Record<Parent, string>> = {
  events: 'created',
  webhook_deliveries: 'event_created',
  webhook_attempts: 'event_created',
  request_log: 'created',
};

export interface Maintained {
  readonly created: readonly string[];
  readonly dropped: readonly string[];
}

/**
 * Returns the earliest time that is shown. Older rows are hidden even if their partition was not
 * dropped yet.
 */
export function retainedSince(now: Date): Date {
  return addMs(now, -RETENTION_DAYS * DAY_MS);
}

function dayOf(at: Date): Date {
  return new Date(Math.floor(at.getTime() / DAY_MS) * DAY_MS);
}

function nameOf(parent: Parent, day: Date): string {
  return `${parent}_${day.toISOString().slice(0, 10).replaceAll('-', '')}`;
}

/** Returns the day in a partition's name, or `null` for the default one. */
function dayOfName(parent: Parent, name: string): Date | null {
  const digits = new RegExp(`^${parent}_(\\d{4})(\\d{2})(\\d{2})$`).exec(name);
  return digits === null ? null : new Date(`${digits[1]}-${digits[2]}-${digits[3]}T00:00:00Z`);
}

/**
 * Creates a partition as a separate table and then attaches it, so that writers wait only for a
 * moment.
 */
async function createPartition(tx: Tx, parent: Parent, day: Date): Promise<boolean> {
  const name = nameOf(parent, day);
  // Another worker may have created the partition since the list was read.
  if ((await selectPartitions(tx, parent)).includes(name)) return false;
  const bounds = { column: COLUMN[parent], from: day, to: addMs(day, DAY_MS) };
  await createTableLike(tx, name, parent);
  await moveFromDefault(tx, { name, parent, ...bounds });
  await attachPartition(tx, { name, parent, ...bounds });
  return true;
}

async function dropPartition(tx: Tx, parent: Parent, name: string): Promise<boolean> {
  if (!(await selectPartitions(tx, parent)).includes(name)) return false;
  await dropTable(tx, name);
  return true;
}

async function inShortTransaction(
  db: Database,
  work: (tx: Tx) => Promise<boolean>,
): Promise<boolean> {
  return db.transaction(async (tx) => {
    await setLockTimeout(tx, LOCK_TIMEOUT_MS);
    // Another worker is maintaining the partitions now.
    if (!(await takeMaintenanceLock(tx))) return false;
    return work(tx);
  });
}

/**
 * Creates the partitions of the coming days and drops those past retention. It never creates
 * today's partition: the default partition may be getting today's rows, and inserting them would
 * then fail, and with them payments. Run it every hour, in any number of workers. Each change is a
 * short transaction that fails after half a second on a busy table instead of blocking writers; the
 * next run continues.
 */
export async function maintainPartitions(db: Database, now: Date): Promise<Maintained> {
  const created: string[] = [];
  const dropped: string[] = [];
  const today = dayOf(now);
  const oldest = dayOf(retainedSince(now));
  const before = retainedSince(now);
  await deleteExpiredDue(db, before);
  await deleteExpiredReplays(db, before);
  for (const parent of PARENTS) {
    await deleteFromDefault(db, { parent, column: COLUMN[parent], before });
    const existing = new Set(await selectPartitions(db, parent));
    for (let ahead = 1; ahead <= DAYS_AHEAD; ahead++) {
      const day = addMs(today, ahead * DAY_MS);
      const name = nameOf(parent, day);
      if (existing.has(name)) continue;
      if (await inShortTransaction(db, (tx) => createPartition(tx, parent, day))) {
        created.push(name);
      }
    }
    for (const name of existing) {
      const day = dayOfName(parent, name);
      if (day === null || day >= oldest) continue;
      if (await inShortTransaction(db, (tx) => dropPartition(tx, parent, name))) dropped.push(name);
    }
  }
  return { created, dropped };
}
