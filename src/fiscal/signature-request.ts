import { createHash } from 'node:crypto';
import { toJsonAtoms } from '#core/money.ts';
import type { Sql } from '#db/database.ts';
import { selectRefundTaxes } from '#fiscal/refund-tax-rows.ts';
import {
  type PaidQuote,
  type PastQuote,
  renderPaidQuote,
  renderQuote,
} from '#prices/quote-price.ts';
import { type ReturnedPart, renderReturned } from '#prices/refund-lines.ts';
import {
  discountOf,
  type RateTax,
  renderLines,
  type SaleLines,
  taxTable,
} from '#prices/sale-lines.ts';

/** A receipt to be signed, with its sale or refund. */
export interface UnsignedReceipt {
  readonly subject_id: string;
  readonly payment_id: string;
  readonly account_id: string;
  readonly livemode: boolean;
  readonly receipt_number: string;
  readonly url: string;
  readonly amount: bigint;
  readonly presentment: PaidQuote | null;
  readonly lines: SaleLines | null;
  readonly taxes: readonly RateTax[] | null;
  readonly payment_receipt_number: string | null;
  /** `null` for a payment. */
  readonly refund_amount: bigint | null;
  readonly refund_presentment: PastQuote | null;
  /** The lines that a refund returns; `null` for a refund of a sum. */
  readonly refund_lines: readonly ReturnedPart[] | null;
}

/** The columns of `t`, a row of `fiscal_receipts`, and of its sale or refund. */
export const UNSIGNED = `t.subject_id, t.payment_id, t.account_id, t.livemode, t.receipt_number,
  a.fiscal_signer as url, p.amount, p.presentment, p.lines, p.taxes,
  p.receipt_number as payment_receipt_number,
  r.amount as refund_amount, r.presentment as refund_presentment,
  r.line_items as refund_lines`;
export const OF_SALE = `join payments p on p.id = t.payment_id
  left join refunds r on r.id = t.subject_id`;

/**
 * Returns an ID that is the same in every request for a receipt, even if a restored database sends
 * it again: account, mode and number identify the receipt.
 */
function requestId({ account_id, livemode, receipt_number }: UnsignedReceipt): string {
  const name = `${account_id} ${livemode} ${receipt_number}`;
  return `fis_${createHash('sha256').update(name).digest('hex').slice(0, 32)}`;
}

/** Returns the tax table of a sale, or of the part of it that a refund returns. */
async function taxesOf(sql: Sql, due: UnsignedReceipt): Promise<readonly RateTax[]> {
  const { lines, taxes, refund_amount, subject_id: id } = due;
  if (lines === null) return [];
  if (refund_amount === null) return taxes ?? taxTable(lines);
  return (await selectRefundTaxes(sql, [id])).get(id) ?? [];
}

/** A refund of a part of the sum has no lines, because it is unknown which lines it returns. */
function linesOf({ lines, amount, refund_amount, refund_lines }: UnsignedReceipt) {
  if (lines !== null && refund_lines !== null) return renderReturned(lines, refund_lines);
  return renderLines(refund_amount === null || refund_amount === amount ? lines : null);
}

export async function signRequest(sql: Sql, due: UnsignedReceipt) {
  const { presentment, lines, refund_amount: refunded, refund_presentment: past } = due;
  const quote = presentment && renderPaidQuote(presentment);
  return {
    id: requestId(due),
    payment: due.payment_id,
    receipt_number: due.receipt_number,
    amount: toJsonAtoms(refunded ?? due.amount),
    presentment: refunded === null ? quote : past && renderQuote(past, past.expiresAt),
    line_items: linesOf(due),
    discount: refunded === null ? discountOf(lines) : 0,
    taxes: await taxesOf(sql, due),
    ...(refunded === null
      ? {}
      : { refund: due.subject_id, refunded_receipt_number: due.payment_receipt_number }),
  };
}

/** Returns the unsigned receipts that this terminal must send to the signer, oldest first. */
export async function selectTillReceipts(
  sql: Sql,
  terminalId: string,
  limit: number,
): Promise<UnsignedReceipt[]> {
  return sql.query(
    `select ${UNSIGNED}
     from fiscal_receipts t
     join accounts a on a.id = t.account_id and a.fiscal_by_terminal
     ${OF_SALE}
     where t.terminal_id = $1 and t.signature is null
     order by t.created, t.subject_id limit $2`,
    [terminalId, limit],
  );
}

/**
 * Returns the payment or refund whose receipt this terminal sends or has sent; `null` if there is
 * none.
 */
export async function selectTillSubject(
  sql: Sql,
  terminalId: string,
  receiptNumber: string,
): Promise<string | null> {
  const rows = await sql.query<{ subject_id: string }>(
    `select t.subject_id from terminals m
     join accounts a on a.id = m.account_id
     join fiscal_receipts t on t.account_id = m.account_id and t.livemode = m.livemode
     where m.id = $1 and t.receipt_number = $2 and t.terminal_id = m.id
       and (a.fiscal_by_terminal or t.signature is not null)`,
    [terminalId, receiptNumber],
  );
  return rows[0]?.subject_id ?? null;
}
