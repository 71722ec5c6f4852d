import { StartError } from '#core/start-error.ts';
import { type Database, openDatabase } from '#db/database.ts';
import { readConfig } from '#settings/config.ts';
import { requireCell } from '#settlement/own-cell.ts';

/** A command is one client among many. */
const CONNECTIONS = 2;

/**
 * The database that commands work on: DATABASE_URL. The embedded one belongs to the sandbox that
 * runs it; its address is in the sandbox's own files and not for production.
 */
export function openCommandDatabase(env: NodeJS.ProcessEnv): Database {
  // A command signs nothing: it needs no key that only a worker or the registrar has.
  const settings = readConfig({ ...env, NODE_ENV: undefined }, ['--roles', 'api']);
  const { databaseUrl, databaseDirectUrl, cells } = settings;
  if (databaseUrl === null) {
    throw new StartError('DATABASE_URL must name the PostgreSQL that the service uses');
  }
  return openDatabase({
    url: databaseUrl,
    directUrl: databaseDirectUrl,
    maxConnections: CONNECTIONS,
    cell: cells.own,
  });
}

/** Runs a command: one line for what a person can put right, and the exit code. */
export async function runCommand(
  work: (db: Database) => Promise<number>,
  env: NodeJS.ProcessEnv = process.env,
): Promise<void> {
  try {
    const db = openCommandDatabase(env);
    try {
      await requireCell(db);
      process.exitCode = await work(db);
    } finally {
      await db.close();
    }
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    console.error(`tapline: ${error.message}`);
    process.exitCode = 1;
  }
}
