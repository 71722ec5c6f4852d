import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALONE } from '#cells/ask-other-cells.ts';
import { cellSettings } from '#settings/cell-settings.ts';

const SECRET = 'thirty-two characters and a few more';

function settings(given: Readonly<Record<string, string>>) {
  return cellSettings((name) => given[name] ?? null);
}

test('a network of one cell is cell 0 and knows no other', () => {
  assert.deepEqual(settings({}), ALONE);
});

test('cells are named by their number and address', () => {
  const given = {
    CELL: '2',
    CELL_ADDRESSES: '0=https://zero.example/, 1=http://10.0.1.7:4242',
    CELL_SECRET: SECRET.replaceAll(' ', '-'),
  };
  assert.deepEqual(settings(given).others, [
    { cell: 0, url: 'https://zero.example' },
    { cell: 1, url: 'http://10.0.1.7:4242' },
  ]);
});

const WRONG: readonly (readonly [Readonly<Record<string, string>>, RegExp])[] = [
  [{ CELL: '10' }, /^CELL=10 must be an integer from 0 to 9$/],
  [{ CELL: '-1' }, /^CELL=-1 must be/],
  [{ CELL_ADDRESSES: 'one.example' }, /^CELL_ADDRESSES: "one.example" must be <cell>=<address>/],
  [{ CELL_ADDRESSES: '0=https://zero.example' }, /names cell 0, which is this cell/],
  [{ CELL_ADDRESSES: '1=https://a.example,1=https://b.example' }, /lists a cell twice/],
  [{ CELL_ADDRESSES: '1=https://a.example' }, /needs CELL_SECRET/],
  [{ CELL_ADDRESSES: '1=https://a.example', CELL_SECRET: 'short' }, /needs CELL_SECRET/],
];

for (const [given, message] of WRONG) {
  test(`${JSON.stringify(given)} ends the start with one line`, () => {
    assert.throws(() => settings(given), { name: 'StartError', message });
  });
}
