import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import fc from 'fast-check';
import { chromium } from 'playwright-core';
import { slipOf } from '#apis/pay/receipt-contents.ts';
import type { ShownReceipt } from '#apis/pay/receipt-data-route.ts';
import { receiptPage } from '#apis/pay/receipt-html.ts';
import { hasPdf, receiptPdf } from '#apis/pay/receipt-pdf.ts';
import { receiptText } from '#apis/pay/receipt-plain-text.ts';
import { RECEIPT_EXAMPLE } from '#apis/pay/receipt-schema.ts';
import { LANGUAGES } from '#i18n/languages.ts';
import { writerFor } from '#i18n/text.ts';
import { RANDOM_RECEIPT } from '#testkit/fixtures/payments/random-receipts.ts';
import { launchChromium } from '#testkit/network/chromium.ts';
import { cellsOf } from '../../reader/src/printing/escpos.ts';

/** 10,000 receipts take two minutes of a core, so `npm test` prints 150. */
const RECEIPTS = 10_000;
/** Number of PDFs that a PDF reader opens, one process each. */
const PDFS = 100;
const URL = 'https://pay.example.com/receipts/0000003Fc2kHq8vXo1TzYd';
/** The part of a page's environment that Node lacks. */
interface Page {
  readonly DOMParser: new () => {
    parseFromString(
      text: string,
      type: string,
    ): { querySelector(name: string): { readonly textContent: string | null } | null };
  };
}

/** XML cannot contain control characters, and the API refuses them in names. */
const NOT_XML = /[^\t\n\r -\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;
const receipts = fc.sample(RANDOM_RECEIPT, { numRuns: RECEIPTS, seed: 20_261_128 });
const slips = receipts.map((shown, at) => {
  return slipOf(shown, writerFor(LANGUAGES[at % LANGUAGES.length] ?? 'en'));
});

test('no line of 10,000 receipts is wider than 32 or 48 cells, in any language', () => {
  for (const slip of slips) {
    for (const width of [32, 48] as const) {
      for (const line of receiptText(slip, URL, width).split('\n')) {
        assert.ok(cellsOf(line) <= width, `${cellsOf(line)} cells: ${line}`);
      }
    }
  }
});

test('the taxes of each receipt add up to its sale', () => {
  for (const { line_items: lines, taxes, sale } of receipts) {
    if (lines === null) continue;
    const gross = taxes.reduce((sum, row) => sum + row.gross, 0);
    assert.equal(Math.max(1, gross), sale);
    for (const { net, tax, gross: whole } of taxes) assert.equal(net + tax, whole);
  }
});

test('the pages of 10,000 receipts are well-formed', async () => {
  const server = await launchChromium();
  const browser = await chromium.connect(server.wsEndpoint());
  const page = await browser.newPage();
  for (let at = 0; at < slips.length; at += 500) {
    const bodies = slips
      .slice(at, at + 500)
      .map((slip) => receiptPage(slip, { url: URL, node: null, pdf: null }).body);
    const wrong = await page.evaluate(
      (texts) => {
        const { DOMParser } = globalThis as unknown as Page;
        return texts.flatMap((text) => {
          const parsed = new DOMParser().parseFromString(text, 'text/xml');
          const error = parsed.querySelector('parsererror')?.textContent;
          return error === undefined ? [] : [`${error}\n${text}`];
        });
      },
      bodies.map((body) => `<body>${body.replaceAll(NOT_XML, '')}</body>`),
    );
    assert.deepEqual(wrong.slice(0, 1), []);
  }
  await browser.close();
  await server.close();
});

test('xmllint finds no error in the pages of 10,000 receipts', (t) => {
  if (spawnSync('xmllint', ['--version']).error !== undefined) {
    return t.skip('xmllint is missing: apt-get install libxml2-utils');
  }
  for (let at = 0; at < slips.length; at += 500) {
    const bodies = slips
      .slice(at, at + 500)
      .map((slip) => receiptPage(slip, { url: URL, node: null, pdf: null }).body);
    const input = `<all>${bodies.join('').replaceAll(NOT_XML, '')}</all>`;
    const { status, stderr } = spawnSync('xmllint', ['--noout', '--huge', '-'], { input });
    assert.equal(status, 0, stderr.toString().slice(0, 2_000));
  }
});

test('a PDF reader finds the sum in each PDF, and no error', async (t) => {
  if (spawnSync('pdftotext', ['-v']).error !== undefined)
    return t.skip('pdftotext is missing: apt-get install poppler-utils');
  let made = 0;
  for (const slip of slips
    .slice(0, 20 * PDFS)
    .filter(hasPdf)
    .slice(0, PDFS)) {
    const input = await receiptPdf(slip, URL);
    const { stdout, stderr } = spawnSync('pdftotext', ['-layout', '-', '-'], { input });
    assert.equal(stderr.toString(), '');
    assert.ok(stdout.toString().includes('K7XQM-'), stdout.toString());
    made++;
  }
  assert.equal(made, PDFS);
});

test('pdftotext reads every name of a receipt in its logical order', async (t) => {
  if (spawnSync('pdftotext', ['-v']).error !== undefined)
    return t.skip('pdftotext is missing: apt-get install poppler-utils');
  const names = [
    ...['لا إله', 'تبث نيب شس صض', 'مطعم Café №5', 'Straße ﬁ', '㈱テスト', '寿司 × 2'],
    ...['שלום עולם', 'ภาษาไทย', 'Ελληνικά', 'Ice 😀', 'abc\u202edef'],
  ];
  const [line] = RECEIPT_EXAMPLE.line_items;
  const line_items = names.map((name) => ({ ...line, name }));
  const receipt = { ...RECEIPT_EXAMPLE, line_items } as unknown as ShownReceipt;
  for (const language of ['ar', 'en'] as const) {
    const input = await receiptPdf(slipOf(receipt, writerFor(language)), URL);
    const { stdout, stderr } = spawnSync('pdftotext', ['-', '-'], { input });
    assert.equal(stderr.toString(), '');
    const text = stdout.toString().replaceAll(/\p{Cf}/gu, '');
    for (const name of names)
      assert.ok(text.includes(name.replace('\u202e', '')), `${name}\n${text}`);
    assert.ok(text.includes(language === 'ar' ? 'شامل ضريبة 13%' : '13% tax included'), text);
    assert.ok(text.includes('−0.001375 USDC'), text);
  }
});
