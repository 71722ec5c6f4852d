import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AlignedClock, addMs, addSeconds, type ClockReading, StepDetector } from '#core/clock.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';

test('a fake clock moves only on request', () => {
  const clock = new FakeClock(new Date('2026-10-01T12:00:00.000Z'));
  const first = clock.now();
  assert.deepEqual(clock.now(), first);
  clock.advance(1_500);
  assert.equal(clock.now().toISOString(), '2026-10-01T12:00:01.500Z');
  assert.equal(first.toISOString(), '2026-10-01T12:00:00.000Z');
});

/**
 * Returns how far a new clock is ahead of this machine's after it has processed these readings, in
 * milliseconds.
 */
function offsetAfter(...readings: readonly ClockReading[]): number {
  const clock = new AlignedClock();
  for (const reading of readings) clock.align(reading);
  const before = Date.now();
  const now = clock.now().getTime();
  // Compare the clocks only if both were read in the same millisecond; otherwise try again.
  return Date.now() === before ? now - before : offsetAfter(...readings);
}

test('an aligned clock keeps its offset as long as no reading contradicts it', () => {
  assert.equal(offsetAfter(), 0);
  assert.equal(offsetAfter({ before: 1_000, after: 1_040, theirs: 1_000 }), 0);
  assert.equal(offsetAfter({ before: 1_000, after: 1_040, theirs: 1_040 }), 0);
});

test('an aligned clock moves no further than a reading proves; quicker readings prove more', () => {
  const [slow, quick] = [40, 2].map((took) => ({ before: 1_000, after: 1_000 + took }));
  assert.ok(slow !== undefined && quick !== undefined);
  assert.equal(offsetAfter({ ...slow, theirs: 61_020 }), 59_979);
  assert.equal(offsetAfter({ ...slow, theirs: 61_020 }, { ...quick, theirs: 61_001 }), 59_998);
  assert.equal(offsetAfter({ ...slow, theirs: -59_000 }), -59_999);
  assert.equal(offsetAfter({ ...quick, theirs: 61_001 }, { ...slow, theirs: 61_020 }), 59_998);
});

test('a step of the clock is detected once, and slewing never', () => {
  const steps = new StepDetector();
  const day = 86_400_000;
  assert.equal(steps.check(1_000_000, 0), null);
  // Simulates a day in which NTP slews the clock by half a millisecond per second.
  for (let second = 1; second <= 86_400; second++) {
    assert.equal(steps.check(1_000_000 + second * 1_000.5, second * 1_000), null);
  }
  const wall = 1_000_000 + 86_400 * 1_000.5;
  assert.equal(steps.check(wall + 1_000 + day, day + 1_000), day);
  assert.equal(steps.check(wall + 2_000 + day, day + 2_000), null);
  assert.equal(steps.check(wall + 3_000, day + 3_000), -day);
  assert.equal(steps.check(wall + 4_000, day + 4_000), null);
});

test('adding to a time does not change that time', () => {
  const at = new Date('2026-12-31T23:59:59.999Z');
  assert.equal(addMs(at, 1).toISOString(), '2027-01-01T00:00:00.000Z');
  assert.equal(addSeconds(at, -60).toISOString(), '2026-12-31T23:58:59.999Z');
  assert.equal(at.toISOString(), '2026-12-31T23:59:59.999Z');
});
