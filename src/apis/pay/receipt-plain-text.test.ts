import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { slipOf } from '#apis/pay/receipt-contents.ts';
import type { ShownReceipt } from '#apis/pay/receipt-data-route.ts';
import { receiptPage } from '#apis/pay/receipt-html.ts';
import { hasPdf, receiptPdf } from '#apis/pay/receipt-pdf.ts';
import { noReceiptText, receiptText } from '#apis/pay/receipt-plain-text.ts';
import { RECEIPT_EXAMPLE } from '#apis/pay/receipt-schema.ts';

import { LANGUAGES, PSEUDO_LANGUAGE } from '#i18n/languages.ts';
import { writerFor } from '#i18n/text.ts';
import { taxTable } from '#prices/sale-lines.ts';
import { visualLines } from '#testkit/fixtures/core/pdf-text.ts';
import { RANDOM_RECEIPT } from '#testkit/fixtures/payments/random-receipts.ts';
import { ticketBytes } from '../../../reader/src/printing/escpos.ts';

const URL = 'https://pay.example.com/receipts/0000003Fc2kHq8vXo1TzYd';
const receipt = RECEIPT_EXAMPLE as unknown as ShownReceipt;

/** Words, and the number of cells that they take, counted by hand. */
const WORDS: readonly (readonly [text: string, cells: number])[] = [
  ['Café', 4],
  ['Cafe\u0301', 4],
  ['q\u0323\u0302', 1],
  ['東京', 4],
  ['ｱｲｽ', 3],
  ['ＡＢ！', 6],
  ['「、」', 6],
  ['한국', 4],
  ['\u1112\u1161\u11ab', 2],
  ['☕', 2],
  ['❤\ufe0f', 2],
  ['👍🏽', 2],
  ['👩\u200d🍳', 4],
  ['™', 1],
  ['a\u200bb\u00ad\u2060c', 3],
  ['0x12…ab', 9],
  ['नमस्ते', 4],
  ['−1', 2],
];

/**
 * Returns the lines that are sent to the printer, between the first commands and the last: one byte
 * per cell.
 */
function printed(text: string): string[] {
  const bytes = ticketBytes({ text, address: null });
  return Buffer.from(bytes.subarray(7, -7)).toString('latin1').split('\n');
}

test('values end at the right edge, whatever their characters, in text and on paper', () => {
  for (const width of [32, 48] as const) {
    for (const [description, cells] of WORDS) {
      const text = receiptText(slipOf({ ...receipt, description }), URL, width);
      const at = text.split('\n').findIndex((line) => line.startsWith('For '));
      const line = text.split('\n')[at] ?? '';
      const [, blanks = ''] = /^For( +)/.exec(line) ?? [];
      assert.equal(3 + blanks.length + cells, width, `${description}: ${line}`);
      assert.equal(printed(text)[at]?.length, width, `${description} on paper`);
    }
  }
});

const LETTER = fc.oneof(
  fc.constantFrom(...WORDS.map(([text]) => text)),
  fc.string({ unit: 'binary', maxLength: 3 }),
  fc.string({ maxLength: 40 }),
);
const NAME = fc.array(LETTER, { maxLength: 30 }).map((parts) => parts.join(''));

test('no line is wider than the paper, for any text, in text and on paper', () => {
  fc.assert(
    fc.property(NAME, NAME, NAME, fc.constantFrom(32, 48), (name, description, zone, width) => {
      const slip = slipOf({
        ...receipt,
        merchant: { ...receipt.merchant, name },
        description,
      });
      const also = `K7XQM-1000000, 1 Oct 2026, 14:00 ${zone}`;
      const amounts = [...slip.amounts, { name: zone, value: '1.00 USDC', also }];
      for (const line of printed(receiptText({ ...slip, amounts }, URL, width))) {
        assert.ok(line.length <= width, `${line.length} cells: ${line}`);
      }
    }),
    { numRuns: 300 },
  );
  for (const width of [32, 48] as const) {
    for (const line of noReceiptText(width, writerFor('en')).split('\n'))
      assert.ok(line.length <= width);
  }
});

test('no line of a random sale is wider than the paper, in any language', () => {
  fc.assert(
    fc.property(
      RANDOM_RECEIPT,
      fc.constantFrom(...LANGUAGES, PSEUDO_LANGUAGE),
      (shown, language) => {
        const slip = slipOf(shown, writerFor(language));
        for (const width of [32, 48] as const) {
          for (const line of printed(receiptText(slip, URL, width))) {
            assert.ok(line.length <= width, `${line.length} cells: ${line}`);
          }
        }
      },
    ),
    { numRuns: 150 },
  );
});

