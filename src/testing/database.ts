import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { type Database, openDatabase } from '#db/database.ts';
import { migrate } from '#db/migrate.ts';
import { MIGRATIONS_FOLDER } from '#db/migration-files.ts';
import { startThrowawayPostgres } from '#sandbox/start-postgres.ts';
import { guardedDatabase, MOVES_TRIGGERS } from '#testing/moves-guard.ts';

export interface TestDatabase {
  readonly db: Database;
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Environment variable with the URL of the PostgreSQL server that all test files share. The test
 * runner sets it.
 */
const CLUSTER = 'TAPLINE_TEST_DATABASE_URL';
const TEMPLATE_LOCK = 551_903;
/**
 * Connections of a test: enough for its concurrent queries, and so few that test files can share a
 * server.
 */
const TEST_CONNECTIONS = 8;

function withDatabase(url: string, name: string): string {
  const next = new URL(url);
  next.pathname = `/${name}`;
  return next.toString();
}

/**
 * Returns the template's name. It contains a hash of the migrations, so that changed migrations get
 * a new template.
 */
function templateName(): string {
  const digest = createHash('sha256');
  for (const name of readdirSync(MIGRATIONS_FOLDER).sort()) {
    digest.update(name).update(readFileSync(path.join(MIGRATIONS_FOLDER, name)));
  }
  for (const statement of MOVES_TRIGGERS) digest.update(statement);
  return `template_${digest.digest('hex').slice(0, 16)}`;
}

async function ensureTemplate(admin: pg.Client, cluster: string): Promise<string> {
  const name = templateName();
  await admin.query('select pg_advisory_lock($1)', [TEMPLATE_LOCK]);
  try {
    const { rows } = await admin.query('select 1 from pg_database where datname = $1', [name]);
    if (rows.length > 0) return name;
    const building = `${name}_${randomBytes(3).toString('hex')}`;
    await admin.query(`create database ${building}`);
    const db = openDatabase({ url: withDatabase(cluster, building), maxConnections: 2 });
    await migrate(db);
    for (const statement of MOVES_TRIGGERS) await db.query(statement);
    await db.close();
    await admin.query(`alter database ${building} rename to ${name}`);
    return name;
  } finally {
    await admin.query('select pg_advisory_unlock($1)', [TEMPLATE_LOCK]);
  }
}

async function withAdmin<T>(cluster: string, work: (admin: pg.Client) => Promise<T>): Promise<T> {
  const admin = new pg.Client({ connectionString: cluster });
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.end();
  }
}

/**
 * Drops a database. `drop … with (force)` fails while autovacuum works in it, because an autovacuum
 * worker is no session. A plain drop stops that worker itself, so only sessions are terminated
 * before it.
 */
async function dropDatabase(admin: pg.Client, name: string): Promise<void> {
  await admin.query(`alter database ${name} allow_connections false`);
  await admin.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = $1 and usename = current_user`,
    [name],
  );
  await admin.query(`drop database ${name}`);
}

/**
 * Creates a migrated database by cloning a template, which takes about 60 ms. Uses the test run's
 * server. A file that runs alone starts a temporary one.
 */
export async function testDatabase(maxConnections = TEST_CONNECTIONS): Promise<TestDatabase> {
  const own = process.env[CLUSTER] === undefined ? await startThrowawayPostgres() : null;
  const cluster = own?.url ?? process.env[CLUSTER] ?? '';
  const name = `test_${process.pid}_${randomBytes(4).toString('hex')}`;
  await withAdmin(cluster, async (admin) => {
    const template = await ensureTemplate(admin, cluster);
    // Copies files rather than logging each page, which halves the time. A test's database need not
    // survive a crash.
    await admin.query(`create database ${name} template ${template} strategy file_copy`);
  });
  const url = withDatabase(cluster, name);
  const db = guardedDatabase(openDatabase({ url, maxConnections }));
  return {
    db,
    url,
    close: async () => {
      await db.close();
      if (own !== null) return own.stop();
      await withAdmin(cluster, (admin) => dropDatabase(admin, name));
    },
  };
}
