import assert from 'node:assert/strict';
import { test } from 'node:test';
import { typeParsers } from '#db/type-parsers.ts';

const TIMESTAMPTZ = 1184;
const toDate = typeParsers().getTypeParser(TIMESTAMPTZ, 'text') as (text: string) => Date;

test('a database time is read to the millisecond', () => {
  const times: readonly (readonly [string, string])[] = [
    ['2026-10-01 12:00:00+00', '2026-10-01T12:00:00.000Z'],
    ['2026-10-01 12:00:00.1+00', '2026-10-01T12:00:00.100Z'],
    ['2026-10-01 12:00:00.57+00', '2026-10-01T12:00:00.570Z'],
    ['2026-12-31 23:59:59.999+00', '2026-12-31T23:59:59.999Z'],
    ['2028-02-29 01:02:03.456789+00', '2028-02-29T01:02:03.456Z'],
    ['1969-07-20 20:17:40.5+00', '1969-07-20T20:17:40.500Z'],
    ['0099-01-01 00:00:00+00', '0099-01-01T00:00:00.000Z'],
    ['2026-10-01 12:00:00.123+02', '2026-10-01T10:00:00.123Z'],
    ['2026-10-01 12:00:00-05', '2026-10-01T17:00:00.000Z'],
  ];
  for (const [text, iso] of times) assert.equal(toDate(text).toISOString(), iso, text);
});

test('anything but a time is an invalid date', () => {
  for (const text of ['infinity', '-infinity']) assert.ok(Number.isNaN(toDate(text).getTime()));
});
