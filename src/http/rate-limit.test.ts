import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { addressKey, memoryRateLimiter, type RateDecision } from '#http/rate-limit.ts';

const take = (limiter: ReturnType<typeof memoryRateLimiter>, key: string, ms: number) =>
  limiter.take(key, ms) as RateDecision;

test('a burst up to the quota passes, the next request is told when to come back', () => {
  const limiter = memoryRateLimiter({ requests: 3, seconds: 6 });
  const taken = [0, 0, 0].map((ms) => take(limiter, 'a', ms));
  assert.deepEqual(
    taken.map(({ allowed, remaining }) => [allowed, remaining]),
    [
      [true, 2],
      [true, 1],
      [true, 0],
    ],
  );
  assert.equal(taken[2]?.resetSeconds, 6);
  const refused = take(limiter, 'a', 500);
  assert.equal(refused.allowed, false);
  assert.equal(refused.retryAfterSeconds, 2);
  assert.equal(take(limiter, 'a', 2_000).allowed, true);
});

test('one caller does not use another one’s quota', () => {
  const limiter = memoryRateLimiter({ requests: 1, seconds: 60 });
  assert.equal(take(limiter, 'a', 0).allowed, true);
  assert.equal(take(limiter, 'b', 0).allowed, true);
  assert.equal(take(limiter, 'a', 1).allowed, false);
});

test('no window of the length of the limit ever lets more than two quotas through', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 200 }),
      fc.integer({ min: 1, max: 20 }),
      (gaps, requests) => {
        const limiter = memoryRateLimiter({ requests, seconds: 1 });
        const passed: number[] = [];
        let now = 1_000_000;
        for (const gap of gaps) {
          now += gap;
          if (take(limiter, 'a', now).allowed) passed.push(now);
        }
        for (const start of passed) {
          const inWindow = passed.filter((at) => at >= start && at < start + 1_000).length;
          assert.ok(inWindow <= 2 * requests, `${inWindow} of ${requests}`);
        }
        // Over any longer time the rate is kept, plus the one burst.
        assert.ok(
          passed.length <= requests + Math.ceil(((now - 1_000_000) / 1_000) * requests) + 1,
        );
      },
    ),
  );
});

test('a caller that waits as long as Retry-After says is let in', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 1, max: 90 }),
      (requests, seconds) => {
        const limiter = memoryRateLimiter({ requests, seconds });
        let decision = take(limiter, 'a', 0);
        while (decision.allowed) decision = take(limiter, 'a', 0);
        assert.equal(take(limiter, 'a', decision.retryAfterSeconds * 1_000).allowed, true);
      },
    ),
  );
});

test('addresses of one IPv6 subscriber share a quota, and mapped IPv4 is IPv4', () => {
  assert.equal(addressKey('2001:db8:1:2:3::1'), addressKey('2001:db8:1:2:ffff::9'));
  assert.notEqual(addressKey('2001:db8:1:2::1'), addressKey('2001:db8:1:3::1'));
  assert.equal(addressKey('::ffff:192.0.2.1'), addressKey('192.0.2.1'));
  assert.notEqual(addressKey('192.0.2.1'), addressKey('192.0.2.2'));
});
