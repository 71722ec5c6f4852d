import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { StartError } from '#core/start-error.ts';
import { codeOf, type Database } from '#db/database.ts';
import { toFault } from '#db/database-faults.ts';
import { buildConcurrently, noteApplied, runBatched } from '#db/long-migrations.ts';
import { MIGRATIONS_FOLDER, type Migration, readMigrations } from '#db/migration-files.ts';

/**
 * Two simultaneous starts must not migrate together. No other lock has this number
 * (test/tidy.test.ts).
 */
const MIGRATION_LOCK = 7_218_344_190;
/** How often a start checks if it is its turn to migrate, or if the owner's role has finished. */
const LOOK_MS = 500;

/** How long a migration may wait for locks, and how long its statements may run. */
interface MigrationLimits {
  readonly lockMs: number;
  readonly statementMs: number;
  readonly tries: number;
  readonly pauseMs: number;
}

export interface MigrateOptions {
  readonly folder?: string;
  readonly limits?: MigrationLimits;
  /** Called once with each thing that a start waits for. */
  readonly tell?: (line: string) => void;
  /** Aborts when the process is to end, which ends the wait. */
  readonly ends?: AbortSignal;
}

/**
 * Limits of a migration. A statement that waits for a table lock makes all later ones wait, even
 * plain reads. So a migration gives up after a moment, lets the others pass, and retries. A
 * statement must finish within the request's database time-out. A slower one declares in its head
 * how it avoids blocking (CONTRIBUTING.md, "A migration").
 */
const LIMITS: MigrationLimits = { lockMs: 200, statementMs: 20_000, tries: 60, pauseMs: 1_000 };

/** Faults after which a retry may succeed: lock time-out, deadlock, or statement time-out. */
const MAY_WORK_LATER = new Set(['55P03', '40P01', '57014']);
/**
 * A slow statement takes as long on every try, so it gets only a few tries instead of blocking
 * writes for a minute.
 */
const SLOW = '57014';
const SLOW_TRIES = 3;

function gaveUp({ name }: Migration, tries: number, code: string): StartError {
  const advice =
    code === SLOW
      ? 'a statement took longer than its limit: the table is too large for it, so the file ' +
        'needs the head "-- concurrently" or "-- batched" (CONTRIBUTING.md)'
      : 'end the transactions that hold its tables (pg_stat_activity), then start again';
  return new StartError(
    `migration ${name} gave up after ${tries} tries (SQLSTATE ${code}): ${advice}`,
  );
}

/**
 * Runs `work` until it gets its locks, with random pauses, so that it does not meet a periodic job
 * every time.
 */
async function tryAgain<T>(
  migration: Migration,
  limits: MigrationLimits,
  work: () => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      const code = codeOf(error);
      if (!MAY_WORK_LATER.has(code)) {
        throw new Error(`migration ${migration.name} failed`, { cause: error });
      }
      const most = code === SLOW ? Math.min(SLOW_TRIES, limits.tries) : limits.tries;
      if (tries >= most) throw gaveUp(migration, tries, code);
      await sleep(limits.pauseMs * (0.5 + Math.random()));
    }
  }
}

async function transact<T>(
  client: pg.Client,
  { lockMs, statementMs }: MigrationLimits,
  work: () => Promise<T>,
): Promise<T> {
  await client.query('begin');
  try {
    await client.query(
      `set local lock_timeout = ${lockMs}; set local statement_timeout = ${statementMs}`,
    );
    const result = await work();
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}

async function applyMigration(
  client: pg.Client,
  migration: Migration,
  limits: MigrationLimits,
): Promise<void> {
  const inTransaction = <T>(work: () => Promise<T>) =>
    tryAgain(migration, limits, () => transact(client, limits, work));
  switch (migration.kind) {
    case 'concurrently':
      return tryAgain(migration, limits, () => buildConcurrently(client, migration));
    case 'batched':
      return runBatched(client, migration, inTransaction);
    case 'at_once':
      return inTransaction(async () => {
        await client.query(migration.text);
        await noteApplied(client, migration);
      });
  }
}

/**
 * True if the table exists. Checked before creating it, so that a role that may not create tables
 * can still find nothing to do.
 */
async function hasTable(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ found: boolean }>(
    `select to_regclass('migrations') is not null as found`,
  );
  return rows[0]?.found === true;
}

async function createTable(client: pg.Client): Promise<void> {
  await client.query(`
    create table migrations (
      name text collate "C" primary key,
      digest text not null,
      applied timestamptz(3) not null default now()
    )`);
}

/**
 * Checks the baseline.
 * @throws StartError if a build from before the first release created the database.
 */
function requireBaseline(all: readonly Migration[], applied: ReadonlyMap<string, string>): void {
  const baseline = all.find(({ isBaseline }) => isBaseline);
  if (baseline === undefined || applied.size === 0 || applied.has(baseline.name)) return;
  const newest = [...applied.keys()].sort().at(-1);
  throw new StartError(
    'a build from before the first release made this database (its newest migration is ' +
      `${newest}), and there is no upgrade from it: keep that build for its refunds and ` +
      'withdrawals, and start this one with a new data folder or an empty database ' +
      '(docs/guides/upgrading.md)',
  );
}

/**
 * Returns the pending migrations.
 * @throws StartError if an applied file was changed later, or the database is too old.
 */
