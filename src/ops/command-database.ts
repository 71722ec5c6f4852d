import { StartError } from '#core/start-error.ts';
import { type Database, openDatabase } from '#db/database.ts';
import { readConfig } from '#settings/config.ts';
import { requireCell } from '#settlement/own-cell.ts';

/** Few, so that commands leave the server's connections to the service. */
const CONNECTIONS = 2;

/**
 * Opens the database that commands work on: DATABASE_URL. The embedded database belongs to the
 * sandbox that runs it; its address is in the sandbox's own files, and it is not for production.
 */
export function openCommandDatabase(env: NodeJS.ProcessEnv): Database {
  // Role `api`: a command signs nothing, so it needs no key of the worker or the registrar.
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

/** Runs a command: one line for an error that the operator can correct, and the exit code. */
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
