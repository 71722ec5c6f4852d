import '../../testing/texts.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutIsolates } from '#i18n/bidi-isolates.ts';
import { paymentsNote, salesNote, weekdayOf } from './today-notes.ts';

test('today is compared with the same weekday of last week, as a whole day', () => {
  const before = { payments: 1_204, volume: 12_345_678_000n };
  assert.equal(weekdayOf('2026-11-20'), 'Friday');
  assert.equal(
    withoutIsolates(salesNote(before, 'Friday') ?? ''),
    '12,345.68 USDC all day last Friday',
  );
  assert.equal(withoutIsolates(paymentsNote(before, 'Friday') ?? ''), '1,204 all day last Friday');
});

test('days without sales are reported once', () => {
  const none = { payments: 0, volume: 0n };
  assert.equal(withoutIsolates(salesNote(none, 'Sunday') ?? ''), 'No sales last Sunday');
  assert.equal(paymentsNote(none, 'Sunday'), null);
});
