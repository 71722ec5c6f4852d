import '../../testing/texts.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { presetDays, presets } from './day-presets.ts';

test('each named period covers days in the time zone of the account, including today', () => {
  // At this time it is already January 1 in Kiritimati.
  const now = Date.parse('2026-12-31T10:30:00.000Z');
  const seen = presets().map(([name]) => {
    const { from, to } = presetDays(name, 'Pacific/Kiritimati', now) ?? {};
    return `${name} ${from} ${to}`;
  });
  assert.deepEqual(seen, [
    'today 2027-01-01 2027-01-01',
    'yesterday 2026-12-31 2026-12-31',
    '7_days 2026-12-26 2027-01-01',
    '30_days 2026-12-03 2027-01-01',
    'month 2027-01-01 2027-01-01',
    'last_month 2026-12-01 2026-12-31',
  ]);
  assert.equal(
    presetDays('last_month', 'UTC', Date.parse('2028-03-31T12:00:00Z'))?.to,
    '2028-02-29',
  );
  assert.equal(presetDays('some_day', 'UTC', now), null);
});
