import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AlignedClock, addMs, addSeconds, FakeClock, systemClock } from '#core/clock.ts';

test('a fake clock moves only when it is told to', () => {
  const clock = new FakeClock(new Date('2026-10-01T12:00:00.000Z'));
  const first = clock.now();
  assert.deepEqual(clock.now(), first);
  clock.advance(1_500);
  assert.equal(clock.now().toISOString(), '2026-10-01T12:00:01.500Z');
  assert.equal(first.toISOString(), '2026-10-01T12:00:00.000Z');
});

test('an aligned clock runs beside this machine by its offset, in whole milliseconds', () => {
  const clock = new AlignedClock();
  clock.align(-60_000.4);
  const difference = clock.now().getTime() - Date.now();
  assert.ok(Number.isInteger(clock.now().getTime()));
  assert.ok(difference <= -59_990 && difference >= -60_001, String(difference));
  clock.align(0);
  assert.ok(Math.abs(clock.now().getTime() - systemClock.now().getTime()) < 50);
});

test('times are added without changing the time that they are added to', () => {
  const at = new Date('2026-12-31T23:59:59.999Z');
  assert.equal(addMs(at, 1).toISOString(), '2027-01-01T00:00:00.000Z');
  assert.equal(addSeconds(at, -60).toISOString(), '2026-12-31T23:58:59.999Z');
  assert.equal(at.toISOString(), '2026-12-31T23:59:59.999Z');
});
