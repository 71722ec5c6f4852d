import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { assert } from '#core/assert.ts';
import { FIRST_CELL } from '#core/cell.ts';
import {
  checkout,
  type LogPlace,
  look,
  notePlace,
  run,
  type Source,
  sendTogether,
} from '#db/connections.ts';
import {
  CommitUnknown,
  codeOf,
  commitUnknown,
  DatabaseUnavailable,
  hearWarnings,
  requireCommitted,
  requireReplicated,
  toFault,
} from '#db/database-faults.ts';
import { DatabaseWatch } from '#db/detect-replaced-database.ts';
import { connectOptions, SESSION_SETTINGS } from '#db/session-settings.ts';
import { typeParsers } from '#db/type-parsers.ts';

/** Runs SQL: the pool (each statement in its own transaction) or one transaction. */
export interface Sql {
  /** Runs one statement, prepared and named by its text. Parameters only, never spliced text. */
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

/** An open transaction. Statements of a use case take it as their first parameter. */
export interface Tx extends Sql {
  readonly inTransaction: true;
  /** The cell of this database, which is written into objects that may be used in another cell. */
  readonly cell: number;
  /** The view of the transaction's own connection, so read it within the transaction. */
  readonly watch: DatabaseWatch;
  /** Runs once after the commit; never if the work is rolled back. Must not throw. */
  onCommit(run: () => void): void;
  /** Sends a hint to all processes after the commit, once for any number of calls. */
  hint(topic: string, key: string): void;
  /**
   * Call it with the last statements of the work: the commit is sent right after them without
   * waiting for their results, so locks are held for one round trip less. If a statement fails,
   * everything is rolled back and the transaction fails with that error. Later code cannot roll
   * back because of their results.
   * @returns the same promise; it settles when the transaction ends.
   */
  finish<T>(writes: Promise<T>): Promise<T>;
}

export interface Database extends Sql {
  /**
   * Runs `work` in one READ COMMITTED transaction and commits. Rolls back if it throws or returns
   * {@link Abandon}. Runs it again (at most {@link MAX_TRIES} times) after a deadlock, a
   * serialization failure, a unique violation or {@link RunAgain}, so `work` must have no effect
   * outside the database.
   * @throws DatabaseUnavailable if nothing was done. @throws CommitUnknown if it may have been
   * done.
   */
  transaction<T>(work: (tx: Tx) => Promise<T | Abandon<T>>): Promise<T>;
  /** Sets the carrier of transactions' hints; hints before it are lost. */
  carryHints(carry: (topic: string, key: string) => void): void;
  /** Opens a dedicated connection that bypasses any pooler (LISTEN, long-held advisory locks). */
  connect(): Promise<pg.Client>;
  /** A process's knowledge about the database behind its connections. */
  readonly watch: DatabaseWatch;
  /** The cell of this database. */
  readonly cell: number;
  /**
   * A standby, whose data lags by milliseconds: for displays and never for decisions. It is the
   * primary if there is no standby, or none that responds.
   */
  readonly standby: Sql;
  close(): Promise<void>;
}

/** Returned by a transaction's work to roll back and still return `value`. */
export class Abandon<T> {
  readonly value: T;

