import '../testing/texts.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { withoutIsolates } from '#i18n/bidi-isolates.ts';
import { MAX_ATOMS } from './format-usdc.ts';
import { decimalKey, decimalSeparator, readSum, type SumRules, writeSum } from './typed-sum.ts';

function meant(text: string, rules: SumRules = {}): bigint | string {
  const read = readSum(text, rules);
  return read.is === 'sum'
    ? read.units
    : read.is === 'refused'
      ? withoutIsolates(read.words)
      : 'empty';
}

function holds(rules: SumRules, typed: readonly (readonly [string, bigint | string])[]): void {
  for (const [text, expected] of typed) assert.equal(meant(text, rules), expected, text);
}

const USDC = 1_000_000n;
const MALFORMED = 'Enter an amount such as 2.50.';

test('typed amounts are understood', () => {
  holds({}, [
    ['2.50', 2_500_000n],
    ['2,50', 2_500_000n],
    [' 12 ', 12n * USDC],
    ['.5', 500_000n],
    [',5', 500_000n],
    ['7.', 7n * USDC],
    ['1500', 1_500n * USDC],
    ['1500.00', 1_500n * USDC],
    ['1500,1234', 1_500_123_400n],
    ['1,000.00', 1_000n * USDC],
    ['1.000,00', 1_000n * USDC],
    ['1,500.000', 1_500n * USDC],
    ['1.500,000', 1_500n * USDC],
    ['1,500,000', 1_500_000n * USDC],
    ['1.500.000,5', 1_500_000_500_000n],
    ['0.000001', 1n],
    ['', 'empty'],
    ['  ', 'empty'],
  ]);
});

test('spaces, no-break spaces and apostrophes separate groups, never decimals', () => {
  for (const separator of [' ', '\u00a0', '\u202f', "'", '’']) {
    holds({}, [
      [`1${separator}500`, 1_500n * USDC],
      [`1${separator}500,25`, 1_500_250_000n],
      [`1${separator}500.000`, 1_500n * USDC],
      [`12${separator}345${separator}678`, 12_345_678n * USDC],
      [`12${separator}5`, MALFORMED],
      [`1234${separator}500`, MALFORMED],
      [`0${separator}500`, MALFORMED],
      [`1${separator}500,000,000`, MALFORMED],
      [`1${separator}${separator}500`, MALFORMED],
    ]);
  }
});

test('one separator before three digits is ambiguous, and both readings are offered', () => {
  holds({}, [
    ['1,500', 'Write 1500 or 1.50'],
    ['1.500', 'Write 1500 or 1.50'],
    ['700,000', 'Write 700000 or 700.00'],
    ['1000,000', 'Write 1000000 or 1000.00'],
    ['2.005', 'Write 2005 or 2.005000'],
    ['00,500', 'Write 500 or 0.50'],
    [',500', 'Write 500 or 0.50'],
    ['1,000', 'Write 1000 or 1.00'],
  ]);
  holds({ decimals: 2 }, [
    ['1,500', 'Write 1500 or 1.50'],
    ['1,525', 'Write 1525, or at most 2 decimals'],
  ]);
});

test('after a lone 0, the separator is the decimal separator', () => {
  holds({}, [
    ['0,500', 500_000n],
    ['0.500', 500_000n],
    ['0,005', 5_000n],
  ]);
});

test('a currency without decimals has group separators only', () => {
  holds({ decimals: 0 }, [
    ['1500', 1_500n],
    ['1,500', 1_500n],
    ['1.500', 1_500n],
    ['1.500.000', 1_500_000n],
    ['1000,000', 'Enter an amount such as 250.'],
    ['0,500', 'This currency has no decimals.'],
    ['1.50', 'This currency has no decimals.'],
    ['1500.00', 'This currency has no decimals.'],
  ]);
});

test('with three decimals, the reader’s language decides', () => {
  const three = (locale: string): SumRules => ({ decimals: 3, locale });
  holds(three('en'), [
    ['1.500', 1_500n],
    ['1,500', 1_500_000n],
    ['1.50', 1_500n],
    ['0,500', 500n],
    ['1,500.250', 1_500_250n],
    ['1.5000', 'At most 3 decimals.'],
  ]);
  holds(three('de'), [
    ['1.500', 1_500_000n],
    ['1,500', 1_500n],
    ['1000,000', 1_000_000n],
    ['1000.000', MALFORMED],
  ]);
  assert.equal(meant('1.500', three('ar')), 1_500n);
});

