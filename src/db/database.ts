import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { assert } from '#core/assert.ts';
import { connectionWait } from '#core/meters.ts';
import {
  CommitUnknown,
  codeOf,
  commitUnknown,
  DatabaseUnavailable,
  hearWarnings,
  REFUSED,
  requireReplicated,
  toFault,
} from '#db/faults.ts';
import { openStandby } from '#db/standby.ts';
import { typeParsers } from '#db/type-parsers.ts';
import { DatabaseWatch, SIGHT, toSight, walPosition } from '#db/watch.ts';

/** Something that runs SQL: the pool (each statement its own transaction) or one transaction. */
export interface Sql {
  /** Runs one statement, prepared and named by its text. Parameters only, never spliced text. */
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

/** A transaction that is under way. Statements of a use case take it as their first parameter. */
export interface Tx extends Sql {
  readonly inTransaction: true;
  /** Ask it in the transaction: then this connection is the one that it speaks of. */
  readonly watch: DatabaseWatch;
  /** Calls it once, behind the commit; never if the work is rolled back. It must not throw. */
  onCommit(run: () => void): void;
  /** Behind the commit, and once only however often it was asked for: a hint to all processes. */
  hint(topic: string, key: string): void;
}

export interface Database extends Sql {
  /**
   * Runs `work` in one READ COMMITTED transaction and commits. Rolls back when it throws or
   * returns {@link Abandon}. Runs it again (at most {@link MAX_TRIES} times) after a deadlock, a
   * serialization failure or {@link RunAgain}, so `work` has no effect outside the database.
   * @throws DatabaseUnavailable nothing was done. @throws CommitUnknown it may have been done.
   */
  transaction<T>(work: (tx: Tx) => Promise<T | Abandon<T>>): Promise<T>;
  /** Statements that follow each other on one connection of the pool. */
  openPipeline(): Pipeline;
  /** Who carries the hints of transactions; before somebody does, they are lost. */
  carryHints(carry: (topic: string, key: string) => void): void;
  /** A connection of its own, past any pooler (LISTEN, advisory locks held for long). */
  connect(): Promise<pg.Client>;
  /** What this process knows of the database behind its connections. */
  readonly watch: DatabaseWatch;
  /**
   * A standby, for what people look at and nobody decides by: some milliseconds behind. The
   * database itself where there is no standby, or none that answers.
   */
  readonly standby: Sql;
  close(): Promise<void>;
}

/**
 * One statement after the other, each a transaction of its own, in the order in which they were
 * asked for. The next is sent before the one before it has answered, so the server never waits for
 * us between them.
 */
export interface Pipeline {
  readonly watch: DatabaseWatch;
  /**
   * A column `wal_position` is remembered as acknowledged.
   * @throws DatabaseUnavailable nothing was done. @throws CommitUnknown it may have been done.
   */
  run<Row>(text: string, values: readonly unknown[]): Promise<Row[]>;
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
  /** Of a standby; null or left out: there is none to read from. */
  readonly readUrl?: string | null;
  /** Past a pooler in transaction mode; null or left out: there is none. */
  readonly directUrl?: string | null;
}

const MAX_TRIES = 4;
/** Before another try, by chance: two that were in each other's way must not meet again at once. */
const MAX_RETRY_PAUSE_MS = 20;
/** A caller rather hears 503 than waits for a connection that does not come. */
const CONNECT_TIMEOUT_MS = 5_000;
/** Longer than any statement of ours; ends what a lost client left behind. */
const STATEMENT_TIMEOUT_MS = 25_000;
/** A transaction that idles holds back vacuum for every queue (measured: five-fold slower). */
const IDLE_IN_TRANSACTION_MS = 15_000;

/**
 * Plans are kept per connection, and one that was made while a table was tiny reads all of it for
 * as long as nothing replaces it: the keys of a new database were read from end to end by every
 * third batch. Each of our statements has an index, so a sequential scan is never the better plan
 * for long. (Without `jit`, because older servers take a scan that cannot be avoided for a costly
 * one, and compile it.)
 *
 * Arrays of the statements that are asked most are wrapped, `any((select $1::text[])::text[])`: a
 * short one would seem to be worth a plan of its own at every call, and planning took a fifth of
 * the database's time.
 */
const PLANNER = '-c enable_seqscan=off -c jit=off';

const DEADLOCK = '40P01';
const SERIALIZATION = '40001';
const statementNames = new Map<string, string>();

/** One prepared statement per text and connection: unnamed ones ran at 0.72 of the speed. */
function nameOf(text: string): string {
  const known = statementNames.get(text);
  if (known !== undefined) return known;
  const name = `s${createHash('sha256').update(text).digest('hex').slice(0, 24)}`;
  statementNames.set(text, name);
  return name;
}

async function run<Row>(
  client: pg.Pool | pg.ClientBase,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  try {
    const config = { name: nameOf(text), text, values: values as unknown[] };
    return (await client.query(config)).rows as Row[];
  } catch (error) {
    throw toFault(error);
  }
}

/** The pool, and what is known of the database behind it. */
interface Source {
  readonly pool: pg.Pool;
  readonly watch: DatabaseWatch;
  carryHint: (topic: string, key: string) => void;
}

/**
 * What was decided before the database turned out to be another one must not be written there:
 * statements that waited for a connection meanwhile fail, with nothing done.
 */
async function checkout({ pool, watch }: Source): Promise<pg.PoolClient> {
  const { changes } = watch;
  const asked = performance.now();
  let client: pg.PoolClient;
  try {
    client = await pool.connect();
    connectionWait.observe((performance.now() - asked) / 1000);
  } catch (error) {
    throw new DatabaseUnavailable('the database cannot be reached', { cause: error });
  }
  if (watch.changes === changes) return client;
  client.release();
  throw new DatabaseUnavailable('another database answers than before');
}

/** A server that cannot be written to is refused: it is a replica, and somebody else is primary. */
function isReplica(): Error {
  return Object.assign(new Error('the server is a replica'), { code: '57P03' });
}

/** Looks at what a new connection leads to, before anybody gets it. */
async function look(client: pg.PoolClient, watch: DatabaseWatch): Promise<void> {
  const { highest } = watch;
  const sight = toSight((await client.query(SIGHT)).rows[0]);
  if (sight === null) throw isReplica();
  watch.meet(sight, highest);
}

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
    const [row] = await run<{ position: string; timeline: string }>(client, FLUSHED);
    if (row === undefined) return;
    const position = walPosition(row.position);
    if (watch.isOther({ timeline: row.timeline, position }, highest)) await look(client, watch);
    else watch.note(position);
  } catch {
    // The commit has its own answer, and so has the connection.
  }
}

