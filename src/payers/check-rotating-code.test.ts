import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addMs } from '#core/clock.ts';
import { codeOf, judgeCode, stepAt } from '#payers/check-rotating-code.ts';
import type { RotatingKeyRow } from '#payers/rotating-key-queries.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';

const KEY = Buffer.alloc(20, 1);
const now = new FakeClock().now();
const NEW: RotatingKeyRow = {
  pass_id: 'pass_1',
  key: KEY,
  last_step: -1n,
  lost_step: -1n,
  wrong_at: [],
  blocked_until: null,
};

function afterWrong(row: RotatingKeyRow, count: number, at: Date): RotatingKeyRow {
  let after = row;
  for (let tries = 0; tries < count; tries++) {
    after = judgeCode(after, { code: 'wrong', key: KEY, now: at }).after;
  }
  return after;
}

const rightAt = (at: Date) => ({ code: codeOf(KEY, stepAt(at)), key: KEY, now: at });

test('five wrong codes block a pass for ten minutes', () => {
  const blocked = afterWrong(NEW, 5, now);
  assert.equal(judgeCode(blocked, rightAt(addMs(now, 599_000))).decline, 'pass_code_expired');
  assert.equal(judgeCode(blocked, rightAt(addMs(now, 601_000))).decline, null);
});

test('a block stored while the clock was a day ahead ends when the clock is set back', () => {
  const ahead = addMs(now, 86_400_000);
  assert.equal(judgeCode(afterWrong(NEW, 5, ahead), rightAt(now)).decline, null);
  // Keeps only wrong guesses that are not in the future.
  const after = afterWrong(afterWrong(NEW, 4, ahead), 1, now);
  assert.deepEqual([after.wrong_at, after.blocked_until], [[now], null]);
});
