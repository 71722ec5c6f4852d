import { QUICKBOOKS, XERO } from '#books/bank-csv.ts';
import { CAMT } from '#books/camt.ts';
import { OFX } from '#books/ofx.ts';
import type { Format } from '#books/round-entries.ts';
import { STATEMENT_CSV, STATEMENT_JSONL } from '#books/table-formats.ts';

/** The formats that are written from a statement alone. */
export const FORMATS = {
  csv: STATEMENT_CSV,
  jsonl: STATEMENT_JSONL,
  'camt.053.001.08': CAMT,
  xero: XERO,
  quickbooks: QUICKBOOKS,
  ofx: OFX,
} as const satisfies Record<string, Format>;

export type LineFormat = keyof typeof FORMATS;
/** DATEV also needs the shop's accounts: see `datev-file.ts`. */
export type StatementFormat = LineFormat | 'datev';

/** The formats of statements. `/docs/books` explains the columns of each. */
export const STATEMENT_FORMATS: readonly StatementFormat[] = [
  ...(['csv', 'jsonl', 'camt.053.001.08', 'datev', 'xero', 'quickbooks', 'ofx'] as const),
];
