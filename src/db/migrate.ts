import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { StartError } from '#core/start-error.ts';
import { codeOf, type Database } from '#db/database.ts';
import { toFault } from '#db/database-faults.ts';
import { buildConcurrently, noteApplied, runBatched } from '#db/long-migrations.ts';
import { MIGRATIONS_FOLDER, type Migration, readMigrations } from '#db/migration-files.ts';

/**
 * Number of the advisory lock that prevents two processes from migrating at the same time. No other
 * lock uses it (test/tidy.test.ts checks this).
 */
const MIGRATION_LOCK = 7_218_344_190;
/**
 * Interval at which a waiting process checks whether it may migrate, or whether the process of the
 * tables' owner has finished migrating.
 */
const LOOK_MS = 500;

/** Time limits of a migration: for waiting for locks, and for its statements. */
interface MigrationLimits {
  readonly lockMs: number;
  readonly statementMs: number;
  readonly tries: number;
  readonly pauseMs: number;
}

export interface MigrateOptions {
  readonly folder?: string;
  readonly limits?: MigrationLimits;
  /** Called once for each thing that the start must wait for. */
  readonly tell?: (line: string) => void;
  /** Aborts the wait when the process must end. */
  readonly ends?: AbortSignal;
}

/**
 * Limits of a migration. A statement that waits for a table's lock makes all later ones wait, even
 * plain reads. So a migration gives up after a moment, lets the others pass, and tries again. A
 * statement must finish within the database time-out of a request. A slower migration declares in
 * its head how it avoids blocking (CONTRIBUTING.md, "A migration").
 */
const LIMITS: MigrationLimits = { lockMs: 200, statementMs: 20_000, tries: 60, pauseMs: 1_000 };

/** SQLSTATEs after which a retry may succeed: lock time-out, deadlock, and statement time-out. */
const MAY_WORK_LATER = new Set(['55P03', '40P01', '57014']);
/**
 * SQLSTATE of a statement time-out. A slow statement takes as long on every try, so it gets only a
 * few tries, rather than blocking writes for a minute.
 */
const SLOW = '57014';
const SLOW_TRIES = 3;

function gaveUp(work: string, tries: number, code: string): StartError {
  const advice =
    code === SLOW
      ? 'a statement took longer than its limit: the table is too large for it, so the file ' +
        'needs the head "-- concurrently" or "-- batched" (CONTRIBUTING.md)'
      : 'end the transactions that hold its tables (pg_stat_activity), then start again';
  return new StartError(`${work} gave up after ${tries} tries (SQLSTATE ${code}): ${advice}`);
}

/**
 * Runs `work` again until it gets its locks. The pauses are random, so that it does not collide
 * with a periodic job every time.
 * @param name names the work in errors
 */
