import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csvDecimal, csvHeader, csvLine } from '#core/csv.ts';

test('no cell begins like a formula', () => {
  for (const text of [
    '=1+1',
    '+1',
    '-1+1',
    '-',
    '--1',
    '@SUM(A1)',
    '\t=1',
    ' =cmd|x',
    '|calc',
    '＝1',
    '%0A=1',
  ]) {
    const [cell] = csvLine({ text }, ['text']).split('\r\n');
    assert.equal(cell, `"'${text}"`);
  }
});

test('a number is written as it is, even if it is negative', () => {
  const row = { text: '-1', other: '-12.50', atoms: -3 };
  assert.equal(csvLine(row, ['text', 'other', 'atoms']), '"-1","-12.50",-3\r\n');
});

test('quotes, commas and line breaks stay inside their cell', () => {
  const row = { a: 'say "hi", twice\r\nor more', b: 12, c: null, d: true, e: { f: 'x' } };
  const columns = ['a', 'b', 'c', 'd', 'e.f', 'e.g', 'e'];
  assert.equal(
    csvLine(row, columns),
    '"say ""hi"", twice\r\nor more",12,,true,"x",,"{""f"":""x""}"\r\n',
  );
  assert.equal(csvHeader(['a', 'e.f']), 'a,e.f\r\n');
});

test('no decimal looks like a group of thousands', () => {
  const texts = ['1.234', '-0.125', '2.50', '1.2345', '1234.567', '7'];
  const written = ['1.2340', '-0.1250', '2.50', '1.2345', '1234.5670', '7'];
  assert.deepEqual(texts.map(csvDecimal), written);
});
