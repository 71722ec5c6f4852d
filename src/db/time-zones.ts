import { wallTime } from '#core/calendar.ts';
import { DAY_MS } from '#core/durations.ts';
import type { Sql } from '#db/database.ts';
import { describeError, type Log } from '#observability/log.ts';

/**
 * Days between two checks. Morocco sets its clocks back for only a month; checking every 14 days
 * finds that.
 */
const STEP_DAYS = 14;
/**
 * Number of steps before now, which is half a year, for past reports. The rest reach two years
 * ahead.
 */
const PAST_STEPS = 13;
const STEPS = 65;

interface ZoneRow {
  readonly name: string;
  /** The local time at each instant, in seconds, as if it were UTC. */
  readonly walls: readonly string[];
}

/** Omits names that PostgreSQL does not know, because they would make the statement fail. */
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

/**
 * Returns the zones whose local time differs between PostgreSQL and the runtime, or that PostgreSQL
 * does not know.
 */
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
 * Logs the zones that differ, if any, in one line. The service computes nothing with PostgreSQL's
 * zones, but a person who queries the database directly would get other days than the service
 * shows.
 */
export async function reportDifferingZones(sql: Sql, log: Log, now: Date): Promise<void> {
  try {
    const zones = await differingZones(sql, now);
    if (zones.length === 0) return;
    log.info('PostgreSQL and the runtime differ in time-zone rules', { zones });
  } catch (error) {
    // Only logged as information, because other code reports an unreachable database.
    log.info('time zones could not be compared', { error: describeError(error) });
  }
}
