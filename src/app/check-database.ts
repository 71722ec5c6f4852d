import { describeError } from '#core/log.ts';
import { StartError } from '#core/start-error.ts';
import type { Database } from '#db/database.ts';
import { requireSameDirect } from '#db/direct.ts';
import { requireDurability } from '#db/durability.ts';
import type { Config } from '#settings/config.ts';

/** The first PostgreSQL that has all that our statements use. */
const MIN_SERVER_VERSION = 150_000;

/** @throws StartError when it is too old, or losing its primary would cost more than was said. */
export async function checkDatabase(db: Database, config: Config): Promise<void> {
  const name = config.databaseUrl === null ? 'the embedded PostgreSQL' : 'DATABASE_URL';
  try {
    const rows = await db.query<{ version: number }>(
      `select current_setting('server_version_num')::int as version`,
    );
    const version = rows[0]?.version ?? 0;
    if (version < MIN_SERVER_VERSION) {
      throw new StartError(`${name}: PostgreSQL 15 or newer is needed, this is ${version}`);
    }
    if (config.production) await requireDurability(db, config.durability);
    if (config.databaseDirectUrl !== null) await requireSameDirect(db);
  } catch (error) {
    if (error instanceof StartError) throw error;
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    throw new StartError(`${name} cannot be reached: ${describeError(cause)}`);
  }
}
