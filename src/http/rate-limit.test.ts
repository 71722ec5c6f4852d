import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  addressKey,
  decideRate,
  memoryRateLimiter,
  type RateDecision,
  type RateLimit,
} from '#http/rate-limit.ts';

/** Returns a limiter whose clock is set to the given millisecond. */
function limiterOf(limit: RateLimit): (key: string, ms: number) => RateDecision {
  let now = 0;
  const limiter = memoryRateLimiter(limit, () => now);
  return (key, ms) => {
    now = ms;
    return limiter.take(key);
  };
}

test('a burst up to the quota passes; the refusal of the next request has Retry-After', () => {
  const take = limiterOf({ requests: 3, seconds: 6 });
  const taken = [0, 0, 0].map((ms) => take('a', ms));
  assert.deepEqual(
    taken.map(({ allowed, remaining }) => [allowed, remaining]),
    [
      [true, 2],
      [true, 1],
      [true, 0],
    ],
  );
  assert.equal(taken[2]?.resetSeconds, 6);
  const refused = take('a', 500);
  assert.equal(refused.allowed, false);
  assert.equal(refused.retryAfterSeconds, 2);
  assert.equal(take('a', 2_000).allowed, true);
});

test("callers do not use each other's quota", () => {
  const take = limiterOf({ requests: 1, seconds: 60 });
  assert.equal(take('a', 0).allowed, true);
  assert.equal(take('b', 0).allowed, true);
  assert.equal(take('a', 1).allowed, false);
});

test("no window of the limit's length ever allows more than two quotas", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 200 }),
      fc.integer({ min: 1, max: 20 }),
      (gaps, requests) => {
        const take = limiterOf({ requests, seconds: 1 });
        const passed: number[] = [];
        let now = 1_000_000;
        for (const gap of gaps) {
          now += gap;
          if (take('a', now).allowed) passed.push(now);
        }
        for (const start of passed) {
          const inWindow = passed.filter((at) => at >= start && at < start + 1_000).length;
          assert.ok(inWindow <= 2 * requests, `${inWindow} of ${requests}`);
        }
        // Apart from one burst, requests never pass faster than the rate.
        assert.ok(
          passed.length <= requests + Math.ceil(((now - 1_000_000) / 1_000) * requests) + 1,
        );
      },
    ),
  );
});

test('a caller that waits as long as Retry-After says is accepted', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 1, max: 90 }),
      (requests, seconds) => {
        const take = limiterOf({ requests, seconds });
        let decision = take('a', 0);
        while (decision.allowed) decision = take('a', 0);
        assert.equal(take('a', decision.retryAfterSeconds * 1_000).allowed, true);
      },
    ),
  );
});

test('a limit does not follow the wall clock', (t) => {
  const limiter = memoryRateLimiter({ requests: 2, seconds: 3_600 });
  const wall = Date.now();
  t.mock.timers.enable({ apis: ['Date'], now: wall + 86_400_000 });
  for (let request = 0; request < 2; request++) assert.equal(limiter.take('a').allowed, true);
  t.mock.timers.setTime(wall);
  const { allowed, retryAfterSeconds } = limiter.take('a');
  assert.deepEqual([allowed, retryAfterSeconds], [false, 1_800]);
});

test('a wait is never longer than the window, for any stored state', () => {
  const limit = { requests: 5, seconds: 60 };
  const day = 86_400_000;
  const { decision, nextArrivalMs } = decideRate(limit, day, 0);
  assert.equal(decision.allowed, false);
  assert.ok(decision.retryAfterSeconds <= 60, `${decision.retryAfterSeconds} s`);
  assert.equal(
    decideRate(limit, nextArrivalMs, decision.retryAfterSeconds * 1_000).decision.allowed,
    true,
  );
});

test('addresses of one IPv6 subscriber share a quota, and mapped IPv4 is IPv4', () => {
  assert.equal(addressKey('2001:db8:1:2:3::1'), addressKey('2001:db8:1:2:ffff::9'));
  assert.notEqual(addressKey('2001:db8:1:2::1'), addressKey('2001:db8:1:3::1'));
  assert.equal(addressKey('::ffff:192.0.2.1'), addressKey('192.0.2.1'));
  assert.notEqual(addressKey('192.0.2.1'), addressKey('192.0.2.2'));
});
