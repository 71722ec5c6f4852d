import type { Json } from '#core/canonical-json.ts';

/**
 * `csv` is for accountants; `csv_atoms` is for programs that need the same numbers as in the API.
 */
export type ExportFormat = 'csv' | 'csv_atoms' | 'jsonl';

/**
 * Matches cells that begin like a formula, which spreadsheets would run, even in a description or
 * name (OWASP: CSV injection). Such a cell gets a leading apostrophe, which makes it text. Also
 * matches full-width look-alikes.
 */
const FORMULA = /^[\s]*[=+\-@\t\r|%＝＋－＠]/;
/** Matches negative numbers, which spreadsheets do not run as formulas despite the minus sign. */
const NEGATIVE = /^-\d+(\.\d+)?$/;

/** Without a byte order mark, Excel reads the file in the machine's Windows code page. */
export const BYTE_ORDER_MARK = '\uFEFF';

function neutral(text: string): string {
  return FORMULA.test(text) && !NEGATIVE.test(text) ? `'${text}` : text;
}

/** Returns a value as one cell of a CSV record. */
export function csvCell(value: Json | undefined): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return `"${neutral(text).replaceAll('"', '""')}"`;
}

/**
 * Returns a decimal for spreadsheets. Where the decimal separator is a comma, a spreadsheet would
 * read `1.234` as one thousand two hundred thirty-four, so three decimals become four: `1.2340`.
 */
export function csvDecimal(text: string): string {
  return /\.\d{3}$/.test(text) ? `${text}0` : text;
}

/** Returns a nested member by its path, such as `fees.acquirer`. */
export function valueAt(row: { readonly [key: string]: Json }, column: string): Json | undefined {
  let value: Json | undefined = row as Json;
  for (const name of column.split('.')) {
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return undefined;
    value = value[name];
  }
  return value;
}

/** Writes a record as in RFC 4180: CRLF at the end, quotes around every string. */
export function csvLine(row: { readonly [key: string]: Json }, columns: readonly string[]): string {
  return `${columns.map((column) => csvCell(valueAt(row, column))).join(',')}\r\n`;
}

export function csvHeader(columns: readonly string[]): string {
  return `${columns.join(',')}\r\n`;
}
