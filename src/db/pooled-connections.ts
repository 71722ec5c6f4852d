import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import type pg from 'pg';
import { DatabaseUnavailable, toFault } from '#db/database-faults.ts';
import { type DatabaseWatch, toView, VIEW, walPosition } from '#db/detect-replaced-database.ts';
import { connectionWait } from '#observability/process-metrics.ts';

const statementNames = new Map<string, string>();
/**
 * More than the service's statements with the usual filters. Each combination of filters is another
 * statement, which takes memory here and in PostgreSQL until its connection ends.
 */
const MAX_PREPARED = 2_000;

/**
 * Returns the name under which a statement is prepared, once per text and connection; `undefined`
 * if it is not prepared. Unnamed statements were 28 % slower.
 */
function nameOf(text: string): string | undefined {
  const known = statementNames.get(text);
  if (known !== undefined || statementNames.size >= MAX_PREPARED) return known;
  const name = `s${createHash('sha256').update(text).digest('hex').slice(0, 24)}`;
  statementNames.set(text, name);
  return name;
}

/**
 * Sends the statements of one event-loop turn in a single write. Separate writes would spend a
 * fifth of the service's time in system calls.
 */
export function sendTogether(client: pg.ClientBase): void {
  const { stream } = (client as pg.ClientBase & { connection: { stream: Socket } }).connection;
  if (stream.writableCorked > 0) return;
  stream.cork();
  process.nextTick(() => stream.uncork());
}

export async function run<Row>(
  client: pg.Pool | pg.ClientBase,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  try {
    const name = nameOf(text);
    const config = { ...(name && { name }), text, values: values as unknown[] };
    return (await client.query(config)).rows as Row[];
  } catch (error) {
    throw toFault(error);
  }
}

export interface Source {
  readonly pool: pg.Pool;
  readonly watch: DatabaseWatch;
  readonly cell: number;
  carryHint: (topic: string, key: string) => void;
}

/**
 * Takes a connection from the pool. Throws if the database was replaced during the wait, because
 * the caller decided from the old database's data.
 */
export async function checkout({ pool, watch }: Source): Promise<pg.PoolClient> {
  const { changes } = watch;
  const startedMs = performance.now();
  let client: pg.PoolClient;
  try {
    client = await pool.connect();
    connectionWait.observe((performance.now() - startedMs) / 1000);
  } catch (error) {
    throw new DatabaseUnavailable('the database cannot be reached', { cause: error });
  }
  if (watch.changes === changes) return client;
  client.release();
  throw new DatabaseUnavailable('the connection reaches another database than before');
}

/**
 * Returns the fault for a server that is read-only, because it is a replica and another server is
 * the primary.
 */
function isReplica(): Error {
  return Object.assign(new Error('the server is a replica'), { code: '57P03' });
}

/** Identifies the database behind a new connection. Call it before the connection is used. */
export async function look(client: pg.PoolClient, watch: DatabaseWatch): Promise<void> {
  const { highest } = watch;
  const view = toView((await client.query(VIEW)).rows[0]);
  if (view === null) throw isReplica();
  watch.meet(view, highest);
}

/** The server's position in its write-ahead log. */
export interface LogPlace {
  /** The position up to which the log is on disk. */
  readonly position: string;
  readonly timeline: string;
}

/**
 * Records the log's position, or identifies the server again if this is not the known log. Never
 * throws, because the caller's own statement reports errors.
 * @param before the highest known position when the statement was sent
 */
export async function notePlace(
  client: pg.PoolClient,
  watch: DatabaseWatch,
  { place, before }: { readonly place: LogPlace; readonly before: bigint },
): Promise<void> {
  const position = walPosition(place.position);
  if (!watch.isOther({ timeline: place.timeline, position }, before)) return watch.note(position);
  await look(client, watch).catch(() => {});
}
