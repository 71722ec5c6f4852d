import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { assert } from '#core/assert.ts';
import { FIRST_CELL } from '#core/cell-digit.ts';
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
import {
  checkout,
  type LogPlace,
  look,
  notePlace,
  run,
  type Source,
  sendTogether,
} from '#db/pooled-connections.ts';
import { connectOptions, SESSION_SETTINGS } from '#db/session-settings.ts';
import { typeParsers } from '#db/type-parsers.ts';

/** Runs SQL, either on the pool (each statement in its own transaction) or in one transaction. */
export interface Sql {
  /**
   * Runs one statement, prepared under a name that depends on its text. Pass values only as
   * parameters, never in the text.
   */
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

/** An open transaction. Statements of a use case take it as their first parameter. */
export interface Tx extends Sql {
  readonly inTransaction: true;
  /**
   * The cell of this database. Ids of objects that may be used in another cell contain its digit.
   */
  readonly cell: number;
  /** The tracker of the database to which this transaction is connected. */
  readonly watch: DatabaseWatch;
  /**
   * Registers a function to run once after the commit, but not after a rollback. It must not throw.
   */
  onCommit(run: () => void): void;
  /** Sends a hint to all processes after the commit. Repeated hints are sent only once. */
  hint(topic: string, key: string): void;
  /**
   * Call it with the last statements of the work. The commit is sent right after them, without
   * waiting for their results, so locks are held for one round trip less. If a statement fails,
   * everything is rolled back and the transaction fails with that error. Code that runs later
   * cannot roll back because of the results.
   * @returns the same promise. It settles when the transaction ends.
   */
  finish<T>(writes: Promise<T>): Promise<T>;
}

export interface Database extends Sql {
  /**
   * Runs `work` in one READ COMMITTED transaction and commits. Rolls back if it throws or returns
   * {@link Abandon}. Runs it again (at most {@link MAX_TRIES} times) after a deadlock, a
   * serialization failure, a unique violation or {@link RunAgain}, so `work` must have no effect
   * outside the database.
   * @throws DatabaseUnavailable if nothing was done
   * @throws CommitUnknown if it may have been done
   */
  transaction<T>(work: (tx: Tx) => Promise<T | Abandon<T>>): Promise<T>;
  /** Sets the function that sends transactions' hints. Hints sent before this call are lost. */
  carryHints(carry: (topic: string, key: string) => void): void;
  /**
   * Opens a connection of its own that bypasses any pooler, for LISTEN and long-held advisory
   * locks.
   */
  connect(): Promise<pg.Client>;
  /** The tracker of the database behind this process's connections. */
  readonly watch: DatabaseWatch;
  readonly cell: number;
  /**
   * A standby, whose data lags by milliseconds. For displays, never for decisions. Falls back to
   * the primary if there is no standby or if it does not respond.
   */
  readonly standby: Sql;
  close(): Promise<void>;
}

/** Returned by the work of a transaction to roll back but still return `value`. */
export class Abandon<T> {
  readonly value: T;

  constructor(value: T) {
    this.value = value;
  }
}

/**
 * Thrown by the work of a transaction if its preconditions have changed. The transaction is rolled
 * back and the work runs again, as after a serialization failure.
 */
export class RunAgain extends Error {
  override name = 'RunAgain';
}

export { CommitUnknown, codeOf, DatabaseUnavailable } from '#db/database-faults.ts';

export interface DatabaseOptions {
  readonly url: string;
  /** Maximum number of connections of this process. Group commit keeps only a few of them busy. */
  readonly maxConnections: number;
  /** The address of a standby to read from; null or undefined if there is none. */
  readonly readUrl?: string | null;
  /**
   * The address that bypasses a pooler in transaction mode; null or undefined if there is no
   * pooler.
   */
  readonly directUrl?: string | null;
  /** Default: the first cell. */
  readonly cell?: number;
}

const MAX_TRIES = 4;
/**
 * Maximum random pause before a retry, so that two transactions that conflicted do not conflict
 * again.
 */
const MAX_RETRY_PAUSE_MS = 20;
/** Time after which a request that waits for a connection gets a 503. */
const CONNECT_TIMEOUT_MS = 5_000;

/** SQLSTATE of statements that follow a failed one in a transaction. */
const ABORTED = '25P02';
/**
 * SQLSTATEs of conflicts with another transaction. If there is a unique violation despite a check,
 * another transaction has inserted the row in the meantime, and a retry finds it.
 */
const MET_ANOTHER = new Set(['40P01', '40001', '23505']);
const FLUSHED = `
  select pg_current_wal_flush_lsn()::text as position,
    substr(pg_walfile_name(pg_current_wal_flush_lsn()), 1, 8) as timeline`;

/**
 * Records the log's position, which is requested right after the commit in the same round trip:
 * acknowledged commits are on disk up to this position. (If commits do not wait for the disk, the
 * position only includes commits that were flushed.)
 */
async function notePosition(client: pg.PoolClient, watch: DatabaseWatch): Promise<void> {
  const { highest } = watch;
  try {
    const [row] = await run<LogPlace>(client, FLUSHED);
    if (row !== undefined) await notePlace(client, watch, { place: row, before: highest });
  } catch {
    // Ignore the error: the commit reports its own result, and the connection reports its fault.
  }
}

/** @param finishing the last statements, which were sent without waiting for their responses */
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
  // If one of the last statements failed, the transaction was rolled back, so throw its error.
  await Promise.all(finishing);
  requireReplicated(client);
  requireCommitted(result);
}

/**
 * Returns the function that sends a transaction's statements. After a failed statement, later ones
 * fail as well and throw the first one's error.
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
    // BEGIN is not awaited: the connection is pipelined, so it is sent together with the first
    // statement.
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
      // If one of several concurrent statements fails, code that waits for another one may still
      // send its next statement. After the rollback, that statement would commit on its own, so
      // refuse it.
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

/**
 * Rolls the transaction back.
 * @returns the reason to close the connection; undefined if it can be used again
 */
async function rollBack(client: pg.PoolClient, cause: unknown): Promise<Error | undefined> {
  if (cause instanceof CommitUnknown || cause instanceof DatabaseUnavailable) return cause;
  try {
    await client.query('ROLLBACK');
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error('rollback failed', { cause: error });
  }
}

/** True if the transaction was rolled back because of a conflict with another one. */
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
  // A broken idle connection is replaced when it is next needed. Without a listener, its error
  // would end the process.
  pool.on('error', () => {});
  // An error on a connection in use would end the process, too. Its statements fail anyway.
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

/**
 * Number of connections to the standby, for lists, exports and statistics, which only a few people
 * use at a time.
 */
const STANDBY_CONNECTIONS = 5;
/** Short, so that an unreachable standby delays one read a little rather than every read a lot. */
const STANDBY_CONNECT_TIMEOUT_MS = 1_000;
const STANDBY_AWAY_MS = 5_000;

interface Standby extends Sql {
  close(): Promise<void>;
}

/**
 * Reads from a standby. If that fails (it is unreachable, cancels a query that blocks its replay,
 * or lacks a new table), the primary runs the query instead.
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
