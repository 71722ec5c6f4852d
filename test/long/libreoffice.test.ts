import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { accountingHeader, accountingLines } from '#apis/dashboard/exports/accountant-columns.ts';
import { EXPORTS } from '#apis/dashboard/exports/export-kinds.ts';
import type { Entry } from '#books/entry-queries.ts';
import { dayBounds } from '#core/calendar.ts';
import { BYTE_ORDER_MARK } from '#core/csv.ts';
import { encodeWindows1252 } from '#core/windows-1252.ts';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';
import { addSales, entryOf, parseCsv, periodOf, textOf } from '#testkit/fixtures/payments/books.ts';
import { openStore, TEST_RECEIPTS } from '#testkit/fixtures/payments/store.ts';

/**
 * Opens and saves statements and the accountants' file of payments with LibreOffice, on a German
 * and an English system: every cell must stay as written. LibreOffice imports quoted cells as text,
 * which is an option of its import dialog.
 */

const run = promisify(execFile);
const ENTRIES = 2_000;
const LOCALES = { de_DE: 'de-DE', C: 'en-US' } as const;
type Locale = keyof typeof LOCALES;
const SHEETS = {
  csv: { separator: ',', code: 44, charset: 76, decimal: '.' },
  payments: { separator: ',', code: 44, charset: 76, decimal: '.' },
  xero: { separator: ',', code: 44, charset: 76, decimal: '.' },
  quickbooks: { separator: ',', code: 44, charset: 76, decimal: '.' },
  datev: { separator: ';', code: 59, charset: 1, decimal: ',' },
} as const;
/** Sums whose decimals look like thousands groups, and texts that look like other types. */
const TEXTS = [
  ...['=1+1', '-2', '+49 30 1234', '@sum', '1.234', '1,5', '0012', '1.12.2026', '2026-12-01'],
  ...['Café "Zwei; drei"', 'a, b', 'Zeile\nZwei', '寿司 👍', '12:30', 'TRUE', '1E5', '€ 5', "'x"],
];
const CURRENCIES = [null, 'eur', 'jpy', 'kwd'];

const PAYMENTS = 200;

const folder = testFolder();
let payments = '';

before(async () => {
  payments = await exportPayments();
});

function entryAt(n: number, since: Date): Entry {
  const isOut = n % 5 === 4;
  const amount = [1_234_000n, 125_000n, 2_500_000n, 1_000_001n, 7n, 1_234_567_891n][n % 6] ?? 1n;
  const currency = isOut ? null : (CURRENCIES[n % CURRENCIES.length] ?? null);
  return entryOf({
    type: isOut ? 'payout' : 'payment',
    amount: isOut ? -amount / 2n - 1n : amount,
    created: new Date(since.getTime() + n * 40_000),
    position: BigInt(n + 1),
    object_id: `pay_${n}`,
    order_id: TEXTS[n % TEXTS.length] ?? '',
    description: TEXTS[(n * 7) % TEXTS.length] ?? '',
    receipt_number: n % 3 === 0 ? `K7XQM-${n}` : null,
    terminal: 'tml_1',
    currency,
    minor: currency === null ? null : BigInt(1_005 + n),
    ...{ quote_rate: '1.1', shop_currency: currency, shop_rate: null },
  });
}

/** Writes the accountants' file of payments, most of them in a currency with three decimals. */
async function exportPayments(): Promise<string> {
  const store = await openStore();
  const { tenant } = store.merchant;
  const now = store.clock.now();
  const sales = Array.from({ length: PAYMENTS }, (_, n) => {
    const currency = CURRENCIES[n % CURRENCIES.length] ?? 'kwd';
    const presentment = { currency, amount: 1_005 + n, rate: n % 2 === 0 ? '0.921' : '3.255208' };
    const description = TEXTS[n % TEXTS.length] ?? '';
    return { at: now, amount: 1_234_000n + BigInt(n), description, presentment };
  });
  await addSales(store.db, tenant, sales);
  const page = { limit: PAYMENTS, after: null, createdGte: null, createdLt: null };
  const whose = { tenant, now, receipts: TEST_RECEIPTS };
  const { rows } = await EXPORTS.payments.read(store.db, whose, page);
  const options = { name: 'payments', rows, timeZone: 'Europe/Berlin' } as const;
  const lines = await accountingLines(store.db, tenant, options);
  await store.close();
  return BYTE_ORDER_MARK + accountingHeader('payments') + lines.join('');
}

