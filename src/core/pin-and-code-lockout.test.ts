import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addMs } from '#core/clock.ts';
import { afterWrong, isBlocked, type Tries } from '#core/pin-and-code-lockout.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';

const now = new FakeClock().now();
const MINUTE = 60_000;
const NEW: Tries = { wrongAt: [], blockedUntil: null };

/** Returns the state after wrong codes at these times, in milliseconds from now. */
function after(...offsets: readonly number[]): Tries {
  return offsets.reduce<Tries>((tries, offset) => afterWrong(tries, addMs(now, offset)), NEW);
}

test('the fifth wrong code within ten minutes blocks for ten minutes from then on', () => {
  const blocked = after(0, 1, 2, 3, 9 * MINUTE);
  assert.ok(isBlocked(blocked, addMs(now, 19 * MINUTE - 1)));
  assert.ok(!isBlocked(blocked, addMs(now, 19 * MINUTE)));
  assert.ok(!isBlocked(after(0, 1, 2, 3), now));
  assert.ok(!isBlocked(after(0, 1, 2, 3, 11 * MINUTE), addMs(now, 11 * MINUTE)));
});

test('requests count the same, in whatever order they are counted', () => {
  const blocked = after(4, 3, 2, 1, 0);
  assert.ok(isBlocked(blocked, now));
  assert.ok(isBlocked(after(0, 1, 2, 3, 4), addMs(now, -5)));
});
