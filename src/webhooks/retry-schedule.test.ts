import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { addMs } from '#core/clock.ts';
import {
  afterFailure,
  afterSuccess,
  type Health,
  healthOf,
  isBroken,
  MAX_IN_FLIGHT,
  nextAttemptAt,
  parseRetryAfter,
} from '#webhooks/retry-schedule.ts';

const now = new Date('2026-10-01T12:00:00.000Z');
const hour = 3_600_000;
const fresh = healthOf({ consecutiveFailures: 0, failingSince: null, notBefore: null });

function fail(health: Health, times: number, at = now): Health {
  return Array.from({ length: times }).reduce<Health>((h) => afterFailure(h, at, null), health);
}

describe('the retry schedule', () => {
  test('is 5 s, 30 s, 2 min, 10 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h', () => {
    const seconds = [5, 30, 120, 600, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];
    seconds.forEach((delay, index) => {
      const attempt = { attempt: index + 1, finished: now, retryAfterMs: null };
      assert.deepEqual(nextAttemptAt({ ...attempt, random: 0.5 }), addMs(now, delay * 1000));
      assert.deepEqual(nextAttemptAt({ ...attempt, random: 0 }), addMs(now, delay * 800));
      assert.deepEqual(nextAttemptAt({ ...attempt, random: 1 }), addMs(now, delay * 1200));
    });
  });

  test('ends after the twelfth attempt, and every manual attempt beyond it is the last', () => {
    for (const attempt of [12, 13, 99]) {
      assert.equal(nextAttemptAt({ attempt, finished: now, retryAfterMs: null, random: 0 }), null);
    }
  });

  test('waits longer if the receiver requests it, never shorter', () => {
    const attempt = { attempt: 1, finished: now, random: 0.5 };
    assert.deepEqual(nextAttemptAt({ ...attempt, retryAfterMs: 60_000 }), addMs(now, 60_000));
    assert.deepEqual(nextAttemptAt({ ...attempt, retryAfterMs: 1 }), addMs(now, 5_000));
  });
});

describe('Retry-After', () => {
  test('is read as seconds or as a date', () => {
    assert.equal(parseRetryAfter('120', now), 120_000);
    assert.equal(parseRetryAfter('Thu, 01 Oct 2026 12:01:00 GMT', now), 60_000);
  });

  test('is obeyed for an hour at most', () => {
    assert.equal(parseRetryAfter('999999999', now), hour);
    assert.equal(parseRetryAfter('Thu, 01 Oct 2099 12:01:00 GMT', now), hour);
  });

  test('is ignored if it is in the past or invalid', () => {
    for (const text of [null, '', '0', '-5', 'soon', 'NaN', '1e9', '99999999999999']) {
      assert.equal(parseRetryAfter(text, now), null, String(text));
    }
    assert.equal(parseRetryAfter('Thu, 01 Oct 2020 12:01:00 GMT', now), null);
  });
});

describe('the health of an endpoint', () => {
  test('failing_since is set by the first failure and cleared by the next success', () => {
    const once = afterFailure(fresh, now, null);
    assert.deepEqual(once.failingSince, now);
    assert.deepEqual(afterFailure(once, addMs(now, hour), null).failingSince, now);
    assert.equal(afterSuccess(once).failingSince, null);
  });

  test('one failed delivery among successful ones never pauses the endpoint', () => {
    assert.equal(fail(fresh, 4).notBefore, null);
    assert.equal(isBroken(fail(fresh, 4)), false);
  });

  test('five failures in a row break it: one probe, then a pause', () => {
    const broken = fail(fresh, 5);
    assert.equal(isBroken(broken), true);
    assert.equal(broken.window, 1);
    assert.deepEqual(broken.notBefore, addMs(now, 5_000));
  });

  test('probes come every tenth of the outage, from 5 s to 5 min', () => {
    const broken = fail(fresh, 5);
    for (const [outage, pause] of [
      [10_000, 5_000],
      [600_000, 60_000],
      [24 * hour, 300_000],
    ] as const) {
      const at = addMs(now, outage);
      assert.deepEqual(afterFailure(broken, at, null).notBefore, addMs(at, pause));
    }
  });

  test('a recovered endpoint ramps up by doubling', () => {
    const windows: number[] = [];
    let health = fail(fresh, 5);
    for (let i = 0; i < 5; i++) {
      health = afterSuccess(health);
      windows.push(health.window);
    }
    assert.deepEqual(windows, [2, 4, 8, 8, 8]);
  });

  test('Retry-After pauses the whole endpoint', () => {
    assert.deepEqual(afterFailure(fresh, now, 30_000).notBefore, addMs(now, 30_000));
  });

  test('after any history, 1 to 8 may be in flight and a pause ends within the hour', () => {
    const step = fc.oneof(fc.constant('success'), fc.option(fc.integer({ min: 1, max: hour })));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let health = fresh;
        steps.forEach((what, index) => {
          const at = addMs(now, index * 60_000);
          health =
            what === 'success'
              ? afterSuccess(health)
              : afterFailure(health, at, typeof what === 'number' ? what : null);
          assert.ok(health.window >= 1 && health.window <= MAX_IN_FLIGHT);
          assert.ok((health.notBefore?.getTime() ?? 0) <= at.getTime() + hour);
          assert.equal(health.consecutiveFailures === 0, health.failingSince === null);
        });
      }),
    );
  });
});