test('signs, exponents, brackets, letters, excess decimals and 0 are refused with a reason', () => {
  const malformed = [
    '-1',
    '+1',
    '−1',
    '1e3',
    '(1)',
    'two',
    '2.50 USDC',
    '$2.50',
    '1.2.3',
    '.',
    ',',
  ];
  holds(
    {},
    malformed.map((text) => [text, MALFORMED]),
  );
  holds({}, [
    ['1.5.0', MALFORMED],
    ['0,500,000', MALFORMED],
    ['1,50,000', MALFORMED],
    ['1,5000,000', MALFORMED],
    ['1\t500', MALFORMED],
    ['0.0000001', 'At most 6 decimals.'],
    ['0', 'Enter more than 0.'],
    ['0.00', 'Enter more than 0.'],
    ['0,000', 'Enter more than 0.'],
    ['000,000', 'Enter more than 0.'],
  ]);
  holds({ decimals: 2 }, [['1.2345', 'At most 2 decimals.']]);
});

test('digits of other scripts count as digits', () => {
  holds({}, [
    ['٢.٥٠', 2_500_000n],
    ['１２,５０', 12_500_000n],
    ['१ ५००', 1_500n * USDC],
    ['𝟗𝟘.𝟷𝟶', 90_100_000n],
    ['١,٥٠٠', 'Write 1500 or 1.50'],
    ['²', MALFORMED],
    ['Ⅷ', MALFORMED],
  ]);
});

test('a field that still holds the form’s text means exactly that amount', () => {
  const written: readonly (readonly [bigint, SumRules, string])[] = [
    [0n, {}, '0.00'],
    [2_500_000n, {}, '2.50'],
    [2_005_000n, {}, '2.005000'],
    [1n, {}, '0.000001'],
    [MAX_ATOMS, {}, '1,000,000.00'],
    [1_500n, { decimals: 0 }, '1,500'],
    [1_500n, { decimals: 2 }, '15.00'],
    [1_500n, { decimals: 3 }, '1.500'],
    [1_500n, { decimals: 3, locale: 'de' }, '1,500'],
    [1_500_250n, { decimals: 3, locale: 'fr' }, '1\u202f500,250'],
  ];
  for (const [units, rules, text] of written) {
    assert.equal(writeSum(units, rules), text);
    assert.equal(meant(text, { ...rules, wrote: units }), units, text);
  }
  assert.equal(meant('0.00', { wrote: 1n }), 'Enter more than 0.');
});

test('the text that a form writes can be typed back, in every currency and language', () => {
  const locales = ['en', 'de', 'fr', 'es', 'pt', 'ja', 'ar', 'de-CH'];
  fc.assert(
    fc.property(
      fc.bigInt({ min: 1n, max: MAX_ATOMS }),
      fc.constantFrom(0, 2, 3, 6),
      fc.constantFrom(...locales),
      (units, decimals, locale) => {
        const rules = { decimals, locale };
        assert.equal(meant(writeSum(units, rules), rules), units);
      },
    ),
  );
});

test('the decimal key types decimals; `.` and `,` do too where that is unambiguous', () => {
  const LOCALES = ['en', 'en-AT', 'de', 'de-CH', 'fr', 'es', 'pt', 'ja', 'ar', 'ar-EG'];
  for (const locale of LOCALES) {
    const [yen, euro, dinar] = [0, 2, 3].map((decimals): SumRules => ({ decimals, locale }));
    assert.equal(decimalKey(yen ?? {}), null, locale);
    const key = decimalKey(dinar ?? {}) ?? '';
    assert.equal(decimalKey(euro ?? {}), key);
    assert.equal(meant(`1${key}250`, dinar), 1_250n, `${locale}: dinars`);
    for (const typed of [key, '.', ',']) {
      assert.equal(meant(`2${typed}50`, euro), 250n, `${locale}: euros with ${typed}`);
      assert.equal(meant(`2${typed}50`, yen), 'This currency has no decimals.', locale);
    }
  }
  assert.equal(decimalKey({}), '.');
});

test('a till’s decimal key is the separator in its prices', () => {
  for (const locale of ['en', 'en-DE', 'en-AT', 'de', 'de-CH', 'fr-CH', 'es', 'ar-EG']) {
    const euro = { style: 'currency', currency: 'EUR', numberingSystem: 'latn' } as const;
    const [separator] = /[.,](?=50)/.exec(new Intl.NumberFormat(locale, euro).format(2.5)) ?? [];
    assert.equal(decimalSeparator(locale), separator, locale);
  }
});
