import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isoTime } from '#core/iso-time.ts';

const DAY_MS = 86_400_000;
/** The furthest that a `Date` goes, in either direction. */
const LIMIT_MS = 8_640_000_000_000_000;

test('a time is written as toISOString writes it', () => {
  const noon = Date.UTC(2026, 9, 1, 12);
  const edges = [0, 1, 999, 1_000, 59_999, 60_000, 3_599_999, 3_600_000, DAY_MS - 1, DAY_MS];
  const years = [-LIMIT_MS, Date.UTC(-1, 0), -1, Date.UTC(10_000, 0), LIMIT_MS];
  const spread = Array.from({ length: 2_000 }, (_, n) => noon + n * 7_919_113);
  // Two days whose texts are remembered in the same place.
  const rivals = [noon, noon + 512 * DAY_MS, noon];
  for (const time of [...edges, ...edges.map((ms) => noon + ms), ...years, ...spread, ...rivals]) {
    const at = new Date(time);
    assert.equal(isoTime(at), at.toISOString());
  }
});

test('a time that is none is refused, whatever was written before', () => {
  isoTime(new Date(0));
  assert.throws(() => isoTime(new Date(Number.NaN)), RangeError);
  assert.equal(isoTime(new Date(0)), '1970-01-01T00:00:00.000Z');
});
