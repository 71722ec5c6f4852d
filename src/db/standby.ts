import pg from 'pg';
import type { Sql } from '#db/database.ts';
import { typeParsers } from '#db/type-parsers.ts';

/** Lists, exports and statistics: a few people at a time. */
const CONNECTIONS = 5;
/** A standby that is away costs a reader this once, not at each statement. */
const CONNECT_TIMEOUT_MS = 1_000;
const AWAY_MS = 5_000;
/** An export's page takes less; a standby may end what holds its replay up. */
const STATEMENT_TIMEOUT_MS = 25_000;

export interface Standby extends Sql {
  close(): Promise<void>;
}

/**
 * Reads from a standby. Whatever goes wrong there (it is away, it ends a query that holds its
 * replay up, it lacks a table that was just made) the primary answers instead.
 */
export function openStandby(servers: {
  readonly url: string | null;
  readonly primary: Sql;
}): Standby {
  const { url, primary } = servers;
  if (url === null) return { query: primary.query, close: async () => {} };
  const pool = new pg.Pool({
    connectionString: url,
    types: typeParsers(),
    application_name: 'tapline reads',
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    max: CONNECTIONS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    options: '-c default_transaction_read_only=on -c enable_seqscan=off -c jit=off',
  });
  pool.on('error', () => {});
  let awayUntil = 0;
  return {
    query: async <Row>(text: string, values: readonly unknown[] = []) => {
      if (performance.now() < awayUntil) return primary.query<Row>(text, values);
      try {
        return (await pool.query({ text, values: values as unknown[] })).rows as Row[];
      } catch {
        awayUntil = performance.now() + AWAY_MS;
        return primary.query<Row>(text, values);
      }
    },
    close: () => pool.end(),
  };
}
