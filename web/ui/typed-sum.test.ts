import '../testing/texts.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { withoutIsolates } from '#i18n/bidi-isolates.ts';
import { MAX_ATOMS } from './format-usdc.ts';
import { readItemPrice, writeItemPrice } from './item-price.ts';
import { decimalKey, readSum, type SumRules, writeSum } from './typed-sum.ts';
import { readWhole } from './whole-number.ts';

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
    ['1000.000', 'Enter an amount such as 2,50.'],
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

test('separators of Arabic and Japanese keyboards are understood', () => {
  for (const decimals of [2, 6]) {
    const units = (cents: bigint) => cents * 10n ** BigInt(decimals - 2);
    holds({ decimals }, [
      ['١٢٫٥٠', units(1_250n)],
      ['１２．５０', units(1_250n)],
      ['12،50', units(1_250n)],
      ['۱۲٫۵۰', units(1_250n)],
      ['１２，５０', units(1_250n)],
      ['٫5', units(50n)],
      ['٥٫', units(500n)],
      ['١٬٥٠٠', units(150_000n)],
      ['1٬500٬000.5', units(150_000_050n)],
      ['1٬500٫25', units(150_025n)],
      ['1.500٫25', units(150_025n)],
      ['1,500٫25', units(150_025n)],
      ['1’500٫25', units(150_025n)],
      ['１，５００．２５', units(150_025n)],
      ['１．５００，２５', units(150_025n)],
      ['١٬٥٠٠،٢٥', units(150_025n)],
      ['１，５００', 'Write 1500 or 1.50'],
      ['１．５００', 'Write 1500 or 1.50'],
      ['١،٥٠٠', 'Write 1500 or 1.50'],
      ['０．５００', decimals === 6 ? 500_000n : 'At most 2 decimals.'],
      ['0٬500', MALFORMED],
      ['1٫5٫0', MALFORMED],
      ['1٫500٬000', MALFORMED],
      ['1٬50', MALFORMED],
      ['1٬500,000,000', MALFORMED],
    ]);
  }
  holds({}, [['1٫500', 1_500_000n]]);
  holds({ decimals: 2 }, [['1٫500', 'At most 2 decimals.']]);
  for (const locale of ['en', 'de', 'ar']) {
    holds({ decimals: 3, locale }, [
      ['1٫500', 1_500n],
      ['1٬500', 1_500_000n],
    ]);
  }
  holds({ decimals: 0 }, [
    ['1٬500', 1_500n],
    ['１，５００', 1_500n],
    ['1٫500', 'This currency has no decimals.'],
  ]);
});

test('the price of an item, and no other amount, may be 0 or begin with a minus', () => {
  const rules = { decimals: 2 };
  const typed: readonly (readonly [string, bigint | 'refused'])[] = [
    ['-0.25', -25n],
    ['−٠٫٢٥', -25n],
    ['−1,500.00', -150_000n],
    ['4.90', 490n],
    ['0', 0n],
    ['-1,500', 'refused'],
    ['--1', 'refused'],
    ['−', 'refused'],
    ['1-', 'refused'],
  ];
  for (const [text, expected] of typed) {
    const read = readItemPrice(text, rules);
    assert.equal(read.is === 'sum' ? read.units : read.is, expected, text);
  }
  const written = readItemPrice('−1.500', { decimals: 3, wrote: -1_500n, locale: 'en' });
  assert.deepEqual(written, { is: 'sum', units: -1_500n, isWritten: true });
  assert.equal(writeItemPrice(-150_025n, rules), '−1,500.25');
  assert.deepEqual(
    ['-1', '−1', '0'].map((text) => meant(text)),
    [MALFORMED, MALFORMED, 'Enter more than 0.'],
  );
});

test('refusals suggest input in the reader’s language', () => {
  const german = { decimals: 2, locale: 'de' };
  assert.equal(meant('1,500', german), 'Write 1500 or 1,50');
  assert.equal(meant('two', german), 'Enter an amount such as 2,50.');
});

test('a whole number is read in every script, and only if it is exact', () => {
  const cases = [
    ['24', 24],
    [' ２４ ', 24],
    ['٢٤', 24],
    ['0', 0],
    ['9007199254740993', null],
  ] as const;
  for (const [text, number] of cases) assert.equal(readWhole(text), number, text);
  for (const text of ['', '-1', '1.5', '1,000', '1e3', 'x'])
    assert.equal(readWhole(text), null, text);
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

/** Every language of the pages, and regions whose separators or groups differ from it. */
const LOCALES = [
  ...['en', 'en-AT', 'en-DE', 'en-IN', 'en-SE', 'en-ZA', 'de', 'de-AT', 'de-CH', 'fr', 'fr-CH'],
  ...['es', 'es-MX', 'pt', 'pt-PT', 'ja', 'ar-u-nu-latn', 'ar-EG-u-nu-latn', 'ar-MA-u-nu-latn'],
];

test('the text that a form writes can be typed back, in every currency and language', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 1n, max: MAX_ATOMS }),
      fc.constantFrom(0, 2, 3, 6),
      fc.constantFrom(...LOCALES),
      (units, decimals, locale) => {
        const rules = { decimals, locale };
        assert.equal(meant(writeSum(units, rules), rules), units);
      },
    ),
  );
});

test('the decimal key types decimals; `.` and `,` do too where that is unambiguous', () => {
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
});

test('a till’s decimal key is the separator in its prices, its placeholder and its values', () => {
  for (const locale of LOCALES) {
    const euro = { style: 'currency', currency: 'EUR' } as const;
    for (const [rules, shape] of [
      [{ decimals: 2, locale }, euro],
      [{ locale }, { minimumFractionDigits: 2 }],
    ] as const) {
      const price = new Intl.NumberFormat(locale, shape).format(3.8);
      const [separator] = /[.,](?=80)/.exec(price) ?? [];
      assert.equal(decimalKey(rules), separator, locale);
      assert.equal(writeSum(0n, rules), `0${separator}00`, locale);
    }
  }
});
