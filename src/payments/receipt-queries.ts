import type { Tenant } from '#core/mode.ts';
import type { Sql, Tx } from '#db/database.ts';
import { ofTenant, wholeKey } from '#db/plan-shapes.ts';
import { type Fiscal, selectFiscal } from '#fiscal/fiscal-queries.ts';
import { selectRefundTaxes } from '#fiscal/refund-tax-rows.ts';
import type { AcceptedOffline } from '#payments/intent-rows.ts';
import { type Payment, payments } from '#payments/payment.ts';
import type { PastQuote } from '#prices/quote-price.ts';
import type { ReturnedPart } from '#prices/refund-lines.ts';
import type { RateTax, SaleLines } from '#prices/sale-lines.ts';

interface PlaceOnReceipt {
  readonly name: string;
  readonly address: string | null;
}

/** The shop's details on receipts: the current settings of the account and the location. */
export interface MerchantOnReceipt {
  readonly name: string;
  readonly legal_name: string | null;
  readonly address: string | null;
  readonly tax_number: string | null;
  /** The location of the sale; `null` if it had none. */
  readonly location: PlaceOnReceipt | null;
}

/** SQL columns of a sale's account (`a`) and location (`l`), and the time zone of its receipts. */
const MERCHANT = `a.name, a.legal_name, a.address, a.tax_number,
  case when l.id is not null
    then jsonb_build_object('name', l.name, 'address', l.address) end as location,
  coalesce(l.time_zone, a.time_zone) as time_zone`;

function merchantOf({ name, legal_name, address, tax_number, location }: MerchantOnReceipt) {
  return { name, legal_name, address, tax_number, location };
}

export interface RefundOnReceipt {
  readonly id: string;
  readonly amount: bigint;
  readonly status: 'pending' | 'succeeded';
  readonly created: Date;
  readonly tx_hash: string | null;
  readonly receipt_number: string | null;
  readonly presentment: PastQuote | null;
  readonly taxes: readonly RateTax[] | null;
}

export interface Receipt {
  readonly payment: Payment;
  readonly merchant: MerchantOnReceipt;
  readonly merchantNumber: bigint | null;
  readonly description: string | null;
  /** Set only if a till accepted the sale offline. */
  readonly offline: AcceptedOffline | null;
  /** The fiscal signature; `null` if the payment was not sent to a fiscal signer. */
  readonly fiscal: Fiscal | null;
  /** The time zone of the location, or else of the account, because receipts show local time. */
  readonly timeZone: string;
  /** The refunds, oldest first. */
  readonly refunds: readonly RefundOnReceipt[];
}

type Row = Payment &
  MerchantOnReceipt & {
    merchant_number: bigint | null;
    description: string | null;
    offline: AcceptedOffline | null;
    time_zone: string;
  };

/** Returns the payment with a settlement number, and its merchant; `null` if there is none. */
export async function selectReceipt(
  sql: Sql,
  filter: { readonly livemode: boolean; readonly number: bigint },
): Promise<Receipt | null> {
  const [row] = await sql.query<Row>(
    `select p.*, ${MERCHANT},
       coalesce(c.merchant_number, m.merchant_number) as merchant_number, i.description, i.offline
     from (select ${payments.columns} from payments
           where livemode = $1 and settlement_number = $2) p
     join accounts a on a.id = p.account_id
     left join locations l on l.id = p.location_id
     join account_modes m on m.account_id = p.account_id and m.livemode = p.livemode
     join payment_intents i on i.id = p.payment_intent_id
     left join chain_payments c on c.livemode = p.livemode and c.number = p.settlement_number`,
    [filter.livemode, filter.number],
  );
  if (row === undefined) return null;
  const refunds = await sql.query<RefundOnReceipt>(
    `select id, amount, status, created, tx_hash, receipt_number, presentment, taxes from refunds
     where payment_id = $3 and ${ofTenant('$1', '$2')} and status <> 'failed'
     order by created, position`,
    [row.account_id, filter.livemode, row.id],
  );
  return {
    payment: row,
    merchant: merchantOf(row),
    merchantNumber: row.merchant_number,
    description: row.description,
    offline: row.offline,
    fiscal: (await selectFiscal(sql, [row.id])).get(row.id) ?? null,
    timeZone: row.time_zone,
    refunds,
  };
}