async function tryAgain<T>(
  name: string,
  limits: MigrationLimits,
  work: () => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      const code = codeOf(error);
      if (!MAY_WORK_LATER.has(code)) {
        throw new Error(`${name} failed`, { cause: error });
      }
      const most = code === SLOW ? Math.min(SLOW_TRIES, limits.tries) : limits.tries;
      if (tries >= most) throw gaveUp(name, tries, code);
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
  const name = `migration ${migration.name}`;
  const inTransaction = <T>(work: () => Promise<T>) =>
    tryAgain(name, limits, () => transact(client, limits, work));
  switch (migration.kind) {
    case 'concurrently':
      return tryAgain(name, limits, () => buildConcurrently(client, migration));
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
 * True if the table of migrations exists. Creating it unconditionally would fail for a role that
 * may not create tables, even if there is nothing to migrate.
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
      applied timestamptz(3) not null default now(),
      sum text
    )`);
}

/** True if a build without sums created the table, or has applied migrations of this release. */
async function lacksSums(client: pg.Client, all: readonly Migration[]): Promise<boolean> {
  const { rows } = await client.query<{ lacks: boolean }>(
    `select not exists (
       select from pg_attribute where attrelid = to_regclass('migrations') and attname = 'sum'
     ) or exists (
       select from migrations m where name = any($1) and to_jsonb(m) ->> 'sum' is null
     ) as lacks`,
    [all.map(({ name }) => name)],
  );
  return rows[0]?.lacks === true;
}

/**
 * Stores the sums of applied migrations beside their digests. The digests stay, because a process
 * of the build that wrote them compares them when it restarts.
 */
async function storeSums(client: pg.Client, all: readonly Migration[]): Promise<void> {
  await client.query('alter table migrations add column if not exists sum text');
  await client.query(
    `update migrations m set sum = given.sum
     from unnest($1::text[], $2::text[]) as given (name, sum)
     where m.name = given.name and m.sum is null`,
    [all.map(({ name }) => name), all.map(({ sum }) => sum)],
  );
}

/** Brings the table of migrations up to date, before migrations are recorded in it. */
async function prepareTable(
  client: pg.Client,
  all: readonly Migration[],
  limits: MigrationLimits,
): Promise<void> {
  if (!(await hasTable(client))) return createTable(client);
  if (!(await lacksSums(client, all))) return;
  await tryAgain('storing the sums of migrations', limits, () =>
    transact(client, limits, () => storeSums(client, all)),
  );
}

/**
 * Checks that the database has the first release's baseline.
 * @throws StartError if a build from before the first release created the database
 */
function requireBaseline(all: readonly Migration[], applied: ReadonlyMap<string, unknown>): void {
  const baseline = all.find(({ isBaseline }) => isBaseline);
  if (baseline === undefined || applied.size === 0 || applied.has(baseline.name)) return;
  const newest = [...applied.keys()].sort().at(-1);
  throw new StartError(
    'a build from before the first release created this database (newest migration: ' +
      `${newest}), and this release cannot upgrade it: keep that build for its refunds and ` +
      'withdrawals, and start this one with a new data folder or an empty database ' +
      '(docs/guides/upgrading.md)',
  );
}

interface Applied {
  readonly name: string;
  readonly digest: string;
  /** `null` if a build without sums applied it, and no later one has stored its sum. */
  readonly sum: string | null;
}

function isUnchanged(migration: Migration, { digest, sum }: Applied): boolean {
  if (sum !== null) return sum === migration.sum;
  return digest === migration.digest || digest === migration.sum;
}

/**
 * Returns the migrations that were not applied yet.
 * @throws StartError if an applied file was changed later, or if the database is too old
 */
async function findPending(client: pg.Client, all: readonly Migration[]): Promise<Migration[]> {
  if (!(await hasTable(client))) return [...all];
  const { rows } = await client.query<Applied>(
    `select name, digest, to_jsonb(m) ->> 'sum' as sum from migrations m`,
  );
  const done = new Map(rows.map((row) => [row.name, row]));
  requireBaseline(all, done);
  return all.filter((migration) => {
    const row = done.get(migration.name);
    if (row === undefined) return true;
    if (isUnchanged(migration, row)) return false;
    throw new StartError(
      `migration ${migration.name} was changed after it had been applied: ` +
        'restore the file, or start with a fresh data folder or database',
    );
  });
}

/** True if this role owns the tables or, in an empty database, may create them. */
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
 * Tries to take the lock without waiting. A statement that waits would hold a snapshot, and a
 * concurrent index build waits for every older snapshot.
 */
async function isOurTurn(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ got: boolean }>('select pg_try_advisory_lock($1) as got', [
    MIGRATION_LOCK,
  ]);
  return rows[0]?.got === true;
}

/** SQLSTATE if the role may not read the table yet. Its grants come after the first migrations. */
const NOT_GRANTED = '42501';

/** Returns the migrations that were not applied yet; null if this role may not read them. */
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
 * Returns a table or sequence that this role may not use yet; null if there is none. The grants are
 * several statements, so a role may be able to read some tables before it may use all of them.
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
 * Waits until no other process migrates. Returns the migrations to apply; `null` if there is
 * nothing to do, such as when another process has applied them. An empty list: only sums of applied
 * migrations are missing. No start waits for those, because the digests suffice.
 */
async function waitForTurn(
  client: pg.Client,
  all: readonly Migration[],
  { tell, ends }: { readonly tell: (line: string) => void; readonly ends?: AbortSignal },
): Promise<readonly Migration[] | null> {
  let told = '';
  for (;;) {
    const pending = await lookForPending(client, all);
    const [next] = pending ?? [];
    const isDone = pending !== null && next === undefined;
    const may = await mayMigrate(client);
    const ungranted = isDone && !may ? await findUngranted(client) : null;
    if (isDone && ungranted === null) {
      return may && (await lacksSums(client, all)) && (await isOurTurn(client)) ? [] : null;
    }
    if (may && (await isOurTurn(client))) return findPending(client, all);
    const why = waitsFor(next, { may, ungranted: ungranted ?? 'migrations' });
    if (why !== told) tell(why);
    told = why;
    await sleep(LOOK_MS, undefined, { signal: ends });
  }
}

/**
 * Describes what a start waits for.
 * @param next the next migration; undefined if only grants are missing
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
 * For a process that may not migrate: checks that the schema is up to date.
 * @throws StartError if the database does not have this program's schema
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
 * Migrates the database to the newest schema, never backward. An interrupted migration continues at
 * the next start. If two processes start, one migrates and the other waits, as does a role that
 * does not own the tables.
 * @returns the names of the migrations that it applied
 * @throws StartError if an applied file was changed later, if the database is from before the first
 * release, or if a migration never got its locks; DatabaseUnavailable if the connection is lost
 */
export async function migrate(db: Database, options: MigrateOptions = {}): Promise<string[]> {
  const { folder = MIGRATIONS_FOLDER, limits = LIMITS, tell = () => {}, ends } = options;
  const all = await readMigrations(folder);
  const client = await connect(db);
  try {
    const pending = await waitForTurn(client, all, { tell, ...(ends && { ends }) });
    if (pending === null) return [];
    await prepareTable(client, all, limits);
    for (const migration of pending) await applyMigration(client, migration, limits);
    return pending.map(({ name }) => name);
  } catch (error) {
    throw toFault(error);
  } finally {
    await client.end();
  }
}
