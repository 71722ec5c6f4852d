import { StartError } from '#core/start-error.ts';
import { type Database, openDatabase } from '#db/database.ts';
import { type Config, readConfig } from '#settings/config.ts';
import { requireCell } from '#settlement/database-cell.ts';

/**
 * Maximum number of connections: few, so that commands leave the server's connections to the
 * service.
 */
const CONNECTIONS = 2;

/**
 * Reads a command's settings as a process with the role `api` does: a command signs nothing, so it
 * needs neither the worker's nor the registrar's keys.
 * @throws StartError
 */
export function readCommandSettings(env: NodeJS.ProcessEnv): Config {
  return readConfig({ ...env, NODE_ENV: undefined }, ['--roles', 'api']);
}

/**
 * Opens DATABASE_URL, the database that commands work on. Ignores a sandbox's embedded database,
 * which is not for production and whose address is in the sandbox's own files.
 */
export function openCommandDatabase(env: NodeJS.ProcessEnv): Database {
  const { databaseUrl, databaseDirectUrl, cells } = readCommandSettings(env);
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

/**
 * Runs a command and sets the exit code. An error that the operator can correct prints one line.
 */
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
