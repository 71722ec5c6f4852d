import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Migration } from '#db/migration-files.ts';
import { withoutComments } from '#db/sql-comments.ts';

/** Migrations that may run for hours, because they do not block requests. */

const INDEX = /^create (?:unique )?index concurrently if not exists (\w+)\s+on (\w+)\s/i;
/**
 * Minimum pause between two batches of a backfill. The pause is at least as long as the last batch
 * took, to leave half of the disk's capacity to others.
 */
const LEAST_REST_MS = 20;

export async function noteApplied(client: pg.Client, migration: Migration): Promise<void> {
  await client.query('insert into migrations (name, digest, sum) values ($1, $2, $3)', [
    migration.name,
    migration.digest,
    migration.sum,
  ]);
}

/**
 * Drops an index that an interrupted build left invalid. Such an index slows down every write and
 * serves no read.
 */
async function dropInvalid(client: pg.Client, index: string): Promise<void> {
  const { rows } = await client.query<{ found: boolean }>(
    `select exists (
       select from pg_index where indexrelid = to_regclass($1) and not indisvalid
     ) as found`,
    [index],
  );
  if (rows[0]?.found === true) await client.query(`drop index concurrently ${index}`);
}

interface NewIndex {
  readonly name: string;
  readonly table: string;
  readonly statement: string;
}

/** Parses the statements of a file that builds indexes. */
function indexesOf(text: string): NewIndex[] {
  const statements = withoutComments(text)
    .split(';')
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
  return statements.map((statement) => {
    const [, name, table] = INDEX.exec(statement) ?? [];
    if (name === undefined || table === undefined) {
      throw new Error(`expected "create index concurrently if not exists <name>": ${statement}`);
    }
    return { name, table, statement };
  });
}

/** Returns the partitions of a table; an empty list if it is not partitioned. */
async function partitionsOf(client: pg.Client, table: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select inhrelid::regclass::text as name from pg_inherits
     where inhparent = $1::regclass order by 1`,
    [table],
  );
  return rows.map(({ name }) => name);
}

/** Partitions that were created after the index have it already. */
async function hasPart(client: pg.Client, index: string, partition: string): Promise<boolean> {
  const { rows } = await client.query(
    `select from pg_inherits p join pg_index i on i.indexrelid = p.inhrelid
     where p.inhparent = $1::regclass and i.indrelid = $2::regclass`,
    [index, partition],
  );
  return rows.length > 0;
}

/**
 * PostgreSQL cannot build one concurrently on a partitioned table. So the index is first created on
 * the parent alone, which has no rows, then built on each partition. A partition that is created
 * during the build gets its index from the parent's.
 */
async function buildIndex(client: pg.Client, index: NewIndex): Promise<void> {
  const { name, table, statement } = index;
  const partitions = await partitionsOf(client, table);
  if (partitions.length === 0) {
    await dropInvalid(client, name);
    await client.query(statement);
    return;
  }
  const onParent = statement.replace(/ concurrently /i, ' ').replace(/\bon /i, 'on only ');
  await client.query(onParent);
  for (const partition of partitions) {
    const own = `${partition}_${name}`;
    if (await hasPart(client, name, partition)) continue;
    await dropInvalid(client, own);
    await client.query(
      statement.replace(name, () => own).replace(`on ${table}`, () => `on ${partition}`),
    );
    await client.query(`alter index ${name} attach partition ${own}`);
  }
}

/**
 * Builds the file's indexes concurrently, one after the other, outside a transaction. After an
 * interruption, the next start drops the invalid index and builds it again.
 */
export async function buildConcurrently(client: pg.Client, migration: Migration): Promise<void> {
  const indexes = indexesOf(migration.text);
  // Lifts the role's time limits (deploy/pgbouncer/role.sql), which are meant for requests.
  // Disables parallel workers, which would take every core and make requests wait.
  await client.query(`set statement_timeout = 0; set lock_timeout = 0;
    set max_parallel_maintenance_workers = 0`);
  try {
    for (const index of indexes) await buildIndex(client, index);
    await noteApplied(client, migration);
  } finally {
    await client
      .query(`reset statement_timeout; reset lock_timeout; reset max_parallel_maintenance_workers`)
      .catch(() => {});
  }
}

/** Reads the cursor of a batched migration, as text; null before the first batch. */
async function readCursor(client: pg.Client, name: string): Promise<string | null> {
  await client.query(`
    create table if not exists migration_cursors (
      name text collate "C" primary key,
      cursor text not null,
      moved timestamptz(3) not null default now()
    )`);
  const { rows } = await client.query<{ cursor: string }>(
    'select cursor from migration_cursors where name = $1',
    [name],
  );
  return rows[0]?.cursor ?? null;
}

/**
 * Runs one batch and commits it together with its cursor.
 * @returns the next cursor; null if the migration is done
 */
export async function runBatch(
  client: pg.Client,
  migration: Migration,
  cursor: string | null,
): Promise<string | null> {
  const { rows } = await client.query<{ cursor: string | null }>(migration.text, [cursor]);
  const next = rows[0]?.cursor ?? null;
  if (next === null) {
    await client.query('delete from migration_cursors where name = $1', [migration.name]);
    await noteApplied(client, migration);
    return null;
  }
  if (next === cursor) throw new Error(`the cursor of the migration did not advance from ${next}`);
  await client.query(
    `insert into migration_cursors (name, cursor) values ($1, $2)
     on conflict (name) do update set cursor = excluded.cursor, moved = now()`,
    [migration.name, next],
  );
  return next;
}

/** Runs the file's statement batch by batch, starting where an interrupted start left off. */
export async function runBatched(
  client: pg.Client,
  migration: Migration,
  inTransaction: <T>(work: () => Promise<T>) => Promise<T>,
): Promise<void> {
  let cursor = await readCursor(client, migration.name);
  for (;;) {
    const started = performance.now();
    cursor = await inTransaction(() => runBatch(client, migration, cursor));
    if (cursor === null) return;
    await sleep(Math.max(LEAST_REST_MS, performance.now() - started));
  }
}
