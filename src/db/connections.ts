import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import type pg from 'pg';
import { connectionWait } from '#core/meters.ts';
import { DatabaseUnavailable, toFault } from '#db/faults.ts';
import { type DatabaseWatch, SIGHT, toSight, walPosition } from '#db/watch.ts';

const statementNames = new Map<string, string>();

/** One prepared statement per text and connection: unnamed ones ran at 0.72 of the speed. */
function nameOf(text: string): string {
  const known = statementNames.get(text);
  if (known !== undefined) return known;
  const name = `s${createHash('sha256').update(text).digest('hex').slice(0, 24)}`;
  statementNames.set(text, name);
  return name;
}

/**
 * What is asked on a connection before the event loop goes on leaves in one piece. Sent one by one,
 * the statements of a create cost a fifth of the service's time, in system calls.
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
    const config = { name: nameOf(text), text, values: values as unknown[] };
    return (await client.query(config)).rows as Row[];
  } catch (error) {
    throw toFault(error);
  }
}

/** The pool, and what is known of the database behind it. */
export interface Source {
  readonly pool: pg.Pool;
  readonly watch: DatabaseWatch;
  readonly cell: number;
  carryHint: (topic: string, key: string) => void;
}

/**
 * What was decided before the database turned out to be another one must not be written there:
 * statements that waited for a connection meanwhile fail, with nothing done.
 */
export async function checkout({ pool, watch }: Source): Promise<pg.PoolClient> {
  const { changes } = watch;
  const asked = performance.now();
  let client: pg.PoolClient;
  try {
    client = await pool.connect();
    connectionWait.observe((performance.now() - asked) / 1000);
  } catch (error) {
    throw new DatabaseUnavailable('the database cannot be reached', { cause: error });
  }
  if (watch.changes === changes) return client;
  client.release();
  throw new DatabaseUnavailable('another database answers than before');
}

/** A server that cannot be written to is refused: it is a replica, and somebody else is primary. */
function isReplica(): Error {
  return Object.assign(new Error('the server is a replica'), { code: '57P03' });
}

/** Looks at what a new connection leads to, before anybody gets it. */
export async function look(client: pg.PoolClient, watch: DatabaseWatch): Promise<void> {
  const { highest } = watch;
  const sight = toSight((await client.query(SIGHT)).rows[0]);
  if (sight === null) throw isReplica();
  watch.meet(sight, highest);
}

/** What a server says of its log. */
export interface LogPlace {
  /** Everything before it is on disk. */
  readonly position: string;
  readonly timeline: string;
}

/**
 * Looks again when it is not the log that we know. Whatever it was said with has its own answer, so
 * this never throws.
 * @param before What was the highest when it was asked.
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
