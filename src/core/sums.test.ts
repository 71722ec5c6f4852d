import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chargesOf } from './charges.ts';
import { presentTotal, toAtoms } from './currency-conversion.ts';
import { rateText } from './rate-text.ts';
import { exactDigits, exactUsdc, sumText } from './sums.ts';

const plain = (text: string) => text.replaceAll(/[\u00a0\u202f]/g, ' ').replaceAll(/\p{Cf}/gu, '');

/** Sums in minor units or, without a currency, in atoms, as a reader of each language sees them. */
const SUMS: readonly (readonly [currency: string | null, units: bigint, ...written: string[]])[] = [
  ['eur', 1_976n, '€19.76', '19,76 €', '€19.76', '19.76 €'],
  ['eur', -5n, '−€0.05', '−0,05 €', '−€0.05', '−0.05 €'],
  ['jpy', 1_300n, '¥1,300', '1.300 ¥', '￥1,300', '1,300 JP¥'],
  ['jpy', -100n, '−¥100', '−100 ¥', '-￥100'.replace('-', '−'), '−100 JP¥'],
  ['kwd', 4_250n, 'KWD 4.250', '4,250 KWD', 'KWD 4.250', '4.250 د.ك.'],
  // Intl writes rupiah without cents, although ISO 4217 has them.
  ['idr', 1_050n, 'IDR 10.50', '10,50 IDR', 'IDR 10.50', '10.50 IDR'],
  [null, 21_544_468n, '21.54 USDC', '21,54 USDC', '21.54 USDC', '21.54 USDC'],
  [null, 5_000n, '0.01 USDC', '0,01 USDC', '0.01 USDC', '0.01 USDC'],
  [null, 4_999n, '< 0.01 USDC', '< 0,01 USDC', '< 0.01 USDC', '< 0.01 USDC'],
  [null, 0n, '0.00 USDC', '0,00 USDC', '0.00 USDC', '0.00 USDC'],
  [null, -1_250n, '−< 0.01 USDC', '−< 0,01 USDC', '−< 0.01 USDC', '−< 0.01 USDC'],
  [null, 1_234_565_000n, '1,234.57 USDC', '1.234,57 USDC', '1,234.57 USDC', '1,234.57 USDC'],
];
const LOCALES = ['en', 'de', 'ja', 'ar-u-ca-gregory-nu-latn'] as const;

test('a sum has the decimals of its currency, in every language', () => {
  for (const [currency, units, ...written] of SUMS) {
    const shown = LOCALES.map((locale) => plain(sumText(units, currency, locale)));
    assert.deepEqual(shown, written.map(plain), `${units} ${currency}`);
  }
  assert.match(sumText(1n, null, 'ja'), /\u00a0USDC$/);
});

test('exact sums have six decimals for people, and the necessary ones for programs', () => {
  assert.equal(exactDigits(21_544_468n, 'de'), '21,544468');
  assert.equal(exactDigits(2_500_000n, 'en'), '2.500000');
  const exact = [6_780_375n, 2_500_000n, -1_375n, 1n, 1_000_000n].map(exactUsdc);
  assert.deepEqual(exact, ['6.780375', '2.50', '-0.001375', '0.000001', '1.00']);
});

const RATES: readonly (readonly [currency: string, rate: string, written: string])[] = [
  ['eur', '1.08542277217', '€1 = 1.0854 USDC'],
  ['usd', '1', '$1 = 1.0000 USDC'],
  ['kwd', '3.255208333333', 'KWD 1 = 3.2552 USDC'],
  ['pln', '0.1', 'PLN 1 = 0.10000 USDC'],
  ['sek', '0.099999', '1 USDC = SEK 10.000'],
  ['jpy', '0.006563833279', '1 USDC = ¥152.35'],
  ['vnd', '0.000039456', '1 USDC = ₫25,345'],
];

test('a rate has five significant digits, and is turned for small units', () => {
  for (const [currency, rate, written] of RATES) {
    assert.equal(plain(rateText({ currency, rate }, 'en')), written);
  }
  assert.equal(
    plain(rateText({ currency: 'eur', rate: '1.08542277217' }, 'de')),
    '1 € = 1,0854 USDC',
  );
});

const FEES = { acquirer: 30, protocol: 20, cashback: 5 };

/** Sales, and what their customers pay in minor units. */
const TOTALS = [
  { currency: 'eur', rate: '1.08542277217', amount: 1_976, tip: 0, total: 1_985, fees: 9 },
  { currency: 'kwd', rate: '3.255208333333', amount: 4_250, tip: 0, total: 4_269, fees: 19 },
  { currency: 'jpy', rate: '0.006563833279', amount: 1_300, tip: 130, total: 1_436, fees: 6 },
] as const;

test('the total is what leaves the wallet, and never below price and tip', () => {
  for (const { total, fees, ...sale } of TOTALS) {
    const atoms = toAtoms(BigInt(sale.amount), sale) + toAtoms(BigInt(sale.tip), sale);
    const { pulled } = chargesOf(atoms, FEES);
    assert.deepEqual(presentTotal({ ...sale, paid: pulled }), { total, fees });
  }
  const [{ rate, currency }] = TOTALS;
  const free = presentTotal({ currency, rate, amount: 100, tip: 10, paid: 1n });
  assert.deepEqual(free, { total: 110, fees: 0 });
});
