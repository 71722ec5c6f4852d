import type { Entry } from '#books/entry-queries.ts';
import {
  centsText,
  distribute,
  type EntryPart,
  entryId,
  type Format,
  isSold,
  originalOf,
  type Period,
  partsOf,
  wholeOf,
} from '#books/round-entries.ts';
import { localTime } from '#core/calendar.ts';
import { BYTE_ORDER_MARK, csvCell, csvDecimal, csvHeader } from '#core/csv.ts';
import { exactUsdc, minorText } from '#core/sums.ts';

/** Writes the exact formats with lines: CSV and JSON Lines. */

export const CSV_COLUMNS = [
  ...['id', 'type', 'created', 'time_zone', 'amount', 'balance', 'currency', 'order_id'],
  ...['description', 'receipt_number', 'terminal', 'presentment.currency'],
  ...['presentment.amount', 'original', 'net', 'tax', 'tax_rate', 'gross'],
] as const;

type Cells = { readonly [Column in (typeof CSV_COLUMNS)[number]]?: string };

function csvRow(cells: Cells): string {
  return `${CSV_COLUMNS.map((column) => cells[column] ?? '').join(',')}\r\n`;
}

/** Writes a sum of a sale: minor units of its currency, or atoms. */
function saleText(units: bigint, currency: string | null): string {
  return csvDecimal(currency === null ? exactUsdc(units) : minorText(units, currency));
}

/** Writes basis points as percent: 1900 is `19.00`. */
export function rateText(rate: number | null): string {
  return rate === null ? '' : centsText(BigInt(rate));
}

/** Returns the cells of a part of a sale or refund, which the accountants' export also has. */
export function partCells({ net, tax, rate, gross }: EntryPart, currency: string | null) {
  return {
    net: saleText(net, currency),
    tax: saleText(tax, currency),
    tax_rate: rateText(rate),
    gross: saleText(gross, currency),
  };
}

function entryCells({ timeZone }: Period, entry: Entry): Cells {
  return {
    id: csvCell(entryId(entry)),
    type: csvCell(entry.type === 'correction' ? 'CORRECTION' : entry.type),
    created: csvCell(localTime(timeZone, entry.created)),
    time_zone: csvCell(timeZone),
    currency: csvCell('usdc'),
    order_id: csvCell(entry.order_id),
    description: csvCell(entry.description),
    receipt_number: csvCell(entry.receipt_number),
    terminal: csvCell(entry.terminal),
    original: csvCell(originalOf(entry)),
    ...(entry.currency === null ? {} : { 'presentment.currency': csvCell(entry.currency) }),
  };
}

/** Sums of the whole entry are in its last row alone, so that a column adds up. */
function csvEntry(period: Period, entry: Entry, balance: bigint): string {
  const { currency, amount } = entry;
  const cells = entryCells(period, entry);
  const wholes: Cells = {
    balance: csvDecimal(exactUsdc(balance)),
    ...(currency === null ? {} : { 'presentment.amount': saleText(wholeOf(entry), currency) }),
  };
  if (!isSold(entry)) return csvRow({ ...cells, amount: csvDecimal(exactUsdc(amount)), ...wholes });
  const parts = partsOf(entry);
  const atoms = distribute(amount, parts);
  const rows = parts.map((part, index) => {
    const own = { amount: csvDecimal(exactUsdc(atoms[index] ?? 0n)), ...partCells(part, currency) };
    const isLast = index === parts.length - 1;
    return csvRow({ ...cells, ...own, ...(isLast ? wholes : {}) });
  });
  return rows.join('');
}

function balanceRow(period: Period, kind: 'opening' | 'closing'): string {
  const { timeZone, since, until } = period;
  return csvRow({
    type: csvCell(`${kind}_balance`),
    created: csvCell(localTime(timeZone, kind === 'opening' ? since : until)),
    time_zone: csvCell(timeZone),
    balance: csvDecimal(exactUsdc(period[kind])),
    currency: csvCell('usdc'),
  });
}

export const STATEMENT_CSV: Format = {
  mediaType: 'text/csv; charset=utf-8',
  extension: 'csv',
  open: (period) => ({
    head: `${BYTE_ORDER_MARK}${csvHeader(CSV_COLUMNS)}${balanceRow(period, 'opening')}`,
    entry: (entry, balance) => csvEntry(period, entry, balance),
    tail: () => balanceRow(period, 'closing'),
  }),
};

function jsonLine(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

export const STATEMENT_JSONL: Format = {
  mediaType: 'application/jsonl; charset=utf-8',
  extension: 'jsonl',
  open: ({ from, to, timeZone, opening, closing }) => ({
    head: jsonLine({
      object: 'statement',
      ...{ from, to, time_zone: timeZone },
      ...{ opening_balance: Number(opening), closing_balance: Number(closing) },
    }),
    entry: (entry) =>
      jsonLine({
        object: 'entry',
        id: entryId(entry),
        type: entry.type === 'correction' ? 'CORRECTION' : entry.type,
        amount: Number(entry.amount),
        created: entry.created.toISOString(),
        ...(entry.type === 'correction' ? { original: entry.object_id } : {}),
      }),
    tail: () => '',
  }),
};