const SOLD = [
  {
    name: 'Flat white',
    quantity: 2,
    unit_amount: 250,
    tax_rate: 1300,
    tax_inclusive: true,
    discount: 50,
  },
  {
    name: 'コーヒー豆',
    quantity: '0.350',
    unit_amount: 2000,
    tax_rate: 0,
    tax_inclusive: false,
    discount: 0,
  },
];
const QUOTE = {
  currency: 'eur',
  amount: 1050,
  total: 1155,
  fees: 5,
  tip_amount: 100,
  rate: '1.0854',
  quoted_at: '2026-10-01T11:59:58.000Z',
  source: 'rates.example.com',
  expires_at: '2026-10-01T12:02:00.000Z',
};
const CAFE: ShownReceipt = {
  ...receipt,
  presentment: QUOTE,
  line_items: SOLD,
  discount: 100,
  taxes: taxTable({ lineItems: SOLD, discount: 100 }),
};

test('a receipt names the shop, its lines, their taxes, and both sums', () => {
  const text = receiptText(slipOf(CAFE), URL, 48);
  for (const line of [
    /^ +Porta Azul, Lda\.\n +Rua da Rosa 14, 1200-386 Lisboa\n +Chiado\n/m,
    /^ +Chiado\n +Rua Garrett 2, 1200-203 Lisboa\n +Tax number PT500123456\n/m,
    /^ +€11\.55$/m,
    /^Flat white +€5\.00\n +2 × €2\.50, 13% tax included\nDiscount +−€0\.50$/m,
    /^コーヒー豆 +€7\.00\n +0\.35 × €20\.00, plus 0% tax$/m,
    /^Discount on all items +−€1\.00$/m,
    /^Sale +€10\.50\nTip +€1\.00\nService fee +€0\.05\n-+$/m,
    /^Total +€11\.55\n +2\.76 USDC · €1 = 1\.0854 USDC$/m,
    /^Tax 0% +€0\.00\n +Net €6\.39, with tax €6\.39$/m,
    /^Tax 13% +€0\.47\n +Net €3\.64, with tax €4\.11$/m,
    /^Exchange rate +€1 = 1\.0854 USDC$/m,
  ]) {
    assert.match(text, line);
  }
});

test('a translator may change no name, address, number or sum on the page', () => {
  const [body = ''] = receiptPage(slipOf(CAFE), { url: URL, node: null, pdf: null }).body.split(
    '<script',
  );
  const rest = body.replaceAll(/<(\w+)\b[^>]*translate="no"[^>]*>.*?<\/\1>/gs, '');
  for (const given of ['Porta Azul', 'Rua da Rosa', 'PT500123456', 'Flat white', '€', 'USDC']) {
    assert.ok(body.includes(given) && !rest.includes(given), `${given}\n${rest}`);
  }
});

test('each form writes sums with the decimals of the currency', () => {
  const shown = (currency: string, language: 'en' | 'de' | 'ja') =>
    slipOf({ ...CAFE, presentment: { ...QUOTE, currency } }, writerFor(language)).headline;
  assert.deepEqual(
    [shown('jpy', 'ja'), shown('kwd', 'en'), shown('eur', 'de'), shown('huf', 'en')],
    ['￥1,155', 'KWD\u00a01.155', '11,55\u00a0€', 'HUF\u00a011.55'],
  );
});

test('no letter is cut in two', () => {
  const name = 'e\u0301\u0323'.repeat(40) + '👍🏽'.repeat(20);
  const text = receiptText(
    slipOf({ ...receipt, merchant: { ...receipt.merchant, name } }),
    URL,
    32,
  );
  for (const line of text.split('\n')) assert.doesNotMatch(line.trimStart(), /^\p{M}/u);
});

test('a refunded receipt says so at its top', () => {
  const refund = {
    amount: receipt.sale + receipt.tip,
    status: 'succeeded',
    tx_hash: null,
    presentment: null,
    receipt_number: null,
    receipt_url: null,
    created: receipt.settled_at,
  } as const;
  const stateOf = (refunds: ShownReceipt['refunds']) => slipOf({ ...receipt, refunds }).state;
  assert.equal(stateOf([]), null);
  assert.equal(stateOf([{ ...refund, status: 'pending' }]), null);
  assert.equal(stateOf([{ ...refund, amount: 1 }]), 'Partly refunded');
  assert.equal(
    stateOf([
      { ...refund, amount: 1 },
      { ...refund, amount: refund.amount - 1 },
    ]),
    'Refunded',
  );
  const whole = slipOf({ ...receipt, refunds: [refund] });
  assert.match(receiptText(whole, URL, 32), /^ +Refunded$/m);
  const { body } = receiptPage(whole, { url: URL, node: null, pdf: null });
  assert.match(body, /<p class="state">Refunded<\/p>/);
});

test('the payer is on one line of paper, at the right edge', () => {
  for (const width of [32, 48] as const) {
    const lines = printed(receiptText(slipOf(receipt), URL, width));
    const payer = lines.filter((line) => line.startsWith('Payer'));
    assert.deepEqual([payer.length, payer[0]?.length], [1, width]);
    assert.match(payer[0] ?? '', / 0x\w+\.\.\.\w+$/);
  }
});

