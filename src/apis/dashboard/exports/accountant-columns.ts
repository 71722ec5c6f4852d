import {
  selectLabels,
  selectOfPayments,
  selectSold,
} from '#apis/dashboard/exports/export-queries.ts';
import { partsOf } from '#books/round-entries.ts';
import { partCells } from '#books/table-formats.ts';
import { localTime } from '#core/calendar.ts';
import type { Json } from '#core/canonical-json.ts';
import { csvCell, csvDecimal, csvHeader, valueAt } from '#core/csv.ts';
import type { Tenant } from '#core/mode.ts';
import { exactUsdc, minorText } from '#core/sums.ts';

import type { Sql } from '#db/database.ts';
import { selectRefundTaxes } from '#fiscal/refund-tax-rows.ts';
import type { RateTax } from '#prices/sale-lines.ts';

/** A row as the API's list shows it, plus fields that help an accountant recognize it. */
type Row = { readonly [key: string]: Json };

/** Columns with amounts in atoms, which the accountants' file shows with decimals. */
const MONEY: ReadonlySet<string> = new Set([
  ...['sale', 'tip', 'amount', 'amount_refunded', 'total_charged', 'paid', 'net'],
  ...['fees.acquirer', 'fees.protocol', 'fees.cashback'],
]);
/** Columns with amounts in minor units of the shop's currency. */
const MINOR: ReadonlySet<string> = new Set([
  ...['presentment.amount', 'presentment.tip_amount', 'presentment.total', 'presentment.fees'],
]);
/** Columns with amounts in the unit of the sale: minor units of its currency, or atoms. */
const OF_SALE: ReadonlySet<string> = new Set(['discount', 'tax']);
/** The accountants' file shows them in the shop's time zone. */
const TIMES: ReadonlySet<string> = new Set([
  ...['created', 'updated', 'settled_at', 'refundable_until', 'canceled_at', 'expires_at'],
  ...['picked_up_at', 'tapped_at', 'presentment.quoted_at', 'accepted_at'],
]);

/**
 * The columns of each export in the accountants' file. ID and time come first, because they mark
 * where an interrupted download resumes. Labels and descriptions come before IDs.
 */
export const ACCOUNTING_COLUMNS = {
  payments: [
    ...['id', 'created', 'time_zone', 'receipt_number', 'status', 'description', 'order_id'],
    ...['sale', 'tip', 'amount', 'amount_refunded', 'currency', 'fees.acquirer', 'fees.protocol'],
    ...['fees.cashback', 'total_charged', 'paid', 'net', 'terminal_label', 'terminal', 'location'],
    ...['payment_method.type', 'settled_at', 'refundable_until', 'split_group'],
    ...['payment_intent', 'payer', 'network', 'tx_hash', 'receipt_url'],
    ...['presentment.currency', 'presentment.amount', 'presentment.tip_amount'],
    ...['presentment.fees', 'presentment.total', 'presentment.rate', 'presentment.quoted_at'],
    ...['discount', 'tax', 'tax_rate', 'gross', 'fiscal'],
  ],
  payment_intents: [
    ...['id', 'created', 'time_zone', 'status', 'description', 'order_id', 'amount', 'tip'],
    ...['currency', 'terminal_label', 'terminal', 'location', 'source', 'payment'],
    ...['cancellation_reason'],
    ...['canceled_at', 'last_payment_error.decline_code', 'split_group', 'metadata', 'network'],
    ...['tx_hash', 'presentment.currency', 'presentment.amount', 'presentment.rate'],
    ...['presentment.tip_amount', 'presentment.total', 'presentment.fees'],
  ],
  refunds: [
    ...['id', 'created', 'time_zone', 'receipt_number', 'status', 'amount', 'currency', 'reason'],
    ...['description', 'order_id', 'payment_receipt_number', 'terminal_label', 'terminal'],
    ...['location'],
    ...['payment', 'updated', 'failure_message', 'source', 'metadata', 'network', 'tx_hash'],
    ...['receipt_url', 'presentment.currency', 'presentment.amount', 'presentment.rate'],
    ...['tax', 'fiscal'],
  ],
  offline_payments: [
    ...['id', 'created', 'time_zone', 'accepted_at', 'status', 'bounce_reason', 'amount'],
    ...['terminal_label', 'terminal', 'payment', 'payment_intent', 'nonce', 'network'],
  ],
  withdrawals: [
    ...['id', 'created', 'time_zone', 'status', 'amount', 'currency', 'wallet'],
    ...['failure_message', 'updated', 'requested_by', 'network', 'tx_hash'],
  ],
} as const satisfies Record<string, readonly string[]>;

type Name = keyof typeof ACCOUNTING_COLUMNS;

function numberOf(value: Json | undefined): bigint {
  return BigInt(Number(value ?? 0));
}

function totalTax(table: readonly RateTax[] | undefined): number | null {
  return table === undefined ? null : table.reduce((sum, row) => sum + row.tax, 0);
}

/**
 * Adds sums that API clients compute themselves: the sale without its tip, and the amount that left
 * the wallet.
 */
