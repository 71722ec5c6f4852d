import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wallTime } from '#core/calendar.ts';
import { differingZones } from '#db/time-zones.ts';
import { databaseForTests } from '#testkit/fixtures/db/database-for-tests.ts';

const database = databaseForTests();

const NOW = new Date('2026-11-27T12:00:00Z');

/**
 * Returns the days, within two years, on which local time differs between PostgreSQL and the
 * runtime.
 */
async function differentDays(zone: string): Promise<Date[]> {
  const rows = await database.db.query<{ at: Date; wall: bigint }>(
    `select at, extract(epoch from at at time zone $2)::bigint as wall
     from generate_series($1::timestamptz, $1::timestamptz + interval '730 days',
       interval '1 day') at`,
    [NOW, zone],
  );
  return rows
    .filter(({ at, wall }) => Number(wall) * 1000 !== wallTime(zone, at.getTime()))
    .map(({ at }) => at);
}

test('exactly the zones that differ are named', async () => {
  const names = Intl.supportedValuesOf('timeZone');
  const differing = await differingZones(database.db, NOW, names);
  for (const zone of differing) assert.notEqual((await differentDays(zone)).length, 0, zone);
  for (const zone of names.filter((_, index) => index % 10 === 0)) {
    const days = await differentDays(zone);
    assert.equal(days.length > 0, differing.includes(zone), zone);
  }
});

test('a zone that PostgreSQL does not know is named', async () => {
  assert.deepEqual(await differingZones(database.db, NOW, ['UTC', 'EUROPE/Berlin']), [
    'EUROPE/Berlin',
  ]);
});
