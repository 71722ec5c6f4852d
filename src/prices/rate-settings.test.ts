import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRateSettings } from '#prices/rate-settings.ts';

const read = (given: Readonly<Record<string, string>>, madeUp = false) =>
  readRateSettings((name) => given[name] ?? null, { madeUp });

const ONE = 'https://one.example/usd';
const TWO = 'http://10.0.0.7:8080/usd?key=1';

test('two feeds, an age of two minutes and a spread of 1 percent', () => {
  const settings = { feeds: [ONE, TWO], maxAgeMs: 120_000, maxSpread: 100, closedMargin: 0 };
  assert.deepEqual(read({ RATES_URL: `${ONE}, ${TWO}` }, true), settings);
});

test('without feeds only a sandbox has rates', () => {
  assert.equal(read({}).feeds, null);
  assert.equal(read({}, true).feeds, 'made-up');
});

test('a spread may have two decimals', () => {
  const spreads = ['0', '0.5', '0.05', '2', '99.99'];
  assert.deepEqual(
    spreads.map((text) => read({ RATES_MAX_SPREAD: text }).maxSpread),
    [0, 50, 5, 200, 9_999],
  );
});

test('a margin for closed markets may have two decimals', () => {
  const margins = ['0', '1.25', '10', '10.00'];
  assert.deepEqual(
    margins.map((text) => read({ RATES_CLOSED_MARGIN: text }).closedMargin),
    [0, 125, 1_000, 1_000],
  );
});

const WRONG: readonly (readonly [Readonly<Record<string, string>>, RegExp])[] = [
  [{ RATES_URL: ONE }, /^RATES_URL must be two http or https addresses/],
  [{ RATES_URL: `${ONE},` }, /^RATES_URL must be two/],
  [{ RATES_URL: `${ONE},${TWO},${TWO}` }, /^RATES_URL must be two/],
  [{ RATES_URL: `${ONE},${ONE}` }, /^RATES_URL must be two/],
  [{ RATES_URL: `${ONE},ftp://two.example` }, /^RATES_URL must be two/],
  [{ RATES_URL: `${ONE} ${TWO}` }, /^RATES_URL must be two/],
  [{ RATES_MAX_AGE: '0' }, /^RATES_MAX_AGE=0 must be an integer from 1 to 86400$/],
  [{ RATES_MAX_AGE: '1.5' }, /^RATES_MAX_AGE=1.5 must be an integer/],
  [{ RATES_MAX_AGE: '86401' }, /^RATES_MAX_AGE=86401 must be/],
  [{ RATES_MAX_SPREAD: '-1' }, /^RATES_MAX_SPREAD=-1 must be a percentage from 0 to 99.99$/],
  [{ RATES_MAX_SPREAD: '1%' }, /^RATES_MAX_SPREAD=1% must be/],
  [
    { RATES_CLOSED_MARGIN: '10.01' },
    /^RATES_CLOSED_MARGIN=10.01 must be a percentage from 0 to 10$/,
  ],
  [{ RATES_CLOSED_MARGIN: '-1' }, /^RATES_CLOSED_MARGIN=-1 must be a percentage from 0 to 10$/],
];

for (const [given, message] of WRONG) {
  test(`${JSON.stringify(given)} ends the start with one line`, () => {
    assert.throws(() => read(given), { name: 'StartError', message });
  });
}
