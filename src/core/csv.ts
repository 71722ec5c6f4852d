import type { Json } from '#core/canonical-json.ts';

/** `csv` is for accountants, `csv_atoms` for programs that need the API's own numbers. */
export type ExportFormat = 'csv' | 'csv_atoms' | 'jsonl';

/**
 * Matches cells that begin like a formula, even in a description or a name: spreadsheets run them.
 * A leading apostrophe makes it text (OWASP: CSV injection); full-width look-alikes count.
 */
const FORMULA = /^[\s]*[=+\-@\t\r|%＝＋－＠]/;
/** A spreadsheet never reads a number as a formula, even if it begins with a minus sign. */
const NEGATIVE = /^-\d+(\.\d+)?$/;

/** Without a byte order mark, Excel reads the file in the Windows code page. */
export const BYTE_ORDER_MARK = '\uFEFF';

function neutral(text: string): string {
  return FORMULA.test(text) && !NEGATIVE.test(text) ? `'${text}` : text;
}

/** Writes one value between two commas. */
export function csvCell(value: Json | undefined): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return `"${neutral(text).replaceAll('"', '""')}"`;
}

/**
 * Writes a decimal for a spreadsheet: one with a decimal comma would read the three decimals of
 * `1.234` as a group of thousands, and 1.2340 as it is written.
 */
export function csvDecimal(text: string): string {
  return /\.\d{3}$/.test(text) ? `${text}0` : text;
}

/** Reads a nested member by its path, such as `fees.acquirer`. */
export function valueAt(row: { readonly [key: string]: Json }, column: string): Json | undefined {
  let value: Json | undefined = row as Json;
  for (const name of column.split('.')) {
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return undefined;
    value = value[name];
  }
  return value;
}

/** Writes a record by RFC 4180: CRLF after every record, quotes around every string. */
export function csvLine(row: { readonly [key: string]: Json }, columns: readonly string[]): string {
  return `${columns.map((column) => csvCell(valueAt(row, column))).join(',')}\r\n`;
}

export function csvHeader(columns: readonly string[]): string {
  return `${columns.join(',')}\r\n`;
}
