import { StartError } from '#core/start-error.ts';
import { type Database, openDatabase } from '#db/database.ts';
import { readConfig } from '#settings/config.ts';
import { requireCell } from '#settlement/database-cell.ts';

/**
 * Maximum number of connections: few, so that commands leave the server's connections to the
 * service.
 */
const CONNECTIONS = 2;

/**
 * Opens DATABASE_URL, the database that commands work on. Ignores a sandbox's embedded database,
 * which is not for production and whose address is in the sandbox's own files.
 */
export function openCommandDatabase(env: NodeJS.ProcessEnv): Database {
  // Uses the role `api`: a command signs nothing, so it needs neither the worker's nor the
  // registrar's keys.
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
