import fc from 'fast-check';
import type { ShownReceipt } from '#apis/pay/receipt-data-route.ts';
import { RECEIPT_EXAMPLE } from '#apis/pay/receipt-schema.ts';
import { type LineItem, linePrice, salePrice, taxTable } from '#prices/sale-lines.ts';

const EXAMPLE = RECEIPT_EXAMPLE as unknown as ShownReceipt;

/** Generates names: some as shops in many countries have them, some unusual. */
const NAME = fc
  .oneof(
    { weight: 4, arbitrary: fc.constantFrom('Flat white', 'Açaí 500 g', '日替わり定食（大盛り）') },
    { weight: 2, arbitrary: fc.constantFrom('قهوة عربية', 'Пирожок', 'Smörgås <small> & "más"') },
    {
      weight: 2,
      arbitrary: fc.constantFrom('☕👩🏽‍🍳 combo', 'ｱｲｽｺｰﾋｰ', 'Cafe\u0301 q\u0323\u0302'),
    },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 200 }) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('W'.repeat(200), '漢'.repeat(200), 'e\u0301'.repeat(99)),
    },
  )
  .filter((name) => name.trim() !== '');

const QUANTITY = fc.oneof(
  fc.integer({ min: 1, max: 20 }),
  fc.integer({ min: 1, max: 99_999 }).map((n) => (n / 1000).toFixed(3)),
);

const LINE = fc
  .record({
    name: NAME,
    quantity: QUANTITY,
    unit_amount: fc.integer({ min: 0, max: 2_000_000 }),
    tax_rate: fc.constantFrom(0, 260, 600, 800, 1000, 1300, 1900, 2300, 10_000),
    tax_inclusive: fc.boolean(),
    share: fc.integer({ min: 0, max: 4 }),
  })
  .map(({ share, ...line }): LineItem => {
    const whole = Number(linePrice({ ...line, discount: 0 }));
    return { ...line, discount: Math.floor((whole * Math.max(0, share - 2)) / 4) };
  });

const ZONES = ['UTC', 'Asia/Tokyo', 'America/Argentina/ComodRivadavia', 'Asia/Kathmandu'];
const CURRENCIES = ['eur', 'usd', 'jpy', 'kwd', 'chf', 'brl', 'sek', 'huf', null] as const;

const OPTIONAL = fc.option(NAME, { nil: null });

const quoteOf = (currency: string, amount: number) => ({
  currency,
  amount,
  rate: '1.08542277217',
  quoted_at: '2026-10-01T11:59:58.000Z',
  source: 'rates.example.com, rates.example.org',
  expires_at: '2026-10-01T12:02:00.000Z',
});

/**
 * Generates receipts of random sales, with lines, discounts, taxes, tips and refunds, in any
 * currency and time zone.
 */
export const RANDOM_RECEIPT: fc.Arbitrary<ShownReceipt> = fc
  .record({
    merchant: fc.record({
      name: NAME,
      legal_name: OPTIONAL,
      address: OPTIONAL,
      tax_number: OPTIONAL,
      location: fc.option(fc.record({ name: NAME, address: OPTIONAL }), { nil: null }),
    }),
    description: OPTIONAL,
    time_zone: fc.constantFrom(...ZONES),
    currency: fc.constantFrom(...CURRENCIES),
    lines: fc.option(fc.array(LINE, { minLength: 1, maxLength: 12 }), { nil: null }),
    discountShare: fc.integer({ min: 0, max: 3 }),
    tip: fc.integer({ min: 0, max: 1 }),
    refunds: fc.array(fc.integer({ min: 1, max: 1_000_000 }), { maxLength: 3 }),
    number: fc.integer({ min: 1, max: 2_000_000_000 }),
  })
  .map(({ currency, lines, discountShare, tip: tipped, refunds, number, ...said }) => {
    const whole = (lines ?? []).reduce((sum, line) => sum + Number(linePrice(line)), 0);
    const discount = Math.floor((whole * Math.max(0, discountShare - 1)) / 4);
    const sold = lines === null ? null : { lineItems: lines, discount };
    const price = sold === null ? 2_500_000 : Math.max(1, Number(salePrice(sold)));
    const tip = tipped * 250_000;
    const amount = price + tip;
    return {
      ...EXAMPLE,
      ...said,
      receipt_number: `K7XQM-${number}`,
      sale: price,
      tip,
      amount,
      paid: amount + 12_375,
      presentment:
        currency === null ? null : { ...quoteOf(currency, price), tip_amount: tipped * 25 },
      line_items: lines,
      discount,
      taxes: sold === null ? [] : taxTable(sold),
      refunds: refunds.map((back, index) => ({
        amount: back,
        presentment: currency === null ? null : quoteOf(currency, back),
        status: index === 0 ? ('pending' as const) : ('succeeded' as const),
        tx_hash: null,
        receipt_number: index === 0 ? null : `RBDFG-${number}`,
        receipt_url: null,
        created: EXAMPLE.settled_at,
      })),
    };
  });
