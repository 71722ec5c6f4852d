import { checkPeers } from '#cells/check-peers.ts';
import { StartError } from '#core/start-error.ts';
import type { Undo } from '#core/undo.ts';
import { type Database, openDatabase } from '#db/database.ts';
import { keepWatermark, readWatermark } from '#db/detect-restore-while-stopped.ts';
import { requireSameDirect } from '#db/direct-connection.ts';
import { requireDurability } from '#db/durability.ts';
import { migrate, requireMigrated } from '#db/migrate.ts';
import { describeError, type Log } from '#observability/log.ts';
import type { DataFolder } from '#sandbox/data-folder.ts';
import type { Config } from '#settings/config.ts';
import { keepCell } from '#settlement/database-cell.ts';

export interface StartInput {
  readonly log: Log;
  /** Aborts when the process receives a stop signal, which ends all waits during the start. */
  readonly ends?: AbortSignal | undefined;
}

export async function prepareDatabase(
  config: Config,
  { url, folder, log, ends }: StartInput & { readonly url: string; readonly folder: DataFolder },
  stops: Undo,
): Promise<Database> {
  const { maxConnections, databaseReadUrl: readUrl, databaseDirectUrl: directUrl } = config;
  const cell = config.cells.own;
  const db = openDatabase({ url, maxConnections, readUrl, directUrl, cell });
  stops.push(db.close);
  const watermark = await readWatermark(folder, db.watch);
  await checkDatabase(db, config);
  if (config.roles.has('watch')) await requireMigrated(db);
  else {
    const tell = (why: string) => log.info('the start waits for migrations', { why });
    await migrate(db, { tell, ...(ends && { ends }) });
    await keepCell(db);
    await checkPeers(config.cells);
  }
  const keeping = await keepWatermark(db, { folder, log }, watermark);
  stops.push(keeping.stop);
  return db;
}

/** The first PostgreSQL version that has all features used by our statements. */
const MIN_SERVER_VERSION = 150_000;

/** @throws StartError if it is too old, or if losing its primary would lose more than declared. */
async function checkDatabase(db: Database, config: Config): Promise<void> {
  const name = config.databaseUrl === null ? 'the embedded PostgreSQL' : 'DATABASE_URL';
  try {
    const rows = await db.query<{ version: number }>(
      `select current_setting('server_version_num')::int as version`,
    );
    const version = rows[0]?.version ?? 0;
    if (version < MIN_SERVER_VERSION) {
      throw new StartError(`${name}: PostgreSQL 15 or newer is required, not ${version}`);
    }
    if (config.production) await requireDurability(db, config.durability);
    if (config.databaseDirectUrl !== null) await requireSameDirect(db);
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw databaseAway(config, error);
  }
}

export function databaseAway({ databaseUrl }: Config, error: unknown): StartError {
  const name = databaseUrl === null ? 'the embedded PostgreSQL' : 'DATABASE_URL';
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return new StartError(`${name} cannot be reached: ${describeError(cause)}`);
}
