import { type Database, openDatabase } from '#db/database.ts';
import { migrate } from '#db/migrate.ts';
import { startPostgres } from '#sandbox/start-postgres.ts';
import { openTemporaryFolder } from '#testkit/fixtures/db/temporary-folder.ts';

/** A durable PostgreSQL server of a measurement's own. */
export interface OwnPostgres {
  readonly url: string;
  /** Stops the server and removes its data. */
  stop(): Promise<void>;
}

export async function startOwnPostgres(): Promise<OwnPostgres> {
  const temporary = await openTemporaryFolder('tapline-bench');
  const postgres = await startPostgres({ folder: temporary.folder, log: () => {} });
  return {
    url: postgres.url,
    stop: async () => {
      await postgres.stop();
      await temporary.remove();
    },
  };
}

/** A migrated database on a server of its own. */
export interface OwnDatabase {
  readonly url: string;
  readonly db: Database;
  close(): Promise<void>;
}

export async function openOwnDatabase(maxConnections: number): Promise<OwnDatabase> {
  const { url, stop } = await startOwnPostgres();
  const db = openDatabase({ url, maxConnections });
  await migrate(db);
  return {
    url,
    db,
    close: async () => {
      await db.close();
      await stop();
    },
  };
}
