import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cutRecords, exportDecoder, shareOf } from './export-records.ts';

const HEADER = 'id,created,description\r\n';
const ROWS = [
  'pi_3,2026-11-03T10:00:00.000Z,plain\r\n',
  '"pi_2","2026-11-02T10:00:00.000Z","two\r\nlines, and a ""quote"""\r\n',
  'pi_1,2026-11-01T10:00:00.000Z,\r\n',
];
const CSV = HEADER + ROWS.join('');

test('a response that breaks off at any byte leaves only whole records', () => {
  for (let at = 0; at <= CSV.length; at++) {
    const cutter = cutRecords('csv');
    const kept = cutter.take(CSV.slice(0, at));
    const parts = [HEADER, ...ROWS];
    const whole = parts.filter((_, index) => parts.slice(0, index + 1).join('').length <= at);
    assert.equal(kept, whole.join(''), `broken behind ${at} characters`);
    assert.equal(cutter.received.rows, Math.max(0, whole.length - 1));
    const expected = [null, 'pi_3', 'pi_2', 'pi_1'][Math.max(0, whole.length - 1)];
    assert.equal(cutter.received.lastId, expected);
  }
});

test('pieces of any size add up to the same file', () => {
  for (const size of [1, 2, 7, 64]) {
    const cutter = cutRecords('csv');
    let kept = '';
    for (let at = 0; at < CSV.length; at += size) kept += cutter.take(CSV.slice(at, at + size));
    assert.equal(kept, CSV);
    assert.deepEqual(cutter.received, {
      rows: 3,
      lastId: 'pi_1',
      lastCreated: '2026-11-01T10:00:00.000Z',
    });
  }
});

test('a row that was cut in two is requested again after the last whole row', () => {
  const cutter = cutRecords('csv');
  let kept = cutter.take(CSV.slice(0, HEADER.length + 50));
  cutter.dropRest();
  // The service continues after pi_3, without a header.
  kept += cutter.take(ROWS.slice(1).join(''));
  assert.equal(kept, CSV);
  assert.equal(cutter.received.rows, 3);
});

test('a response that breaks before its first row is requested again, with one header', () => {
  const cutter = cutRecords('csv');
  cutter.take(CSV.slice(0, HEADER.length + 5));
  cutter.dropRest();
  assert.equal(cutter.take(CSV), CSV);
  assert.equal(cutter.received.rows, 3);
});

test('a CSV file keeps its byte order mark', async () => {
  let read = '';
  const pieces = new Blob([`\uFEFF${CSV}`]).stream().pipeThrough(exportDecoder());
  for await (const piece of pieces) read += piece;
  assert.equal(read, `\uFEFF${CSV}`);
});

test('JSON Lines are split at line ends', () => {
  const lines = [3, 2, 1].map((n) => `${JSON.stringify({ id: `re_${n}`, created: `${n}` })}\n`);
  const cutter = cutRecords('jsonl');
  const text = lines.join('');
  assert.equal(cutter.take(text.slice(0, -3)), lines.slice(0, 2).join(''));
  assert.deepEqual(cutter.received, { rows: 2, lastId: 're_2', lastCreated: '2' });
});

test('progress is the share of the period that was read, from the newest row', () => {
  const [newest, oldest] = ['2026-11-05T00:00:00Z', '2026-11-01T00:00:00Z'];
  assert.equal(shareOf({ newest, oldest, last: '2026-11-04T00:00:00Z' }), 0.25);
  assert.equal(shareOf({ newest, oldest, last: null }), null);
  assert.equal(shareOf({ newest, oldest: newest, last: newest }), null);
});
