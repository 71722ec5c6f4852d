import { StartError } from '#core/start-error.ts';
import type { Database, Sql } from '#db/database.ts';
import { SESSION_SETTINGS } from '#db/session-settings.ts';

/** SQL that identifies the server and the database. Notifications do not cross databases. */
const WHO = `select concat(system_identifier, ' ', (
    select oid from pg_database where datname = current_database())) as database
  from pg_control_system()`;

/**
 * Verifies that the address that bypasses the pooler leads to the same database.
 * @returns a line that confirms it
 * @throws StartError if it does not
 */
export async function requireSameDirect(db: Database): Promise<string> {
  const client = await db.connect().catch((error) => {
    const why = error instanceof Error ? error.message : String(error);
    throw new StartError(`DATABASE_DIRECT_URL cannot be reached: ${why}`, { cause: error });
  });
  try {
    const [through] = await db.query<{ database: string }>(WHO);
    const [past] = (await client.query<{ database: string }>(WHO)).rows;
    if (through?.database === past?.database)
      return 'DATABASE_DIRECT_URL points to the same database';
    throw new StartError('DATABASE_DIRECT_URL points to a different database than DATABASE_URL');
  } finally {
    await client.end();
  }
}

/**
 * Verifies that the session settings reach the server through a pooler.
 * @returns a line that confirms it
 * @throws if one does not
 */
export async function requireSessionSettings(sql: Sql): Promise<string> {
  const names = Object.keys(SESSION_SETTINGS);
  const rows = await sql.query<{ name: string; value: string }>(
    'select name, current_setting(name) as value from unnest($1::text[]) as name',
    [names],
  );
  const wrong = rows.filter(({ name, value }) => value !== SESSION_SETTINGS[name]);
  if (wrong.length === 0) return `${names.length} settings have reached the server`;
  const said = wrong.map(({ name, value }) => `${name} is ${value}, not ${SESSION_SETTINGS[name]}`);
  throw new Error(`${said.join('; ')}: run deploy/pgbouncer/role.sql with the service's role`);
}
