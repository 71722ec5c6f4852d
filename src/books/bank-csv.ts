import type { Entry } from '#books/entry-queries.ts';
import {
  centsText,
  entryId,
  type Format,
  priceOf,
  ROUNDING,
  Rounding,
  wordsOf,
} from '#books/round-entries.ts';
import { csvCell, csvHeader } from '#core/csv.ts';

/** Writes the bank statements that Xero and QuickBooks import. */

/** An asterisk marks the required ones. */
export const XERO_COLUMNS = ['*Date', '*Amount', 'Payee', 'Description', 'Reference'] as const;
const PAYEES = {
  payment: 'Sales',
  refund: 'Refunds',
  payout: 'Settlement wallet',
  correction: 'Corrections',
} as const;

/** Describes an entry with the shop's price: `Sale K7XQM-12: Flat white (EUR 21.74)`. */
export function pricedWords(entry: Entry): string {
  const price = priceOf(entry);
  return price === null ? wordsOf(entry) : `${wordsOf(entry)} (${price})`;
}

/** Describes a bank statement in CSV: rows in USD with two decimals, and none of 0.00. */
function bankCsv(
  columns: readonly string[],
  rowOf: (row: { readonly day: string; readonly sum: string; readonly entry?: Entry }) => string[],
): Format {
  return {
    mediaType: 'text/csv; charset=utf-8',
    extension: 'csv',
    open: ({ opening, to, dayOf }) => {
      const rounding = new Rounding(opening);
      const line = (cells: readonly string[]) => `${cells.join(',')}\r\n`;
      return {
        head: csvHeader(columns),
        entry: (entry) => {
          const cents = rounding.inCents(entry);
          if (cents === 0n) return '';
          return line(rowOf({ day: dayOf(entry.created), sum: centsText(cents), entry }));
        },
        tail: () => {
          const left = rounding.left();
          return left === 0n ? '' : line(rowOf({ day: to, sum: centsText(left) }));
        },
      };
    },
  };
}

export const XERO: Format = bankCsv(XERO_COLUMNS, ({ day, sum, entry }) => {
  if (entry === undefined) return [day, sum, '', csvCell(ROUNDING), ''];
  const texts = [PAYEES[entry.type], pricedWords(entry), entryId(entry)];
  return [day, sum, ...texts.map(csvCell)];
});

export const QUICKBOOKS_COLUMNS = ['Date', 'Description', 'Amount'] as const;

export const QUICKBOOKS: Format = bankCsv(QUICKBOOKS_COLUMNS, ({ day, sum, entry }) => {
  if (entry === undefined) return [day, csvCell(ROUNDING), sum];
  const price = priceOf(entry);
  const facts = [...(price === null ? [] : [price]), entryId(entry)].join(', ');
  return [day, csvCell(`${wordsOf(entry)} (${facts})`), sum];
});