function paymentSums(row: Row): Row {
  const atoms = (name: string) => numberOf(valueAt(row, name));
  return {
    ...row,
    ...(row.taxes == null ? { discount: null } : {}),
    sale: Number(atoms('amount') - atoms('tip')),
    paid: Number(atoms('total_charged') - atoms('fees.cashback')),
  };
}

/** Adds the labels of the objects that the rows refer to, with one statement per chunk. */
async function withWords(
  db: Sql,
  tenant: Tenant,
  { name, rows }: { readonly name: Name; readonly rows: readonly Row[] },
): Promise<Row[]> {
  const ids = (field: string) => rows.map((row) => String(row[field]));
  switch (name) {
    case 'payments': {
      const known = await selectSold(db, tenant, ids('payment_intent'));
      return rows.map((row) => ({
        ...paymentSums(row),
        ...known.get(String(row.payment_intent)),
      }));
    }
    case 'payment_intents': {
      const known = await selectSold(db, tenant, ids('id'));
      return rows.map((row) => ({ ...row, ...known.get(String(row.id)) }));
    }
    case 'refunds': {
      const known = await selectOfPayments(db, tenant, ids('payment'));
      const taxes = await selectRefundTaxes(db, ids('id'));
      return rows.map((row) => ({
        ...row,
        ...known.get(String(row.payment)),
        tax: totalTax(taxes.get(String(row.id))),
      }));
    }
    case 'offline_payments': {
      const known = await selectLabels(db, tenant, ids('terminal'));
      return rows.map((row) => ({ ...row, ...known.get(String(row.terminal)) }));
    }
    case 'withdrawals':
      return [...rows];
  }
}

/** Returns `Not signed`, or the fiscal signer's text and signature. */
function fiscalText(row: Row): string {
  const [text, signature] = [valueAt(row, 'fiscal.text'), valueAt(row, 'fiscal.signature')];
  if (signature == null) return 'Not signed';
  return text == null ? String(signature) : `${text} ${signature}`;
}

function cellOf(row: Row, column: string, timeZone: string): string {
  if (column === 'time_zone') return csvCell(timeZone);
  const value = valueAt(row, column);
  if (value === null || value === undefined) return '';
  if (column === 'fiscal') return csvCell(fiscalText(row));
  if (MONEY.has(column)) return csvDecimal(exactUsdc(numberOf(value)));
  const currency = valueAt(row, 'presentment.currency');
  if (MINOR.has(column) || (OF_SALE.has(column) && currency !== undefined)) {
    return csvDecimal(minorText(Number(value), String(currency)));
  }
  if (OF_SALE.has(column)) return csvDecimal(exactUsdc(numberOf(value)));
  if (column === 'presentment.rate') return csvCell(csvDecimal(String(value)));
  if (TIMES.has(column)) return csvCell(localTime(timeZone, new Date(String(value))));
  return csvCell(value);
}

export function accountingHeader(name: Name, extra: readonly string[] = []): string {
  return csvHeader([...ACCOUNTING_COLUMNS[name], ...extra]);
}

export async function accountingLines(
  db: Sql,
  tenant: Tenant,
  input: {
    readonly name: Name;
    readonly rows: readonly Row[];
    readonly timeZone: string;
    readonly extra?: readonly string[];
  },
): Promise<string[]> {
  const { name, timeZone, extra = [] } = input;
  const columns = [...ACCOUNTING_COLUMNS[name], ...extra];
  return (await withWords(db, tenant, input)).map((row) => {
    const cells = columns.map((column) => cellOf(row, column, timeZone));
    return name === 'payments' ? paymentRows(row, { columns, cells }) : lineOf(cells);
  });
}

function lineOf(cells: readonly string[]): string {
  return `${cells.join(',')}\r\n`;
}

/** Columns with a sum of the whole payment. */
const WHOLE: ReadonlySet<string> = new Set(
  [...MONEY, ...MINOR, 'discount'].filter((column) => {
    return column !== 'net';
  }),
);

/** Returns a payment's rows: one per tax rate, and one for the tip. */
function paymentRows(
  row: Row,
  { columns, cells }: { readonly columns: readonly string[]; readonly cells: readonly string[] },
): string {
  const price = valueAt(row, 'presentment.currency');
  const currency = price == null ? null : String(price);
  const minor = numberOf(valueAt(row, 'presentment.amount'));
  const tip = numberOf(currency === null ? row.tip : valueAt(row, 'presentment.tip_amount'));
  const parts = partsOf({
    amount: numberOf(row.amount),
    minor: currency === null ? null : minor + tip,
    taxes: (row.taxes ?? null) as unknown as readonly RateTax[] | null,
    tip,
  });
  const lines = parts.map((part, index) => {
    const own: Readonly<Record<string, string>> = partCells(part, currency);
    const isLast = index === parts.length - 1;
    return lineOf(
      columns.map((column, slot) => {
        return own[column] ?? (isLast || !WHOLE.has(column) ? (cells[slot] ?? '') : '');
      }),
    );
  });
  return lines.join('');
}
