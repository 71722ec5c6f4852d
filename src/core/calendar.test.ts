import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  dayAfter,
  dayBounds,
  dayIn,
  dayStart,
  daysInOrder,
  isTimeZone,
  localTime,
  type ShopDays,
  wallTime,
  withDayStart,
} from '#core/calendar.ts';
import { DAY_MS } from '#core/durations.ts';

const FIRST = Date.UTC(2020, 0, 1);
const END = Date.UTC(2031, 0, 1);
/**
 * Interval in which the search looks for clock changes. Morocco sets its clocks back for only a
 * month, so a longer interval could miss two changes.
 */
const STEP_MS = 14 * DAY_MS;

const startOf = (zone: string, day: string) => dayStart(zone, day).toISOString();

/** Returns the days before, on and after each clock change in a time zone. */
function daysOfChanges(zone: string): Set<string> {
  const offset = (at: number) => wallTime(zone, at) - at;
  const days = new Set<string>();
  for (let at = FIRST; at < END; at += STEP_MS) {
    let [before, after] = [at, at + STEP_MS];
    if (offset(before) === offset(after)) continue;
    while (after - before > 3_600_000) {
      const middle = before + Math.round((after - before) / 2);
      if (offset(middle) === offset(at)) before = middle;
      else after = middle;
    }
    const day = dayIn(zone, new Date(after));
    for (const distance of [-1, 0, 1]) days.add(dayAfter(day, distance));
  }
  return days;
}

test('in every zone, at every change of clocks from 2020 to 2030, days follow one another', () => {
  const zones = Intl.supportedValuesOf('timeZone');
  assert.ok(zones.length > 400);
  let seen = 0;
  for (const zone of zones) {
    for (const day of daysOfChanges(zone)) {
      const { since, until } = dayBounds(zone, day);
      const shown = (at: number) => dayIn(zone, new Date(at));
      const what = `${zone} ${day}`;
      assert.equal(shown(since.getTime()), day, what);
      assert.equal(shown(since.getTime() - 1), dayAfter(day, -1), what);
      assert.equal(shown(until.getTime() - 1), day, what);
      assert.equal(shown(until.getTime()), dayAfter(day, 1), what);
      seen += 1;
    }
  }
  assert.ok(seen > 5_000, `${seen} days`);
});

test('days follow one another at every change of clocks, whenever they start', () => {
  for (const zone of ['Europe/Berlin', 'America/Santiago', 'Australia/Lord_Howe', 'Asia/Beirut']) {
    for (const at of ['00:30', '01:00', '02:15', '02:30', '03:00', '11:59']) {
      const shop = { timeZone: zone, starts: [{ from: '2019-01-01', at }] };
      const inOrder = daysInOrder(shop);
      for (const day of daysOfChanges(zone)) {
        const { since, until } = dayBounds(shop, day);
        const days = [since.getTime() - 1, since.getTime(), until.getTime() - 1, until.getTime()];
        const expected = [dayAfter(day, -1), day, day, dayAfter(day, 1)];
        const shown = (read: typeof inOrder) => days.map((time) => read(new Date(time)));
        assert.deepEqual(
          shown((time) => dayIn(shop, time)),
          expected,
          `${zone} ${at} ${day}`,
        );
        assert.deepEqual(shown(inOrder), expected, `${zone} ${at} ${day}`);
      }
    }
  }
});

test('a day whose start is skipped begins behind the gap, a doubled start at its first', () => {
  const shop = { timeZone: 'Europe/Berlin', starts: [{ from: '2026-01-01', at: '02:30' }] };
  const start = (day: string) => dayStart(shop, day).toISOString();
  assert.equal(start('2026-03-29'), '2026-03-29T01:00:00.000Z');
  assert.equal(start('2026-10-25'), '2026-10-25T00:30:00.000Z');
});

test('a change of the start holds from the next start, and past days stay', () => {
  const hours = (shop: ShopDays, day: string) => {
    const { since, until } = dayBounds(shop, day);
    return (until.getTime() - since.getTime()) / 3_600_000;
  };
  const change = (shop: ShopDays, at: string, now: string) => {
    return { ...shop, starts: withDayStart(shop, at, new Date(now)) };
  };
  const berlin: ShopDays = { timeZone: 'Europe/Berlin', starts: [] };
  const late = change(berlin, '05:00', '2026-11-10T12:00:00Z');
  const shown = ['2026-11-09', '2026-11-10', '2026-11-11'].map((day) => hours(late, day));
  assert.deepEqual(shown, [24, 29, 24]);
  const back = change(late, '00:00', '2026-11-12T12:00:00Z');
  const after = ['2026-11-10', '2026-11-11', '2026-11-12', '2026-11-13'];
  assert.deepEqual(
    after.map((day) => hours(back, day)),
    [29, 24, 19, 24],
  );
  // At 02:00 of the 13th, the 12th still runs: midnight has passed, so the next start stays.
  const atNight = change(late, '00:00', '2026-11-13T01:00:00Z');
  const days = ['2026-11-12', '2026-11-13', '2026-11-14'];
  assert.deepEqual(
    days.map((day) => hours(atNight, day)),
    [24, 19, 24],
  );
  assert.deepEqual(change(late, '00:00', '2026-11-10T13:00:00Z').starts, [], 'withdrawn in time');
});

test('where midnight occurs twice, the day begins at the first one', () => {
  assert.equal(startOf('America/Havana', '2026-11-01'), '2026-11-01T04:00:00.000Z');
});

test('where clocks skip midnight, the day begins when they do', () => {
  assert.equal(startOf('America/Santiago', '2026-09-06'), '2026-09-06T04:00:00.000Z');
});

test('a skipped day of a zone has no instant', () => {
  const { since, until } = dayBounds('Pacific/Apia', '2011-12-30');
  assert.deepEqual(since, until);
});

test('a local time has its offset, so that the repeated hour is unambiguous', () => {
  const at = (text: string) => localTime('Europe/Berlin', new Date(text));
  assert.equal(at('2026-10-25T00:30:00.999Z'), '2026-10-25T02:30:00+02:00');
  assert.equal(at('2026-10-25T01:30:00.000Z'), '2026-10-25T02:30:00+01:00');
  const noon = new Date('2026-11-27T12:00:00Z');
  assert.equal(localTime('Asia/Kathmandu', noon), '2026-11-27T17:45:00+05:45');
  assert.equal(localTime('America/St_Johns', noon), '2026-11-27T08:30:00-03:30');
  assert.equal(localTime('UTC', noon), '2026-11-27T12:00:00+00:00');
});

test('a zone is an IANA name in its own spelling', () => {
  for (const name of ['UTC', 'US/Pacific', 'Etc/GMT+5', 'America/Port-au-Prince', 'EST5EDT']) {
    assert.ok(isTimeZone(name), name);
  }
  for (const name of ['+05:00', 'europe/berlin', 'Mars/Base', '', 'UTC ', 'Europe/']) {
    assert.ok(!isTimeZone(name), name);
  }
  for (const name of Intl.supportedValuesOf('timeZone')) assert.ok(isTimeZone(name), name);
});
