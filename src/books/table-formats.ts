import type { Entry } from '#books/entry-queries.ts';
import {
  decimalText,
  entryId,
  type Format,
  originalOf,
  type Period,
  ROUNDING,
  Rounding,
  wordsOf,
} from '#books/round-entries.ts';
import { dayIn, localTime } from '#core/calendar.ts';
import { BYTE_ORDER_MARK, csvCell, csvDecimal, csvHeader } from '#core/csv.ts';
import { exactUsdc, minorText } from '#core/sums.ts';

/** Writes the formats with one line per entry: CSV and JSON Lines. */

export const CSV_COLUMNS = [
  ...['id', 'type', 'created', 'time_zone', 'amount', 'balance', 'currency', 'order_id'],
  ...['description', 'receipt_number', 'terminal', 'presentment.currency'],
  ...['presentment.amount', 'original'],
] as const;

type Cells = { readonly [Column in (typeof CSV_COLUMNS)[number]]?: string };

function csvRow(cells: Cells): string {
  return `${CSV_COLUMNS.map((column) => cells[column] ?? '').join(',')}\r\n`;
}

function presentmentCells({ amount, currency, minor }: Entry): Cells {
  if (currency === null || minor === null) return {};
  const size = minorText(Number(minor), currency);
  return {
    'presentment.currency': csvCell(currency),
    'presentment.amount': csvDecimal(amount < 0n ? `-${size}` : size),
  };
}

function csvEntry({ timeZone }: Period, entry: Entry, balance: bigint): string {
  return csvRow({
    id: csvCell(entryId(entry)),
    type: csvCell(entry.type === 'correction' ? 'CORRECTION' : entry.type),
    created: csvCell(localTime(timeZone, entry.created)),
    time_zone: csvCell(timeZone),
    amount: csvDecimal(exactUsdc(entry.amount)),
    balance: csvDecimal(exactUsdc(balance)),
    currency: csvCell('usdc'),
    order_id: csvCell(entry.order_id),
    description: csvCell(entry.description),
    receipt_number: csvCell(entry.receipt_number),
    terminal: csvCell(entry.terminal),
    original: csvCell(originalOf(entry)),
    ...presentmentCells(entry),
  });
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
  encoding: 'utf8',
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
  encoding: 'utf8',
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

/** Number of decimals that programs accept when they import bank statements. */
const CENTS = 2;

/** An asterisk marks the required ones. */
export const XERO_COLUMNS = ['*Date', '*Amount', 'Payee', 'Description', 'Reference'] as const;
const PAYEES = {
  payment: 'Sales',
  refund: 'Refunds',
  payout: 'Settlement wallet',
  correction: 'Corrections',
} as const;

export const XERO: Format = {
  mediaType: 'text/csv; charset=utf-8',
  extension: 'csv',
  encoding: 'utf8',
  open: ({ timeZone, opening, to }) => {
    const rounding = new Rounding(opening, CENTS);
    return {
      head: csvHeader(XERO_COLUMNS),
      entry: (entry) => {
        const { units } = rounding.inUsd(entry);
        const texts = [PAYEES[entry.type], wordsOf(entry), entryId(entry)].map(csvCell);
        const day = dayIn(timeZone, entry.created);
        return `${[day, decimalText(units, CENTS), ...texts].join(',')}\r\n`;
      },
      tail: () => {
        const left = rounding.left();
        if (left === 0n) return '';
        return `${[to, decimalText(left, CENTS), '', csvCell(ROUNDING), ''].join(',')}\r\n`;
      },
    };
  },
};

export const QUICKBOOKS_COLUMNS = ['Date', 'Description', 'Amount'] as const;

export const QUICKBOOKS: Format = {
  mediaType: 'text/csv; charset=utf-8',
  extension: 'csv',
  encoding: 'utf8',
  open: ({ timeZone, opening, to }) => {
    const rounding = new Rounding(opening, CENTS);
    return {
      head: csvHeader(QUICKBOOKS_COLUMNS),
      entry: (entry) => {
        const { currency, units } = rounding.inOwn(entry);
        const words = csvCell(`${wordsOf(entry)} (${currency}, ${entryId(entry)})`);
        const day = dayIn(timeZone, entry.created);
        return `${[day, words, decimalText(units, CENTS)].join(',')}\r\n`;
      },
      tail: () => {
        const left = rounding.left();
        if (left === 0n) return '';
        return `${[to, csvCell(ROUNDING), decimalText(left, CENTS)].join(',')}\r\n`;
      },
    };
  },
};