/** A statement that commits by itself says in its first row how far the log had come before it. */
function noteRow(row: unknown, watch: DatabaseWatch): void {
  if (typeof row !== 'object' || row === null || !('wal_position' in row)) return;
  watch.note(walPosition(String(row.wal_position)));
}

async function commit(client: pg.PoolClient, watch: DatabaseWatch): Promise<void> {
  let tag: string;
  const committed = client.query('COMMIT');
  const noted = notePosition(client, watch);
  try {
    tag = (await committed).command;
  } catch (error) {
    throw commitUnknown('the connection broke while committing', error);
  } finally {
    await noted;
  }
  requireReplicated(client);
  assert(tag === 'COMMIT', 'a statement failed unnoticed: the transaction was rolled back');
}

async function attempt<T>(source: Source, work: (tx: Tx) => Promise<T | Abandon<T>>): Promise<T> {
  const client = await checkout(source);
  let broken: Error | undefined;
  try {
    // Not awaited: the connection is pipelined, so BEGIN travels with the first statement.
    const begun = client.query('BEGIN').catch((error) => {
      throw toFault(error);
    });
    begun.catch(() => {});
    const committed: (() => void)[] = [];
    const hints = new Map<string, readonly [topic: string, key: string]>();
    const tx: Tx = {
      inTransaction: true,
      watch: source.watch,
      onCommit: (run) => {
        committed.push(run);
      },
      hint: (topic, key) => {
        hints.set(`${topic} ${key}`, [topic, key]);
      },
      query: (text, values) => run(client, text, values),
    };
    const result = await work(tx);
    if (result instanceof Abandon) {
      broken = await rollBack(client, null);
      return result.value;
    }
    await begun;
    await commit(client, source.watch);
    for (const tell of committed) tell();
    for (const hint of hints.values()) source.carryHint(...hint);
    return result;
  } catch (error) {
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

/** A connection that a pipeline has from the pool, and how many of its statements are under way. */
interface Taken {
  readonly client: Promise<pg.PoolClient>;
  underWay: number;
  broken?: Error;
}

function openPipeline(source: Source): Pipeline {
  let taken: Taken | null = null;
  const leave = async (from: Taken) => {
    from.underWay--;
    // After a break the next statement gets another connection.
    if (taken === from && (from.underWay === 0 || from.broken !== undefined)) taken = null;
    if (from.underWay === 0) (await from.client).release(from.broken);
  };
  return {
    watch: source.watch,
    run: async <Row>(text: string, values: readonly unknown[]) => {
      taken ??= { client: checkout(source), underWay: 0 };
      const on = taken;
      on.underWay++;
      const client = await on.client.catch((error) => {
        if (taken === on) taken = null;
        throw error;
      });
      try {
        const rows = await run<Row>(client, text, values);
        requireReplicated(client);
        noteRow(rows[0], source.watch);
        return rows;
      } catch (error) {
        if (error instanceof CommitUnknown) on.broken = error;
        if (!(error instanceof DatabaseUnavailable)) throw error;
        if (REFUSED.test(codeOf(error.cause))) {
          // Not to be used again: another connection may lead to the new primary.
          on.broken = error;
          throw error;
        }
        on.broken = commitUnknown('the connection broke in a statement', error);
        throw on.broken;
      } finally {
        await leave(on);
      }
    },
  };
}

/** Others were in the way, and the transaction was rolled back. */
export function isConflict(error: unknown): boolean {
  const code = codeOf(error);
  return error instanceof RunAgain || code === DEADLOCK || code === SERIALIZATION;
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
    statement_timeout: STATEMENT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    options: PLANNER,
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
  const source: Source = { pool, watch, carryHint: () => {} };
  const primary: Sql = { query: (text, values) => run(pool, text, values) };
  const standby = openStandby({ url: options.readUrl ?? null, primary });
  return {
    watch,
    ...primary,
    standby,
    transaction: (work) => persist(source, work),
    openPipeline: () => openPipeline(source),
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
