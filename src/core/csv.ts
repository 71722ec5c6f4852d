import { isUtf8 } from 'node:buffer';
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

/** Removes the apostrophe that `csvCell` writes before a cell that begins like a formula. */
export function withoutApostrophe(cell: string): string {
  return cell.startsWith("'") && FORMULA.test(cell.slice(1)) ? cell.slice(1) : cell;
}

/** Decodes a file of a spreadsheet: UTF-8, UTF-16 as Excel’s Unicode text, or Windows-1252. */
function decoded(bytes: Uint8Array): string {
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  const other = isUtf16 ? 'utf-16le' : 'windows-1252';
  // The decoder removes a byte order mark.
  return new TextDecoder(!isUtf16 && isUtf8(bytes) ? 'utf-8' : other).decode(bytes);
}

const SEPARATORS = [',', ';', '\t'] as const;

/** Returns the separator of the header, which is a semicolon where decimals have a comma. */
function separatorOf(text: string): string {
  const [header = ''] = text.split(/[\r\n]/, 1);
  const count = (separator: string) => header.split(separator).length;
  return SEPARATORS.reduce((most, one) => (count(one) > count(most) ? one : most));
}

/**
 * Reads the records of a CSV file with any line ends, including the empty ones. A first line such
 * as `sep=;` names the separator.
 * @returns `null` if a quoted cell does not end.
 */
export function readCsv(bytes: Uint8Array): string[][] | null {
  const whole = decoded(bytes);
  const [line = '', named] = /^sep=([,;\t])(?:\r\n|\r|\n)/i.exec(whole) ?? [];
  const text = whole.slice(line.length);
  const separator = named ?? separatorOf(text);
  const quoted = '"([^"]*(?:""[^"]*)*)"';
  const plain = `((?!")[^${separator}\\r\\n]*)`;
  const cell = new RegExp(`(?:${quoted}|${plain})(${separator}|\\r\\n|\\r|\\n|$)`, 'y');
  const records: string[][] = [];
  let record: string[] = [];
  while (cell.lastIndex < text.length || record.length > 0) {
    const found = cell.exec(text);
    if (found === null) return null;
    const [, inQuotes, bare = '', end] = found;
    record.push(inQuotes === undefined ? bare : inQuotes.replaceAll('""', '"'));
    if (end === separator) continue;
    records.push(record);
    record = [];
  }
  return records;
}
