import { StartError } from '#core/start-error.ts';
import type { Database } from '#db/database.ts';

/** The server, and which of its databases: wake-ups do not pass from one to another. */
const WHO = `select concat(system_identifier, ' ', (
    select oid from pg_database where datname = current_database())) as database
  from pg_control_system()`;

/** Past a pooler there must be the same database. @throws StartError in one line. */
export async function requireSameDirect(db: Database): Promise<string> {
  const client = await db.connect().catch((error) => {
    const why = error instanceof Error ? error.message : String(error);
    throw new StartError(`DATABASE_DIRECT_URL cannot be reached: ${why}`, { cause: error });
  });
  try {
    const [through] = await db.query<{ database: string }>(WHO);
    const [past] = (await client.query<{ database: string }>(WHO)).rows;
    if (through?.database === past?.database) return 'DATABASE_DIRECT_URL leads to it too';
    throw new StartError('DATABASE_DIRECT_URL leads to another database than DATABASE_URL');
  } finally {
    await client.end();
  }
}
