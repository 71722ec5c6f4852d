import { wallTime } from '#core/calendar.ts';
import { DAY_MS } from '#core/durations.ts';
import { describeError, type Log } from '#core/log.ts';
import type { Sql } from '#db/database.ts';

/** Morocco changes its clocks for a month, so that every fourteenth day sees each change. */
const STEP_DAYS = 14;
/** From half a year ago, for reports of the past, to two years ahead. */
const PAST_STEPS = 13;
const STEPS = 65;

interface ZoneRow {
  readonly name: string;
  /** What a clock on the wall shows at each moment, in seconds as if it were UTC. */
  readonly walls: readonly string[];
}

/** Names that PostgreSQL does not know are left out: it would refuse the statement. */
async function selectWallTimes(
  sql: Sql,
  names: readonly string[],
  moments: readonly Date[],
): Promise<ZoneRow[]> {
  return sql.query<ZoneRow>(
    `select z.name, array_agg(extract(epoch from m.at at time zone z.name)::bigint::text
       order by m.at) as walls
     from (select name from pg_timezone_names where name = any($1) offset 0) z
     cross join unnest($2::timestamptz[]) m (at)
     group by z.name`,
    [names, moments],
  );
}

/** Zones whose clocks PostgreSQL sets otherwise than the runtime, or does not know. */
export async function differingZones(
  sql: Sql,
  now: Date,
  names: readonly string[] = Intl.supportedValuesOf('timeZone'),
): Promise<string[]> {
  const first = Math.floor(now.getTime() / DAY_MS) * DAY_MS;
  const moments = Array.from(
    { length: STEPS },
    (_, step) => new Date(first + (step - PAST_STEPS) * STEP_DAYS * DAY_MS),
  );
  const rows = await selectWallTimes(sql, names, moments);
  const known = new Map(rows.map(({ name, walls }) => [name, walls.join()]));
  return names.filter((name) => {
    const walls = moments.map((at) => String(wallTime(name, at.getTime()) / 1000));
    return known.get(name) !== walls.join();
  });
}

/**
 * One line of the log that names the zones that differ, if there are any. Nothing is counted by
 * PostgreSQL's zones; who queries the database by hand gets other days than the service shows.
 */
export async function reportDifferingZones(sql: Sql, log: Log, now: Date): Promise<void> {
  try {
    const zones = await differingZones(sql, now);
    if (zones.length === 0) return;
    log.info('PostgreSQL has other rules for time zones than the runtime', { zones });
  } catch (error) {
    // It is information. A database that is unreachable is reported by everything else.
    log.info('time zones were not compared', { error: describeError(error) });
  }
}
