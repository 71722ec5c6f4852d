import type { CatalogueRow } from '#accounts/catalogue-queries.ts';
import type { ShopSettings } from '#accounts/shop-settings.ts';
import { type Refusal, refuse } from '#core/answer.ts';
import type { CatalogueProblem } from '#core/catalogue-problems.ts';
import {
  BYTE_ORDER_MARK,
  csvDecimal,
  csvHeader,
  csvLine,
  readCsv,
  withoutApostrophe,
} from '#core/csv.ts';
import { minorDigits } from '#core/currencies.ts';
import { exactUsdc, minorText, plainDecimal } from '#core/sums.ts';

/** Reads and writes a catalog as CSV, as spreadsheets do. */

const COLUMNS = ['name', 'price', 'tax_rate', 'category', 'barcode', 'color'] as const;
type Column = (typeof COLUMNS)[number];

/** Maximum number of rows, which is also that of items. */
export const MAX_ROWS = 2_000;

const PERCENT_DECIMALS = 2;
const USDC_DECIMALS = 6;

/**
 * Returns the items in the shop's currency as a file. Prices of three decimals get a fourth one,
 * because some spreadsheets would read them as thousands.
 */
export function catalogueFile(rows: readonly CatalogueRow[], { currency }: ShopSettings): string {
  const lines = rows
    .filter((row) => row.currency === currency)
    .map((row) => {
      const { unit_amount: price, tax_rate } = row;
      const text = currency === null ? exactUsdc(price) : minorText(price, currency);
      const cells = { price: csvDecimal(text), tax_rate: plainDecimal(tax_rate, PERCENT_DECIMALS) };
      const { name, category, barcode, color } = row;
      return csvLine({ name, ...cells, category, barcode, color }, COLUMNS);
    });
  return [BYTE_ORDER_MARK, csvHeader(COLUMNS), ...lines].join('');
}

/** The values of an item that a row sets. A column that the file lacks sets none. */
export type ItemValues = Pick<CatalogueRow, 'name' | 'unit_amount'> &
  Partial<Pick<CatalogueRow, 'tax_rate' | 'category' | 'barcode' | 'color'>>;

export interface FileRow {
  /** As spreadsheets number it: the header is row 1. */
  readonly row: number;
  readonly name: string;
  readonly read: ItemValues | CatalogueProblem;
}

/** Reads the rows of a file. Refuses a file that is no catalog. */
export function readCatalogueFile(
  bytes: Uint8Array,
  settings: ShopSettings,
): readonly FileRow[] | Refusal {
  const records = readCsv(bytes);
  if (records === null)
    return invalid('A cell of the file begins with a quote, but does not end with one.');
  const [first = [], ...others] = records;
  const header = first.map((cell) => cell.trim().toLowerCase());
  const wrong = checkHeader(header);
  if (wrong !== null) return wrong;
  const filled = others
    .map((cells, index) => ({ cells: cells.map((cell) => cell.trim()), row: index + 2 }))
    .filter(({ cells }) => cells.some((cell) => cell !== ''));
  if (filled.length > MAX_ROWS) return invalid(`A file can have at most ${MAX_ROWS} rows.`);
  return filled.map(({ cells, row }) => {
    const cellOf = (column: Column) => {
      const at = header.indexOf(column);
      return at < 0 ? undefined : withoutApostrophe(cells[at] ?? '');
    };
    const isWide = cells.some((cell, at) => cell !== '' && (header[at] ?? '') === '');
    const read = isWide ? 'cells' : readItem(cellOf, settings);
    return { row, name: cellOf('name') ?? '', read };
  });
}

function invalid(message: string): Refusal {
  return refuse('parameter_invalid', message);
}

function checkHeader(header: readonly string[]): Refusal | null {
  const named = header.filter((name) => name !== '');
  const unknown = named.find((name) => !COLUMNS.some((column) => column === name));
  if (unknown !== undefined) {
    const text = JSON.stringify(unknown);
    return invalid(
      `The first row must name the columns. ${text} is none of ${COLUMNS.join(', ')}.`,
    );
  }
  const twice = named.find((name, index) => named.indexOf(name) !== index);
  if (twice !== undefined) return invalid(`The column ${twice} occurs twice.`);
  const missing = (['name', 'price'] as const).find((column) => !named.includes(column));
  return missing === undefined ? null : invalid(`The file has no column ${missing}.`);
}

type CellOf = (column: Column) => string | undefined;

