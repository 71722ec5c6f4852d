import { randomBytes } from 'node:crypto';
import { present } from '#core/assert.ts';
import { type Loop, startLoop } from '#core/background-loop.ts';
import type { Database, Sql } from '#db/database.ts';
import type { DatabasePlace, DatabaseWatch } from '#db/detect-replaced-database.ts';
import { describeError, type Log } from '#observability/log.ts';

/**
 * The last known state of a process's database, stored in the process's data folder. If the
 * database is restored to an earlier copy while the process is stopped, the watermark lets the next
 * start detect this.
 */
interface Watermark {
  readonly id: string;
  /**
   * The number in `database_watermarks` when this watermark was written. It is raised regularly.
   */
  readonly generation: number;
  readonly system: string;
  readonly timeline: string;
  /** The position, in bytes, up to which the log was on disk. */
  readonly position: string;
}

/** The data folder. */
interface Folder {
  readJson(file: string): Promise<unknown>;
  writeJson(file: string, value: unknown): Promise<void>;
}

const FILE = 'database-watermark.json';
/**
 * Interval between writes. A copy that was made within the last second before the process was
 * killed is not detected.
 */
const WRITE_MS = 1_000;
/**
 * Interval between generations. Log positions of two servers are not comparable, and a restored
 * copy that runs long enough passes the watermark's position. But its generation is lower, unless
 * the copy was made less than this interval ago.
 */
const GENERATION_MS = 60_000;

/** Reads the watermark and passes it to `watch`. Call it before the first connection. */
export async function readWatermark(
  folder: Folder,
  watch: DatabaseWatch,
): Promise<Watermark | null> {
  const watermark = ((await folder.readJson(FILE)) ?? null) as Watermark | null;
  if (watermark !== null) watch.expect({ ...watermark, position: BigInt(watermark.position) });
  return watermark;
}

async function selectGeneration(sql: Sql, id: string): Promise<number | null> {
  const rows = await sql.query<{ generation: bigint }>(
    'select generation from database_watermarks where id = $1',
    [id],
  );
  return rows[0] === undefined ? null : Number(rows[0].generation);
}

async function raiseGeneration(sql: Sql, id: string): Promise<number> {
  const rows = await sql.query<{ generation: bigint }>(
    `insert into database_watermarks as m (id, generation) values ($1, 1)
     on conflict (id) do update set generation = m.generation + 1 returning generation`,
    [id],
  );
  return Number(present(rows[0], 'watermark of a database').generation);
}

/**
 * Reports a loss if the database has an older generation of the watermark. A different database
 * that never had the watermark is not an earlier copy.
 */
async function compareGeneration(db: Database, watermark: Watermark): Promise<void> {
  const generation = await selectGeneration(db, watermark.id);
  const isSame = db.watch.clusterId?.startsWith(`${watermark.system}/`) ?? false;
  if (generation === null ? isSame : generation < watermark.generation) db.watch.showLoss();
}

/**
 * Compares the database with the watermark, if there is one, and from then on keeps the watermark
 * up to date. Pauses the updates while a loss is not handled, so that the next start detects it
 * again.
 */
export async function keepWatermark(
  db: Database,
  { folder, log }: { readonly folder: Folder; readonly log: Log },
  watermark: Watermark | null,
): Promise<Pick<Loop, 'stop'>> {
  const id = watermark?.id ?? randomBytes(16).toString('hex');
  if (watermark !== null) await compareGeneration(db, watermark);
  let generation = 0;
  let raisedMs = Number.NEGATIVE_INFINITY;
  let written: DatabasePlace | null = null;
  const write = async () => {
    if (db.watch.place === null || db.watch.place.position === written?.position) return false;
    if (performance.now() - raisedMs > GENERATION_MS) {
      generation = await raiseGeneration(db, id);
      raisedMs = performance.now();
    }
    const { place } = db.watch;
    if (place === null) return false;
    await folder.writeJson(FILE, { id, generation, ...place, position: String(place.position) });
    written = place;
    return false;
  };
  const loop = startLoop({
    name: 'database watermark',
    pollMs: WRITE_MS,
    run: write,
    onError: (name, error) => log.warn(`the ${name} failed`, { error: describeError(error) }),
  });
  return {
    stop: async () => {
      await loop.stop();
      await write().catch(() => {});
    },
  };
}
