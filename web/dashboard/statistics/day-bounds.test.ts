import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dayBefore, dayEnd, dayStart } from './day-bounds.ts';

test('a day begins and ends at midnight in its time zone', () => {
  assert.equal(dayStart('2026-11-20', 'UTC'), '2026-11-20T00:00:00.000Z');
  assert.equal(dayEnd('2026-11-20', 'UTC'), '2026-11-21T00:00:00.000Z');
  assert.equal(dayStart('2026-07-01', 'Europe/Berlin'), '2026-06-30T22:00:00.000Z');
  assert.equal(dayStart('2026-11-20', 'Pacific/Kiritimati'), '2026-11-19T10:00:00.000Z');
  assert.equal(dayStart('2026-11-20', 'Asia/Kolkata'), '2026-11-19T18:30:00.000Z');
  assert.equal(dayStart(undefined, 'UTC'), undefined);
  assert.equal(dayEnd('', 'UTC'), undefined);
});

test('days on which clocks change have 23 or 25 hours', () => {
  assert.equal(dayStart('2026-03-29', 'Europe/Berlin'), '2026-03-28T23:00:00.000Z');
  assert.equal(dayEnd('2026-03-29', 'Europe/Berlin'), '2026-03-29T22:00:00.000Z');
  assert.equal(dayStart('2026-10-25', 'Europe/Berlin'), '2026-10-24T22:00:00.000Z');
  assert.equal(dayEnd('2026-10-25', 'Europe/Berlin'), '2026-10-25T23:00:00.000Z');
});

test('where midnight occurs twice, the day begins at the first one', () => {
  assert.equal(dayStart('2026-11-01', 'America/Havana'), '2026-11-01T04:00:00.000Z');
});

test('where clocks skip midnight the day begins an hour late', () => {
  assert.equal(dayStart('2026-09-06', 'America/Santiago'), '2026-09-06T04:00:00.000Z');
  assert.equal(dayEnd('2026-09-05', 'America/Santiago'), '2026-09-06T04:00:00.000Z');
});

test('today is the current day in the time zone', () => {
  const evening = Date.parse('2026-11-20T23:30:00Z');
  assert.equal(dayBefore(0, 'UTC', evening), '2026-11-20');
  assert.equal(dayBefore(0, 'Europe/Berlin', evening), '2026-11-21');
  assert.equal(dayBefore(1, 'America/New_York', evening), '2026-11-19');
});