function readItem(cellOf: CellOf, settings: ShopSettings): ItemValues | CatalogueProblem {
  const name = cellOf('name') ?? '';
  if (!isLine(name, 200) || name === '') return 'name';
  const price = readPrice(cellOf('price') ?? '', settings.currency);
  if (typeof price === 'string') return price;
  const tax = cellOf('tax_rate') ?? '';
  const rate = tax === '' ? undefined : readRate(tax, settings);
  if (rate === null) return 'tax_rate';
  const [category, barcode, color] = [cellOf('category'), cellOf('barcode'), cellOf('color')];
  if (category !== undefined && !isLine(category, 60)) return 'category';
  if (barcode && ROUNDED.test(barcode)) return 'barcode_rounded';
  if (barcode && !BARCODE.test(barcode)) return 'barcode';
  if (color && !COLOR.test(color)) return 'color';
  return {
    ...{ name, unit_amount: price },
    ...(rate === undefined ? {} : { tax_rate: rate }),
    ...(category === undefined ? {} : { category: category || null }),
    ...(barcode === undefined ? {} : { barcode: barcode || null }),
    ...(color === undefined ? {} : { color: color || null }),
  };
}

export const BARCODE = /^[!-~]{1,60}$/;
/** A long number as a spreadsheet shows it, with digits missing. */
const ROUNDED = /^\d[.,]\d+E\+\d+$/i;
const COLOR = /^#[0-9a-fA-F]{6}$/;

function isLine(text: string, longest: number): boolean {
  return [...text].length <= longest && !/\p{Cc}/u.test(text);
}

/** The API's limit of a price. */
const MOST = 1_000_000_000_000_000n;

function readPrice(text: string, currency: string | null): bigint | CatalogueProblem {
  const digits = currency === null ? USDC_DECIMALS : (minorDigits(currency) ?? 0);
  const code = (currency ?? 'usdc').toUpperCase();
  const units = readDecimal(text.toUpperCase().replace(code, ''), digits);
  if (units === 'two_readings') return 'price_two_readings';
  return units === null || units > MOST || units < -MOST ? 'price' : units;
}

const WHOLE_PERCENT = 100;
const WHOLE_POINTS = 10_000n;

/**
 * Reads a rate's name, or a percentage. An integer above 100 is in basis points, as in the API.
 * @returns `null` if it is neither.
 */
function readRate(text: string, { tax_rates: rates }: ShopSettings): number | null {
  const named = rates.find(({ name }) => name === text);
  if (named !== undefined) return named.rate;
  const isPoints = /^\d{3,5}$/.test(text) && Number(text) > WHOLE_PERCENT;
  const points = readDecimal(text.replace(/%$/, ''), isPoints ? 0 : PERCENT_DECIMALS);
  if (typeof points !== 'bigint' || points < 0n || points > WHOLE_POINTS) return null;
  return Number(points);
}

/** Ample for the API's limits, with marks and spaces. Patterns below are slow on long texts. */
const LONGEST_NUMBER = 60;

/**
 * Reads a decimal with a point or a comma, as a spreadsheet of any country writes it. A single mark
 * before exactly three digits has two readings, unless the number of decimals decides.
 * @returns the number in its smallest units.
 */
function readDecimal(text: string, decimals: number): bigint | 'two_readings' | null {
  if (text.length > LONGEST_NUMBER) return null;
  const plain = text.replaceAll(/[\s'’\p{Sc}]/gu, '').replace(/^[-−]/, '-');
  const [, sign, body = ''] = /^(-?)([\d.,]*\d)$/.exec(plain) ?? [];
  const marks = body.replaceAll(/\d/g, '');
  const last = marks.at(-1) ?? '';
  const isOnce = marks.indexOf(last) === marks.length - 1;
  const [before = '', after = ''] = isOnce && last !== '' ? body.split(last) : [body];
  if (sign === undefined) return null;
  const isUnclear = marks.length === 1 && after.length === 3 && !/^0?$/.test(before);
  if (isUnclear && decimals !== 0 && decimals !== 3) return 'two_readings';
  const isGroup = isUnclear && decimals === 0;
  const whole = ungrouped(isGroup ? body : before);
  const fraction = isGroup ? '' : after.replace(/0+$/, '');
  if (whole === null || fraction.length > decimals) return null;
  return BigInt(`${sign}${whole}${fraction.padEnd(decimals, '0')}`);
}

/** Removes the marks between groups of three; `null` if they are elsewhere. */
function ungrouped(whole: string): string | null {
  if (/^\d*$/.test(whole)) return whole || '0';
  return /^\d{1,3}([.,])\d{3}(\1\d{3})*$/.test(whole) ? whole.replaceAll(/[.,]/g, '') : null;
}
