import type pg from 'pg';
import { assert } from '#core/assert.ts';
import { checkout, type LogPlace, notePlace, run, type Source } from '#db/connections.ts';
import {
  CommitUnknown,
  codeOf,
  commitUnknown,
  DatabaseUnavailable,
  REFUSED,
  requireCommitted,
  requireReplicated,
  toFault,
} from '#db/faults.ts';
import type { DatabaseWatch } from '#db/watch.ts';

/** A statement with its parameters. */
export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/**
 * One transaction after the other, in the order in which they were asked for. The next is sent
 * before the one before it has answered, so the server never waits for us between them. If
 * the last statement returns `wal_position` and `wal_timeline`, it says what of the log is on disk,
 * and whether the server is still the one that we know.
 */
export interface Pipeline {
  readonly watch: DatabaseWatch;
  /**
   * A statement that is a transaction of its own.
   * @throws DatabaseUnavailable nothing was done. @throws CommitUnknown it may have been done.
   */
  run<Row>(text: string, values: readonly unknown[]): Promise<Row[]>;
  /**
   * Two statements in one READ COMMITTED transaction: the first waits for locks, and the other sees
   * what was committed until it got them. `then` makes the other from what the first returned; it
   * is sent together with the commit. With null there is none, and the locks are given back. No
   * other call may be under way: it would be part of the transaction.
   * @throws DatabaseUnavailable nothing was done. @throws CommitUnknown it may have been done.
   */
  runLocked<Locked, Row>(
    lock: Statement,
    then: (locked: readonly Locked[]) => Statement | null,
  ): Promise<Row[]>;
}

/** What the first row says of the log as it was before the statement's own commit. */
function placeOf(row: unknown): LogPlace | null {
  if (typeof row !== 'object' || row === null) return null;
  if (!('wal_position' in row && 'wal_timeline' in row)) return null;
  return { position: String(row.wal_position), timeline: String(row.wal_timeline) };
}

/** A connection that a pipeline has from the pool, and how many of its calls are under way. */
interface Taken {
  readonly client: Promise<pg.PoolClient>;
  underWay: number;
  /** A transaction of several round trips has the connection to itself. */
  isLocked: boolean;
  broken?: Error;
}

/** @throws CommitUnknown unless the server says that it refused the statement. */
async function runAlone<Row>(client: pg.PoolClient, { text, values }: Statement): Promise<Row[]> {
  try {
    return await run<Row>(client, text, values);
  } catch (error) {
    if (!(error instanceof DatabaseUnavailable) || REFUSED.test(codeOf(error.cause))) throw error;
    throw commitUnknown('the connection broke in a statement', error);
  }
}

/** The locks are held when it returns. @throws DatabaseUnavailable nothing was done. */
async function begin<Locked>(client: pg.PoolClient, lock: Statement): Promise<Locked[]> {
  const begun = client.query('BEGIN').catch((error) => {
    throw toFault(error);
  });
  const [, locked] = await Promise.all([begun, run<Locked>(client, lock.text, lock.values)]);
  return locked;
}

async function rollBack(client: pg.PoolClient): Promise<void> {
  await client.query('ROLLBACK').catch((error) => {
    throw toFault(error);
  });
}

/** @throws CommitUnknown unless the server says that it rolled back. */
async function runAndCommit<Row>(client: pg.PoolClient, statement: Statement): Promise<Row[]> {
  const written = run<Row>(client, statement.text, statement.values);
  const committed = client.query('COMMIT');
  const [rows, commit] = await Promise.allSettled([written, committed]);
  if (commit.status === 'rejected') {
    throw commitUnknown('the connection broke in a transaction', commit.reason);
  }
  if (rows.status === 'rejected') throw rows.reason;
  requireCommitted(commit.value);
  return rows.value;
}

/** @throws CommitUnknown unless the server says that it rolled back. */
async function runBehind<Locked, Row>(
  client: pg.PoolClient,
  lock: Statement,
  then: (locked: readonly Locked[]) => Statement | null,
): Promise<Row[]> {
  let statement: Statement | null = null;
  try {
    statement = then(await begin<Locked>(client, lock));
  } catch (error) {
    // Such a connection is not used again: closing it rolls back.
    if (!(error instanceof DatabaseUnavailable)) await rollBack(client);
    throw error;
  }
  if (statement !== null) return runAndCommit<Row>(client, statement);
  await rollBack(client);
  return [];
}

export function openPipeline(source: Source): Pipeline {
  let taken: Taken | null = null;
  const leave = async (from: Taken) => {
    from.underWay--;
    // After a break the next statement gets another connection.
    if (taken === from && (from.underWay === 0 || from.broken !== undefined)) taken = null;
    if (from.underWay === 0) (await from.client).release(from.broken);
  };
  const { watch } = source;
  const onClient = async <Row>(
    work: (client: pg.PoolClient) => Promise<Row[]>,
    { isLocked }: { readonly isLocked: boolean },
  ): Promise<Row[]> => {
    taken ??= { client: checkout(source), underWay: 0, isLocked };
    const on = taken;
    assert(
      on.underWay === 0 || !(isLocked || on.isLocked),
      'a call would be part of a transaction',
    );
    on.underWay++;
    const client = await on.client.catch((error) => {
      if (taken === on) taken = null;
      throw error;
    });
    try {
      const before = watch.highest;
      const rows = await work(client);
      requireReplicated(client);
      const place = placeOf(rows[0]);
      if (place !== null) await notePlace(client, watch, { place, before });
      return rows;
    } catch (error) {
      // Not to be used again: another connection may lead to the new primary.
      const isBroken = error instanceof CommitUnknown || error instanceof DatabaseUnavailable;
      if (isBroken) on.broken = error;
      throw error;
    } finally {
      await leave(on);
    }
  };
  return {
    watch,
    run: (text, values) =>
      onClient((client) => runAlone(client, { text, values }), { isLocked: false }),
    runLocked: (lock, then) =>
      onClient((client) => runBehind(client, lock, then), { isLocked: true }),
  };
}
