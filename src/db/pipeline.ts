import type pg from 'pg';
import { checkout, type LogPlace, notePlace, run, type Source } from '#db/connections.ts';
import {
  CommitUnknown,
  codeOf,
  commitUnknown,
  DatabaseUnavailable,
  REFUSED,
  requireCommitted,
  requireReplicated,
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
   * what was committed until it got them. Sent together, so nobody waits for us while we hold them.
   * Have one call under way at a time: when the first statement fails, the server does not prepare
   * the second, but pg thinks that it has, and a call that was sent meanwhile fails (26000).
   * @throws DatabaseUnavailable nothing was done. @throws CommitUnknown it may have been done.
   */
  runLocked<Locked, Row>(lock: Statement, then: Statement): Promise<LockedRows<Locked, Row>>;
}

/** What the two statements of {@link Pipeline.runLocked} returned. */
export interface LockedRows<Locked, Row> {
  readonly locked: Locked[];
  readonly rows: Row[];
}

/** What the first row says of the log as it was before the statement's own commit. */
function placeOf(row: unknown): LogPlace | null {
  if (typeof row !== 'object' || row === null) return null;
  if (!('wal_position' in row && 'wal_timeline' in row)) return null;
  return { position: String(row.wal_position), timeline: String(row.wal_timeline) };
}

/** A connection that a pipeline has from the pool, and how many of its statements are under way. */
interface Taken {
  readonly client: Promise<pg.PoolClient>;
  underWay: number;
  broken?: Error;
}

/** @throws CommitUnknown unless the server says that it refused the statement. */
async function runAlone<Row>(
  client: pg.PoolClient,
  { text, values }: Statement,
): Promise<{ readonly rows: Row[] }> {
  try {
    return { rows: await run<Row>(client, text, values) };
  } catch (error) {
    if (!(error instanceof DatabaseUnavailable) || REFUSED.test(codeOf(error.cause))) throw error;
    throw commitUnknown('the connection broke in a statement', error);
  }
}

/** @throws CommitUnknown unless the server says that it rolled back. */
async function runBehind<Locked, Row>(
  client: pg.PoolClient,
  [lock, then]: readonly [Statement, Statement],
): Promise<LockedRows<Locked, Row>> {
  const begun = client.query('BEGIN');
  const rows = Promise.all([
    run<Locked>(client, lock.text, lock.values),
    run<Row>(client, then.text, then.values),
  ]);
  const committed = client.query('COMMIT');
  const [begin, both, commit] = await Promise.allSettled([begun, rows, committed]);
  for (const result of [begin, commit]) {
    if (result.status === 'rejected') {
      throw commitUnknown('the connection broke in a transaction', result.reason);
    }
  }
  if (both.status === 'rejected') throw both.reason;
  requireCommitted(await committed);
  const [locked, written] = both.value;
  return { locked, rows: written };
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
  const onClient = async <T extends { readonly rows: readonly unknown[] }>(
    work: (client: pg.PoolClient) => Promise<T>,
  ): Promise<T> => {
    taken ??= { client: checkout(source), underWay: 0 };
    const on = taken;
    on.underWay++;
    const client = await on.client.catch((error) => {
      if (taken === on) taken = null;
      throw error;
    });
    try {
      const before = watch.highest;
      const result = await work(client);
      requireReplicated(client);
      const place = placeOf(result.rows[0]);
      if (place !== null) await notePlace(client, watch, { place, before });
      return result;
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
    run: async <Row>(text: string, values: readonly unknown[]) =>
      (await onClient((client) => runAlone<Row>(client, { text, values }))).rows,
    runLocked: <Locked, Row>(lock: Statement, then: Statement) =>
      onClient((client) => runBehind<Locked, Row>(client, [lock, then])),
  };
}