  constructor(value: T) {
    this.value = value;
  }
}

/**
 * Thrown by a transaction's work whose preconditions have changed: rolls back and runs the work
 * again, like a serialization failure.
 */
export class RunAgain extends Error {
  override name = 'RunAgain';
}

export { CommitUnknown, codeOf, DatabaseUnavailable } from '#db/database-faults.ts';

export interface DatabaseOptions {
  readonly url: string;
  /** Maximum number of connections of this process. Group commit keeps only a few of them busy. */
  readonly maxConnections: number;
  /** The address of a standby; null or undefined if there is none to read from. */
  readonly readUrl?: string | null;
  /** The address that bypasses a pooler in transaction mode; null or undefined if there is none. */
  readonly directUrl?: string | null;
  /** Default: the first cell. */
  readonly cell?: number;
}

const MAX_TRIES = 4;
/**
 * Maximum random pause before a retry, so that two conflicting transactions do not collide again.
 */
const MAX_RETRY_PAUSE_MS = 20;
/** After this long a caller gets a 503 instead of waiting for a connection. */
const CONNECT_TIMEOUT_MS = 5_000;

/** SQLSTATE: an earlier statement of the transaction has failed. */
const ABORTED = '25P02';
/**
 * SQLSTATEs of conflicts with another transaction. A unique violation despite a check means that
 * another transaction inserted the row since; a retry finds it.
 */
const MET_ANOTHER = new Set(['40P01', '40001', '23505']);
const FLUSHED = `
  select pg_current_wal_flush_lsn()::text as position,
    substr(pg_walfile_name(pg_current_wal_flush_lsn()), 1, 8) as timeline`;

/**
 * Notes the log's position, requested right after the commit in the same round trip: commits
 * acknowledged so far are on disk up to this position. (With commits that do not wait for the disk,
 * the position counts only once it is flushed.)
 */
async function notePosition(client: pg.PoolClient, watch: DatabaseWatch): Promise<void> {
  const { highest } = watch;
  try {
    const [place] = await run<LogPlace>(client, FLUSHED);
    if (place !== undefined) await notePlace(client, watch, { place, before: highest });
  } catch {
    // Ignore the error here: the commit reports its own result, and the connection reports the
    // fault.
  }
}

/** @param finishing The last statements, sent without waiting for their responses. */
async function commit(
  client: pg.PoolClient,
  watch: DatabaseWatch,
  finishing: readonly Promise<unknown>[],
): Promise<void> {
  let result: { readonly command: string };
  sendTogether(client);
  const committed = client.query('COMMIT');
  const noted = notePosition(client, watch);
  try {
    result = await committed;
  } catch (error) {
    throw commitUnknown('the connection broke while committing', error);
  } finally {
    await noted;
  }
  // If one of them failed, the transaction was rolled back, so report that error.
  await Promise.all(finishing);
  requireReplicated(client);
  requireCommitted(result);
}

/**
 * Sends the statements of a transaction. Statements after a failed one fail as well, and throw the
 * error of the first.
 */
function statementsOf(client: pg.PoolClient): Sql['query'] {
  let first: unknown = null;
  return async <Row>(text: string, values?: readonly unknown[]) => {
    sendTogether(client);
    try {
      return await run<Row>(client, text, values);
    } catch (error) {
      first ??= error;
      throw codeOf(error) === ABORTED ? first : error;
    }
  };
}

async function attempt<T>(source: Source, work: (tx: Tx) => Promise<T | Abandon<T>>): Promise<T> {
  const client = await checkout(source);
  let broken: Error | undefined;
  let isOpen = true;
  try {
    // BEGIN is not awaited: the connection is pipelined, so BEGIN is sent with the first statement.
    sendTogether(client);
    const begun = client.query('BEGIN').catch((error) => {
      throw toFault(error);
    });
    begun.catch(() => {});
    const committed: (() => void)[] = [];
    const hints = new Map<string, readonly [topic: string, key: string]>();
    const finishing: Promise<unknown>[] = [];
    const query = statementsOf(client);
    const tx: Tx = {
      inTransaction: true,
      watch: source.watch,
      cell: source.cell,
      onCommit: (run) => {
        committed.push(run);
      },
      hint: (topic, key) => {
        hints.set(`${topic} ${key}`, [topic, key]);
      },
      finish: (writes) => {
        writes.catch(() => {});
        finishing.push(writes);
        return writes;
      },
      // If statements are sent together, one may fail while the code after another sends a next
      // step. After our rollback that step would be committed on its own, so refuse it.
      query: async (text, values) => {
        assert(isOpen, 'a statement was sent after the end of its transaction');
        return query(text, values);
      },
    };
    const result = await work(tx);
    isOpen = false;
    if (result instanceof Abandon) {
      broken = await rollBack(client, null);
      return result.value;
    }
    await begun;
    await commit(client, source.watch, finishing);
    for (const tell of committed) tell();
    for (const hint of hints.values()) source.carryHint(...hint);
    return result;
  } catch (error) {
    isOpen = false;
    broken = await rollBack(client, error);
    throw error;
  } finally {
    client.release(broken);
  }
}

/** Ends the transaction without its writes; closes a connection that cannot do that. */
async function rollBack(client: pg.PoolClient, cause: unknown): Promise<Error | undefined> {
  if (cause instanceof CommitUnknown || cause instanceof DatabaseUnavailable) return cause;
  try {
    await client.query('ROLLBACK');
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error('rollback failed', { cause: error });
  }
}

/** True if another transaction interfered, and this one was rolled back. */
export function isConflict(error: unknown): boolean {
  return error instanceof RunAgain || MET_ANOTHER.has(codeOf(error));
}

async function persist<T>(source: Source, work: (tx: Tx) => Promise<T | Abandon<T>>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt(source, work);
    } catch (error) {
      if (!isConflict(error) || tries === MAX_TRIES) throw error;
      await sleep(Math.random() * MAX_RETRY_PAUSE_MS * tries);
    }
  }
}

