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
} from '#db/faults.ts';
import { connectOptions, SESSION_SETTINGS } from '#db/session-settings.ts';
import { typeParsers } from '#db/type-parsers.ts';
import { DatabaseWatch } from '#db/watch.ts';

/** Something that runs SQL: the pool (each statement its own transaction) or one transaction. */
export interface Sql {
  /** Runs one statement, prepared and named by its text. Parameters only, never spliced text. */
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

/** A transaction that is under way. Statements of a use case take it as their first parameter. */
export interface Tx extends Sql {
  readonly inTransaction: true;
  /** The cell of this database: what is made in it and may come to another cell names it. */
  readonly cell: number;
  /** Ask it in the transaction: then this connection is the one that it speaks of. */
  readonly watch: DatabaseWatch;
  /** Calls it once, behind the commit; never if the work is rolled back. It must not throw. */
  onCommit(run: () => void): void;
  /** Behind the commit, and once only however often it was asked for: a hint to all processes. */
  hint(topic: string, key: string): void;
  /**
   * For the last statements of the work: the commit is sent right behind them and does not wait for
   * their answers, so locks are held for a round trip less. If one fails, nothing was done, and the
   * transaction fails with its reason. What only looks at their answers is too late to undo them.
   * @returns the same promise; it has ended when the transaction has.
   */
  finish<T>(writes: Promise<T>): Promise<T>;
}

export interface Database extends Sql {
  /**
   * Runs `work` in one READ COMMITTED transaction and commits. Rolls back when it throws or
   * returns {@link Abandon}. Runs it again (at most {@link MAX_TRIES} times) after a deadlock, a
   * serialization failure, a unique violation or {@link RunAgain}, so `work` has no effect outside
   * the database.
   * @throws DatabaseUnavailable nothing was done. @throws CommitUnknown it may have been done.
   */
  transaction<T>(work: (tx: Tx) => Promise<T | Abandon<T>>): Promise<T>;
  /** Who carries the hints of transactions; before somebody does, they are lost. */
  carryHints(carry: (topic: string, key: string) => void): void;
  /** A connection of its own, past any pooler (LISTEN, advisory locks held for long). */
  connect(): Promise<pg.Client>;
  /** What this process knows of the database behind its connections. */
  readonly watch: DatabaseWatch;
  /** The cell of this database. */
  readonly cell: number;
  /**
   * A standby, for what people look at and nobody decides by: some milliseconds behind. The
   * database itself where there is no standby, or none that answers.
   */
  readonly standby: Sql;
  close(): Promise<void>;
}

/** Returned by a transaction's work to roll back and still answer with `value`. */
export class Abandon<T> {
  readonly value: T;

  constructor(value: T) {
    this.value = value;
  }
}

/**
 * Thrown by a transaction's work that has found the ground moved under it: rolls back and runs the
 * work again, like a serialization failure.
 */
export class RunAgain extends Error {
  override name = 'RunAgain';
}

export { CommitUnknown, codeOf, DatabaseUnavailable } from '#db/faults.ts';

export interface DatabaseOptions {
  readonly url: string;
  /** Connections of this process. Group commit keeps few of them busy. */
  readonly maxConnections: number;
  /** Where a standby is; null or left out: there is none to read from. */
  readonly readUrl?: string | null;
  /** Past a pooler in transaction mode; null or left out: there is none. */
  readonly directUrl?: string | null;
  /** Left out: the first one. */
  readonly cell?: number;
}

const MAX_TRIES = 4;
/** Before another try, by chance: two that were in each other's way must not meet again at once. */
const MAX_RETRY_PAUSE_MS = 20;
/** A caller rather hears 503 than waits for a connection that does not come. */
const CONNECT_TIMEOUT_MS = 5_000;

/** SQLSTATE: a statement before this one has failed. */
const ABORTED = '25P02';
/**
 * SQLSTATEs of a transaction that met another one. What was checked and is there all the same
 * (a unique violation) was written by somebody since: the next try finds it.
 */
const MET_ANOTHER = new Set(['40P01', '40001', '23505']);
const FLUSHED = `
  select pg_current_wal_flush_lsn()::text as position,
    substr(pg_walfile_name(pg_current_wal_flush_lsn()), 1, 8) as timeline`;

/**
 * Right behind the commit, in the same round trip: what was acknowledged to us is on disk up to
 * here. (Without waiting for the disk, a commit is not counted before it is there.)
 */
async function notePosition(client: pg.PoolClient, watch: DatabaseWatch): Promise<void> {
  const { highest } = watch;
  try {
    const [place] = await run<LogPlace>(client, FLUSHED);
    if (place !== undefined) await notePlace(client, watch, { place, before: highest });
  } catch {
    // The commit has its own answer, and so has the connection.
  }
}

/** @param finishing What was sent right before, without waiting for its answer. */
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
  // It was rolled back if one of them failed.
  await Promise.all(finishing);
  requireReplicated(client);
  requireCommitted(result);
}

/**
 * Sends the statements of a transaction. What follows a statement that failed fails as well, and
 * throws the reason of the first.
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
    // Not awaited: the connection is pipelined, so BEGIN travels with the first statement.
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
      // Of statements that are sent together, one may fail while another has a next step: behind
      // our rollback that would stay written.
      query: async (text, values) => {
        assert(isOpen, 'a statement came after the end of its transaction');
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

/** Ends the transaction without its writes; a connection that cannot do that is thrown away. */
async function rollBack(client: pg.PoolClient, cause: unknown): Promise<Error | undefined> {
  if (cause instanceof CommitUnknown || cause instanceof DatabaseUnavailable) return cause;
  try {
    await client.query('ROLLBACK');
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error('rollback failed', { cause: error });
  }
}

/** Others were in the way, and the transaction was rolled back. */
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
  // An idle connection that breaks is replaced at the next use; without a listener it would
  // end the process.
  pool.on('error', () => {});
  // So would one that breaks while it is checked out: its statements fail, and that is enough.
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
      await client.connect();
      return client;
    },
    close: async () => {
      await Promise.all([pool.end(), standby.close()]);
    },
  };
}

/** Lists, exports and statistics: a few people at a time. */
const STANDBY_CONNECTIONS = 5;
/** A standby that is away costs a reader this once, not at each statement. */
const STANDBY_CONNECT_TIMEOUT_MS = 1_000;
const STANDBY_AWAY_MS = 5_000;

interface Standby extends Sql {
  close(): Promise<void>;
}

/**
 * Reads from a standby. Whatever goes wrong there (it is away, it ends a query that holds its
 * replay up, it lacks a table that was just made) the primary answers instead.
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