export interface RefundReceipt {
  readonly id: string;
  readonly livemode: boolean;
  readonly amount: bigint;
  readonly receipt_number: string | null;
  readonly tx_hash: string;
  /** Time at which the refund reached the customer. */
  readonly updated: Date;
  readonly reason: string | null;
  readonly presentment: PastQuote | null;
  /** The taxes of the refund; empty for a sale without lines. */
  readonly taxes: readonly RateTax[];
  /** The lines of the sale, and those that the refund returns; `null` if there are none. */
  readonly lines: SaleLines | null;
  readonly line_items: readonly ReturnedPart[] | null;
  readonly merchant: MerchantOnReceipt;
  readonly fiscal: Fiscal | null;
  readonly time_zone: string;
  readonly order_id: string;
  readonly payer_address: string;
  readonly payment_receipt_number: string | null;
  readonly payment_settlement_number: bigint;
  readonly chain_id: bigint;
}

/** Returns a refund that has succeeded, with its payment. */
export async function selectRefundReceipt(
  sql: Sql,
  filter: { readonly livemode: boolean; readonly id: string },
): Promise<RefundReceipt | null> {
  const [row] = await sql.query<
    Omit<RefundReceipt, 'merchant' | 'fiscal' | 'taxes'> & MerchantOnReceipt
  >(
    `select r.id, r.livemode, r.amount, r.receipt_number, r.tx_hash, r.updated, r.reason,
       r.presentment, r.line_items, p.lines, ${MERCHANT}, p.order_id, p.payer_address,
       p.receipt_number as payment_receipt_number,
       p.settlement_number as payment_settlement_number, p.chain_id
     from refunds r
     join payments p on p.id = r.payment_id
     join accounts a on a.id = r.account_id
     left join locations l on l.id = r.location_id
     where r.id = $1 and r.livemode = $2 and r.status = 'succeeded'`,
    [filter.id, filter.livemode],
  );
  if (row === undefined) return null;
  const fiscal = (await selectFiscal(sql, [row.id])).get(row.id) ?? null;
  const taxes = (await selectRefundTaxes(sql, [row.id])).get(row.id) ?? [];
  return { ...row, merchant: merchantOf(row), fiscal, taxes };
}

const NUMBER_KEY =
  wholeKey(['receipt_number', 'account_id', 'livemode'], ['$3', '$1', '$2']) +
  ' and receipt_number is not null';

/** A payment, found by its own receipt number or by that of one of its refunds. */
export interface NumberedPayment {
  readonly payment: Payment;
  /** The amount on the receipt with this number: the payment's or the refund's. */
  readonly printedAmount: bigint;
}

/** Returns the payments that have this receipt number, on their own receipt or on a refund's. */
export async function selectNumbered(
  sql: Sql,
  tenant: Tenant,
  number: string,
): Promise<NumberedPayment[]> {
  const rows = await sql.query<Payment & { printed_amount: bigint }>(
    `select ${payments.columns}, coalesce((
       select amount from refunds where ${NUMBER_KEY}), amount) as printed_amount
     from payments where id = any(array(
       select id from payments where ${NUMBER_KEY}
       union all
       select payment_id from refunds where ${NUMBER_KEY}))`,
    [tenant.accountId, tenant.livemode, number],
  );
  return rows.map((row) => ({ payment: row, printedAmount: row.printed_amount }));
}

/** Returns the payment of a settlement or a refund, if it belongs to this account and mode. */
export async function selectSettled(
  sql: Sql,
  tenant: Tenant,
  filter: { readonly settlementNumber: bigint } | { readonly refundId: string },
): Promise<Payment[]> {
  const [condition, value] =
    'refundId' in filter
      ? ['id = (select payment_id from refunds where id = $3)', filter.refundId]
      : ['(livemode, settlement_number) = ($2, $3)', filter.settlementNumber];
  const values = [tenant.accountId, tenant.livemode, value];
  const rest = `where ${ofTenant('$1', '$2')} and ${condition}`;
  return payments.list(sql, rest, values);
}

/** Maximum number of mails per receipt, ever. The table `receipt_mails` enforces it as well. */
export const RECEIPT_MAILS = 3;

/** Counts a mail of this payment's receipt. @returns its number; `null` if there were too many. */
export async function countReceiptMail(tx: Tx, paymentId: string): Promise<number | null> {
  const rows = await tx.query<{ sent: number }>(
    `insert into receipt_mails as m (payment_id, sent) values ($1, 1)
     on conflict (payment_id) do update set sent = m.sent + 1 where m.sent < $2
     returning sent`,
    [paymentId, RECEIPT_MAILS],
  );
  return rows[0]?.sent ?? null;
}