export function openDatabase(options: DatabaseOptions): Database {
  const directUrl = options.directUrl ?? options.url;
  const settings = {
    connectionString: options.url,
    types: typeParsers(),
    application_name: 'tapline',
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  };
  const watch = new DatabaseWatch();
  const pool = new pg.Pool({
    ...settings,
    max: options.maxConnections,
    options: connectOptions(SESSION_SETTINGS),
    pipeline: true,
    verify: (client: pg.PoolClient, done: (error?: unknown) => void) => {
      look(client, watch).then(() => done(), done);
    },
  } as pg.PoolConfig);
  // An idle connection that breaks is replaced at the next use; without a listener its error would
  // end the process.
  pool.on('error', () => {});
  // An error on a checked-out connection would also end the process. Its statements fail anyway.
  pool.on('connect', (client) => {
    client.on('error', () => watch.broke());
    hearWarnings(client);
  });
  const cell = options.cell ?? FIRST_CELL;
  const source: Source = { pool, watch, cell, carryHint: () => {} };
  const primary: Sql = { query: (text, values) => run(pool, text, values) };
  const standby = openStandby({ url: options.readUrl ?? null, primary });
  return {
    watch,
    cell,
    ...primary,
    standby,
    transaction: (work) => persist(source, work),
    carryHints: (carry) => {
      source.carryHint = carry;
    },
    connect: async () => {
      const client = new pg.Client({ ...settings, connectionString: directUrl });
      client.on('error', () => {});
      await client.connect().catch((error: unknown) => {
        throw toFault(error);
      });
      return client;
    },
    close: async () => {
      await Promise.all([pool.end(), standby.close()]);
    },
  };
}

/** Connections for lists, exports and statistics, which a few people use at a time. */
const STANDBY_CONNECTIONS = 5;
/** A short time-out, so that an unreachable standby delays a reader once, not at each statement. */
const STANDBY_CONNECT_TIMEOUT_MS = 1_000;
const STANDBY_AWAY_MS = 5_000;

interface Standby extends Sql {
  close(): Promise<void>;
}

/**
 * Reads from a standby. On any error there (it is unreachable, cancels a query that blocks its
 * replay, or lacks a new table) the primary runs the query instead.
 */
function openStandby(servers: { readonly url: string | null; readonly primary: Sql }): Standby {
  const { url, primary } = servers;
  if (url === null) return { query: primary.query, close: async () => {} };
  const pool = new pg.Pool({
    connectionString: url,
    types: typeParsers(),
    application_name: 'tapline reads',
    keepAlive: true,
    connectionTimeoutMillis: STANDBY_CONNECT_TIMEOUT_MS,
    max: STANDBY_CONNECTIONS,
    options: connectOptions({ ...SESSION_SETTINGS, default_transaction_read_only: 'on' }),
  });
  pool.on('error', () => {});
  let awayUntil = 0;
  return {
    query: async <Row>(text: string, values: readonly unknown[] = []) => {
      if (performance.now() < awayUntil) return primary.query<Row>(text, values);
      try {
        return (await pool.query({ text, values: values as unknown[] })).rows as Row[];
      } catch {
        awayUntil = performance.now() + STANDBY_AWAY_MS;
        return primary.query<Row>(text, values);
      }
    },
    close: () => pool.end(),
  };
}
