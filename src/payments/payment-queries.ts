import type { Tenant } from '#core/mode.ts';
import type { Sql, Tx } from '#db/database.ts';
import {
  type Branch,
  HIDDEN_TENANT_KEY,
  type LocatedPage,
  type Place,
  selectLocatedPage,
} from '#db/paging.ts';
import { wholeKey } from '#db/plan-shapes.ts';
import { type Payment, type PaymentStatus, payments } from '#payments/payment.ts';

export async function selectPayment(sql: Sql, tenant: Tenant, id: string): Promise<Payment | null> {
  return (await payments.findOwn(sql, tenant, id)) ?? null;
}

/** Locks the payment, so that concurrent refunds of it are decided one at a time. */
export async function lockPayment(tx: Tx, tenant: Tenant, id: string): Promise<Payment | null> {
  return (await payments.findOwn(tx, tenant, id, 'for update')) ?? null;
}

export interface PaymentFilters {
  readonly terminal_id?: string | null;
  readonly payment_intent_id?: string | null;
  readonly order_id?: string | null;
  readonly status?: PaymentStatus | null;
}

/** SQL conditions for each status, which is not stored but follows from the amounts. */
const OF_STATUS: Readonly<Record<PaymentStatus, Branch>> = {
  succeeded: { conditions: ['amount_refunded = 0'] },
  partially_refunded: {
    conditions: ['amount_refunded > 0 and amount_refunded < amount'],
    key: HIDDEN_TENANT_KEY,
  },
  refunded: {
    conditions: ['amount_refunded > 0 and amount_refunded = amount'],
    key: HIDDEN_TENANT_KEY,
  },
};

/** Finds payments by their intent's order ID. An index here would cost a write per payment. */
const ORDER_KEY = wholeKey(['order_id', 'account_id', 'livemode'], ['?', '$1', '$2']);
const OF_ORDER = `id = any(array(
  select id from payments where payment_intent_id = (
    select id from payment_intents where ${ORDER_KEY})
  union all
  select id from payments where ${ORDER_KEY} and recovered))`;

const INDEXES = {
  payment_intent_id: { columns: ['payment_intent_id'], ordered: false },
  terminal_id: { columns: ['terminal_id'], ordered: true },
} as const;

export async function selectPaymentPage(
  sql: Sql,
  query: { readonly tenant: Tenant; readonly filters: PaymentFilters },
  page: LocatedPage,
): Promise<Payment[]> {
  const { status = null, order_id: orderId = null, ...others } = query.filters;
  const list = {
    table: 'payments',
    columns: payments.columns,
    filters: { ...others, order_id: orderId },
    indexes: INDEXES,
    ...(orderId === null ? {} : { found: { sql: OF_ORDER, value: orderId } }),
    ...(status === null ? {} : { anyOf: [OF_STATUS[status]] }),
  };
  return selectLocatedPage(sql, list, query.tenant, page);
}

export interface PayerPayment {
  readonly payment: Payment;
  readonly merchantName: string;
}

/** Returns a payer's payments at all merchants, newest first, plus one row if there are more. */
export async function selectPayerPayments(
  sql: Sql,
  payerId: string,
  page: { readonly limit: number; readonly after: Place | null },
): Promise<PayerPayment[]> {
  const rows = await sql.query<Payment & { merchant_name: string }>(
    `select p.*, a.name as merchant_name from payments p join accounts a on a.id = p.account_id
     where p.payer_id = $1
       and (p.settled_at, p.settlement_number) < ($2, $3)
     order by p.settled_at desc, p.settlement_number desc limit $4`,
    [payerId, page.after?.created ?? 'infinity', page.after?.position ?? 0n, page.limit + 1],
  );
  return rows.map((row) => ({ payment: row, merchantName: row.merchant_name }));
}

export function insertPayments(tx: Tx, settled: readonly Payment[]): Promise<void> {
  return payments.insertAll(tx, settled);
}