async function fileOf(format: keyof typeof SHEETS): Promise<string> {
  if (format === 'payments') return payments;
  const shop = { timeZone: 'Europe/Berlin', starts: [] };
  const day = '2026-10-25';
  const { since } = dayBounds(shop, day);
  const entries = Array.from({ length: ENTRIES }, (_, n) => entryAt(n, since));
  const rates = ['eur', 'jpy', 'kwd'].map((shop_currency) => ({ shop_currency, shop_rate: '0.9' }));
  return textOf(periodOf(entries, { from: day, to: day, shop }), format, { rates });
}

/** Creates a LibreOffice profile whose system has this locale. */
async function profileOf(locale: Locale): Promise<string> {
  const profile = path.join(folder, locale);
  await mkdir(path.join(profile, 'user'), { recursive: true });
  const item =
    '<item oor:path="/org.openoffice.Setup/L10N"><prop oor:name="ooSetupSystemLocale" ' +
    `oor:op="fuse"><value>${LOCALES[locale]}</value></prop></item>`;
  const namespace = 'xmlns:oor="http://openoffice.org/2001/registry"';
  const items = `<oor:items ${namespace}>${item}</oor:items>`;
  const text = `<?xml version="1.0" encoding="UTF-8"?>\n${items}`;
  await writeFile(path.join(profile, 'user', 'registrymodifications.xcu'), text);
  return pathToFileURL(profile).href;
}

/** Opens the file as a spreadsheet and saves it as CSV. */
async function throughOffice(locale: Locale, format: keyof typeof SHEETS): Promise<string[][]> {
  const { code, charset } = SHEETS[format];
  const text = await fileOf(format);
  const file = path.join(folder, `${format}.csv`);
  await writeFile(file, charset === 1 ? encodeWindows1252(text) : text);
  const out = path.join(folder, `${locale}-${format}`);
  await run('soffice', [
    ...[`-env:UserInstallation=${await profileOf(locale)}`, '--headless'],
    ...['--convert-to', 'csv:Text - txt - csv (StarCalc):44,34,76,1,,0,true,false'],
    ...[`--infilter=CSV:${code},34,${charset},1,,0,true,false`, '--outdir', out, file],
  ]);
  const saved = await readFile(path.join(out, `${format}.csv`), 'utf8');
  return parseCsv(saved.replaceAll('\r\n', '\n').replaceAll('\n', '\r\n'));
}

/** True if both cells have the same text, or the same number in each one's decimal notation. */
function isSame(read: string, written: string, signs: { file: string; locale: string }): boolean {
  if (read === written) return true;
  const numberOf = (cell: string, sign: string) =>
    /^-?\d+([.,]\d+)?(E\+\d+)?$/.test(cell) ? Number(cell.replace(sign, '.')) : Number.NaN;
  return numberOf(read, signs.locale) === numberOf(written, signs.file);
}

for (const locale of Object.keys(LOCALES) as Locale[]) {
  for (const format of Object.keys(SHEETS) as (keyof typeof SHEETS)[]) {
    test(`${format}, ${locale}: every cell is read as it was written`, async () => {
      const { separator, decimal, charset } = SHEETS[format];
      const text = (await fileOf(format)).replace(/^\uFEFF/, '');
      const encoded = charset === 1 ? encodeWindows1252(text) : Buffer.from(text);
      const decoder = new TextDecoder(charset === 1 ? 'windows-1252' : 'utf-8');
      const written = parseCsv(decoder.decode(encoded), separator);
      const read = await throughOffice(locale, format);
      assert.equal(read.length, written.length);
      const signs = { file: decimal, locale: locale === 'C' ? '.' : ',' };
      const wrong = written.flatMap((row, y) =>
        row.flatMap((cell, x) => {
          const result = (read[y]?.[x] ?? '').replaceAll('\r\n', '\n');
          return isSame(result, cell, signs) ? [] : [`${y}/${x}: ${cell} was read as ${result}`];
        }),
      );
      assert.deepEqual(wrong.slice(0, 10), []);
    });
  }
}
