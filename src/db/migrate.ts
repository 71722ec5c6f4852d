import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { StartError } from '#core/start-error.ts';
import { codeOf, type Database } from '#db/database.ts';
import { toFault } from '#db/faults.ts';

export const MIGRATIONS_FOLDER = path.join(import.meta.dirname, '../../migrations');

/** Two starts at once must not migrate together. No other lock has it (test/tidy.test.ts). */
const MIGRATION_LOCK = 7_218_344_190;
const FILE_NAME = /^\d{4}_[a-z0-9_]+\.sql$/;

interface Migration {
  readonly name: string;
  readonly text: string;
  readonly digest: string;
}

async function readMigrations(folder: string): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => FILE_NAME.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(path.join(folder, name), 'utf8');
      return { name, text, digest: createHash('sha256').update(text).digest('hex') };
    }),
  );
}

/** How long a migration waits, and for how long it keeps others waiting. */
export interface MigrationLimits {
  readonly lockMs: number;
  readonly statementMs: number;
  readonly tries: number;
  readonly pauseMs: number;
}

/**
 * A statement that waits for a table lock makes all later ones wait, plain reads included. So a
 * migration gives up its place after a moment, lets the others pass, and tries again. A statement
 * has to be done within what a request waits for the database: what takes longer (a rewrite of a
 * large table) does not belong in a migration that runs while the service does.
 */
const LIMITS: MigrationLimits = { lockMs: 200, statementMs: 20_000, tries: 60, pauseMs: 1_000 };

/** Not granted in time, ended to break a circle of locks, or cut off by the statement limit. */
const MAY_WORK_LATER = new Set(['55P03', '40P01', '57014']);

async function attempt(
  client: pg.Client,
  migration: Migration,
  limits: MigrationLimits,
): Promise<void> {
  const { lockMs, statementMs } = limits;
  await client.query('begin');
  try {
    await client.query(
      `set local lock_timeout = ${lockMs}; set local statement_timeout = ${statementMs}`,
    );
    await client.query(migration.text);
    await client.query('insert into migrations (name, digest) values ($1, $2)', [
      migration.name,
      migration.digest,
    ]);
    await client.query('commit');
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
  for (let tries = 1; ; tries++) {
    try {
      return await attempt(client, migration, limits);
    } catch (error) {
      const code = codeOf(error);
      if (!MAY_WORK_LATER.has(code)) {
        throw new Error(`migration ${migration.name} failed`, { cause: error });
      }
      if (tries >= limits.tries) {
        throw new StartError(
          `migration ${migration.name} gave up after ${tries} tries (SQLSTATE ${code}): ` +
            'end the transactions that hold its tables (pg_stat_activity), then start again',
        );
      }
      // By chance, so that it does not meet a job with the same rhythm every time.
      await sleep(limits.pauseMs * (0.5 + Math.random()));
    }
  }
}

/** Only when it is missing: a role that may not create tables can still find nothing to do. */
async function ensureTable(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ found: boolean }>(
    `select to_regclass('migrations') is not null as found`,
  );
  if (rows[0]?.found === true) return;
  await client.query(`
    create table migrations (
      name text collate "C" primary key,
      digest text not null,
      applied timestamptz(3) not null default now()
    )`);
}

async function appliedDigests(client: pg.Client): Promise<Map<string, string>> {
  await ensureTable(client);
  const { rows } = await client.query<{ name: string; digest: string }>(
    'select name, digest from migrations',
  );
  return new Map(rows.map((row) => [row.name, row.digest]));
}

/**
 * Brings the database to the newest schema, forward only, each file in its own transaction.
 * A session advisory lock makes a second start wait and then find nothing to do.
 * @returns the names applied now.
 * @throws StartError when an applied file was changed afterwards, or a file never got its locks;
 *   DatabaseUnavailable when the database is lost meanwhile.
 */
export async function migrate(
  db: Database,
  folder = MIGRATIONS_FOLDER,
  limits = LIMITS,
): Promise<string[]> {
  const migrations = await readMigrations(folder);
  const client = await db.connect().catch((error) => {
    throw toFault(error);
  });
  try {
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const done = await appliedDigests(client);
    const applied: string[] = [];
    for (const migration of migrations) {
      const digest = done.get(migration.name);
      if (digest === undefined) {
        await applyMigration(client, migration, limits);
        applied.push(migration.name);
      } else if (digest !== migration.digest) {
        throw new StartError(
          `migration ${migration.name} was changed after it had been applied: ` +
            'restore the file, or start with a fresh data folder or database',
        );
      }
    }
    return applied;
  } catch (error) {
    throw toFault(error);
  } finally {
    await client.end();
  }
}