async function findPending(client: pg.Client, all: readonly Migration[]): Promise<Migration[]> {
  if (!(await hasTable(client))) return [...all];
  const { rows } = await client.query<{ name: string; digest: string }>(
    'select name, digest from migrations',
  );
  const done = new Map(rows.map((row) => [row.name, row.digest]));
  requireBaseline(all, done);
  return all.filter((migration) => {
    const digest = done.get(migration.name);
    if (digest === undefined) return true;
    if (digest === migration.digest) return false;
    throw new StartError(
      `migration ${migration.name} was changed after it had been applied: ` +
        'restore the file, or start with a fresh data folder or database',
    );
  });
}

/** True if this role owns the tables, or may create the first of them. */
async function mayMigrate(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ may: boolean }>(`
    select coalesce(
      (select pg_has_role(relowner, 'usage') from pg_class
        where oid = to_regclass('migrations')),
      has_schema_privilege(current_schema(), 'create')
    ) as may`);
  return rows[0]?.may === true;
}

/**
 * Tries to take the session lock, by polling: a statement that waits for it would hold a snapshot,
 * and a concurrent index build waits for every older snapshot.
 */
async function isOurTurn(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ got: boolean }>('select pg_try_advisory_lock($1) as got', [
    MIGRATION_LOCK,
  ]);
  return rows[0]?.got === true;
}

/** SQLSTATE if the role may not read the table yet: its grants follow the first migrations. */
const NOT_GRANTED = '42501';

/** Returns the pending migrations; null if the role of this start may not read them. */
async function lookForPending(
  client: pg.Client,
  all: readonly Migration[],
): Promise<Migration[] | null> {
  try {
    return await findPending(client, all);
  } catch (error) {
    if (codeOf(error) === NOT_GRANTED) return null;
    throw error;
  }
}

/**
 * Returns a table or sequence of the owner that this role may not use yet; null if there is none.
 * The grants are several statements, so a role may read some tables before it may use all of them.
 */
async function findUngranted(client: pg.Client): Promise<string | null> {
  const { rows } = await client.query<{ name: string }>(`
    select c.relname as name
    from pg_class c join pg_class m on m.oid = to_regclass('migrations')
      and c.relnamespace = m.relnamespace and c.relowner = m.relowner
    where not c.relispartition and case c.relkind
      when 'r' then not has_table_privilege(c.oid, 'select')
      when 'p' then not has_table_privilege(c.oid, 'select')
      when 'S' then not has_sequence_privilege(c.oid, 'usage') end
    limit 1`);
  return rows[0]?.name ?? null;
}

/**
 * Waits until no other process migrates, and returns the pending migrations; empty if another start
 * or role has applied them.
 */
async function waitForTurn(
  client: pg.Client,
  all: readonly Migration[],
  { tell, ends }: { readonly tell: (line: string) => void; readonly ends?: AbortSignal },
): Promise<readonly Migration[]> {
  let told = '';
  for (;;) {
    const pending = await lookForPending(client, all);
    const [next] = pending ?? [];
    const isDone = pending !== null && next === undefined;
    const may = await mayMigrate(client);
    const ungranted = isDone && !may ? await findUngranted(client) : null;
    if (isDone && ungranted === null) return [];
    if (may && (await isOurTurn(client))) return findPending(client, all);
    const why = waitsFor(next, { may, ungranted: ungranted ?? 'migrations' });
    if (why !== told) tell(why);
    told = why;
    await sleep(LOOK_MS, undefined, { signal: ends });
  }
}

/**
 * Describes the condition that a start waits for.
 * @param next undefined if no migration is pending as far as this role may read, but grants are
 * missing.
 */
function waitsFor(
  next: Migration | undefined,
  { may, ungranted }: { readonly may: boolean; readonly ungranted: string },
): string {
  if (next === undefined) {
    return (
      `waiting for the grants of this role (it may not use "${ungranted}"): ` +
      'the owner gives them (docs/operate.md, section 3)'
    );
  }
  const who = may ? 'another process applies it' : 'run "npm run migrate" as its owner';
  return `waiting for the database's migration ${next.name}: ${who}`;
}

/**
 * Called by a process that may not migrate.
 * @throws StartError if the database does not have this program's schema.
 */
export async function requireMigrated(db: Database): Promise<void> {
  const all = await readMigrations(MIGRATIONS_FOLDER);
  const client = await connect(db);
  try {
    const [next] = await findPending(client, all);
    if (next === undefined) return;
    throw new StartError(
      `the database lacks the migration ${next.name}: ` +
        'start a worker first, or run "npm run migrate"',
    );
  } catch (error) {
    throw toFault(error);
  } finally {
    await client.end();
  }
}

async function connect(db: Database): Promise<pg.Client> {
  return db.connect().catch((error) => {
    throw toFault(error);
  });
}

/**
 * Migrates the database to the newest schema, forward only. An interrupted migration continues at
 * the next start. Of two starts one migrates; the other waits, and so does a role that does not own
 * the tables.
 * @returns the names applied now.
 * @throws StartError if an applied file was changed later, if the database is from before the first
 * release, or if a file never got its locks; DatabaseUnavailable if the database is lost meanwhile.
 */
export async function migrate(db: Database, options: MigrateOptions = {}): Promise<string[]> {
  const { folder = MIGRATIONS_FOLDER, limits = LIMITS, tell = () => {}, ends } = options;
  const all = await readMigrations(folder);
  const client = await connect(db);
  try {
    const pending = await waitForTurn(client, all, { tell, ...(ends && { ends }) });
    if (pending.length > 0 && !(await hasTable(client))) await createTable(client);
    for (const migration of pending) await applyMigration(client, migration, limits);
    return pending.map(({ name }) => name);
  } catch (error) {
    throw toFault(error);
  } finally {
    await client.end();
  }
}