test('a name cannot command a printer, reverse a line, or inject markup', () => {
  const name = '\u001b@Café\u202egnp\n</script><b>&';
  const shown = slipOf({
    ...receipt,
    merchant: { ...receipt.merchant, name },
    description: name,
  });
  assert.doesNotMatch(receiptText(shown, URL, 32), /\p{Cc}(?<!\n)|\p{Cf}/u);
  const { title, body } = receiptPage(shown, {
    url: URL,
    node: null,
    pdf: null,
  });
  assert.doesNotMatch(title + body, /<b>/);
  assert.equal(body.match(/<\/script>/g)?.length, 1);
});

test('the parts of a receipt add up to the amount that left the wallet', () => {
  const { sale, tip, fees, paid } = receipt;
  assert.equal(sale + tip + fees.acquirer + fees.protocol - fees.cashback, paid);
  assert.match(
    receiptText(slipOf(receipt), URL, 48),
    /Service fee {28}0\.01 USDC\n-+\nTotal {34}2\.76 USDC\n/,
  );
});

test('a PDF has the receipt in Latin, Japanese, Cyrillic and Arabic letters', async () => {
  const names = ['Flat white €2', 'コーヒー豆 ｱｲｽ', 'Пирожок', 'قهوة (عربية) 12', 'Žluťoučký kůň'];
  for (const language of ['en', 'ja', 'ar'] as const) {
    const lines = names.map((name) => ({
      ...(SOLD[0] as (typeof SOLD)[number]),
      name,
    }));
    const slip = slipOf({ ...CAFE, line_items: lines }, writerFor(language));
    assert.ok(hasPdf(slip));
    const pdf = await receiptPdf(slip, URL);
    assert.match(pdf.toString('latin1'), /^%PDF-1\.[3-7]\n.*\/FontFile2 .*%%EOF\n$/s);
    assert.ok(pdf.length < 150_000, `${pdf.length} bytes`);
  }
});

/** Names, and what a program reads of each from left to right. */
const READ: readonly (readonly [name: string, read: string])[] = [
  ['لا إله', 'هلإ ال'],
  ['تبث نيب شس صض', 'ضص سش بين ثبت'],
  ['مطعم Café №5', 'Café №5 معطم'],
  ['شاي (كبير) 50%', '%50 )ريبك( ياش'],
  ['Straße ﬁ', 'Straße ﬁ'],
  ['㈱テスト', '㈱テスト'],
  ['寿司 × 2', '寿司 × 2'],
  ['שלום', 'םולש'],
  ['ภาษาไทย', 'ภาษาไทย'],
  ['Ελληνικά', 'Ελληνικά'],
  ['Ice 😀 👩\u200d🍳', 'Ice 😀 👩\u200d🍳'],
  ['abc\u202edef', 'abcdef'],
];

test('programs read every letter of a PDF, in its place', async () => {
  const lines = READ.map(([name]) => ({ ...(SOLD[0] as (typeof SOLD)[number]), name }));
  const slip = slipOf({ ...CAFE, line_items: lines }, writerFor('ar'));
  const pdf = await receiptPdf(slip, URL);
  const read = visualLines(pdf).map((line) => line.replaceAll(/[\u200e\u200f]/g, ''));
  for (const [name, shown] of READ) {
    const result = read.some((line) => line.endsWith(shown) || line.startsWith(shown));
    assert.ok(result, `${name} in\n${read.join('\n')}`);
  }
  assert.ok(
    read.some((line) => line.includes('−')),
    'a discount has its minus',
  );
});

test('a PDF names its language, is tagged, and has each paragraph as text', async () => {
  for (const language of ['en', 'ja', 'ar'] as const) {
    const lines = READ.map(([name]) => ({ ...(SOLD[0] as (typeof SOLD)[number]), name }));
    const slip = slipOf({ ...CAFE, line_items: lines }, writerFor(language));
    const pdf = await receiptPdf(slip, URL);
    const text = pdf.toString('latin1');
    assert.match(text, new RegExp(`/Lang \\(${language}\\)`));
    assert.match(text, /\/MarkInfo \d+ 0 R/);
    assert.match(text, /\/Marked true/);
    assert.match(text, /\/S \/H1/);
    assert.match(text, /\/S \/Figure/);
    for (const [name] of READ) {
      const units = Buffer.from(name.replace('\u202e', ''), 'utf16le').swap16();
      const escaped = units
        .toString('latin1')
        .replaceAll(/[()\\]/g, '\\$&')
        .replaceAll('\r', '\\r');
      assert.ok(text.includes(escaped), name);
    }
  }
});

test('there is no PDF of a receipt with a letter that no font has', () => {
  for (const description of ['한국', 'नमस्ते', '\u1200']) {
    assert.equal(hasPdf(slipOf({ ...receipt, description })), false, description);
  }
});

test('a PDF of 100 long lines has several pages', async () => {
  const line = {
    ...(SOLD[0] as (typeof SOLD)[number]),
    name: 'Wide '.repeat(40).trim(),
  };
  const slip = slipOf({
    ...CAFE,
    line_items: Array.from({ length: 100 }, () => line),
  });
  const pdf = (await receiptPdf(slip, URL)).toString('latin1');
  assert.ok((pdf.match(/\/Type \/Page\n/g) ?? []).length > 5);
});
