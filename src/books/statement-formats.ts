import { CAMT } from '#books/camt.ts';
import { DATEV } from '#books/datev.ts';
import type { Format } from '#books/round-entries.ts';
import { QUICKBOOKS, STATEMENT_CSV, STATEMENT_JSONL, XERO } from '#books/table-formats.ts';

/** The formats of statements. `/docs/books` explains the columns of each. */
export const FORMATS = {
  csv: STATEMENT_CSV,
  jsonl: STATEMENT_JSONL,
  'camt.053.001.08': CAMT,
  datev: DATEV,
  xero: XERO,
  quickbooks: QUICKBOOKS,
} as const satisfies Record<string, Format>;

export type StatementFormat = keyof typeof FORMATS;

export const STATEMENT_FORMATS = Object.keys(FORMATS) as StatementFormat[];
