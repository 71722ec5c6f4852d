import type { ExportTable } from '#apis/dashboard/exports/export-queries.ts';
import type { Json } from '#core/canonical-json.ts';
import type { Tenant } from '#core/mode.ts';
import type { Sql } from '#db/database.ts';
import type { LocatedPage, Place } from '#db/paging.ts';
import { selectFiscal } from '#fiscal/fiscal-queries.ts';
import { selectIntentPage } from '#payments/intent-page.ts';
import { selectOfflinePage } from '#payments/offline/offline-queries.ts';
import { offlineObject } from '#payments/offline/render-offline-payment.ts';
import { selectPaymentPage } from '#payments/payment-queries.ts';
import type { ReceiptPages } from '#payments/receipt-url.ts';
import { renderIntent, renderPayment } from '#payments/render.ts';
import { withdrawalObject } from '#payouts/render.ts';
import { selectWithdrawalPage } from '#payouts/withdrawal-queries.ts';
import { selectRefundPage } from '#refunds/refund-queries.ts';
import { renderRefund } from '#refunds/render.ts';

export type Row = { readonly [key: string]: Json };

export interface Chunk {
  readonly places: readonly Place[];
  readonly rows: readonly Row[];
}

interface Whose {
  readonly tenant: Tenant;
  readonly now: Date;
  readonly receipts: ReceiptPages;
}

export interface Export {
  readonly table: ExportTable;
  readonly columns: readonly string[];
  read(db: Sql, whose: Whose, page: LocatedPage): Promise<Chunk>;
}

function chunkOf<R extends Place>(rows: readonly R[], render: (row: R) => Row): Chunk {
  return { places: rows, rows: rows.map(render) };
}

/** Adds the fiscal signature of each receipt to its row; null if there is none. */
async function withFiscal(db: Sql, { places, rows }: Chunk): Promise<Chunk> {
  const known = await selectFiscal(
    db,
    rows.map(({ id }) => String(id)),
  );
  const fiscalOf = ({ id }: Row): Json => {
    const fiscal = known.get(String(id));
    return fiscal === undefined ? null : { ...fiscal };
  };
  return { places, rows: rows.map((row) => ({ ...row, fiscal: fiscalOf(row) })) };
}

export const EXPORTS = {
  payments: {
    table: 'payments',
    columns: [
      ...['id', 'created', 'settled_at', 'status', 'amount', 'tip', 'amount_refunded', 'currency'],
      ...['fees.acquirer', 'fees.protocol', 'fees.cashback', 'total_charged', 'net', 'order_id'],
      ...[
        'terminal',
        'location',
        'payment_intent',
        'payer',
        'payment_method.type',
        'split_group',
        'network',
      ],
      ...['chain_id', 'tx_hash', 'block_number', 'log_index', 'refundable_until'],
      ...['presentment.currency', 'presentment.amount', 'presentment.tip_amount'],
      ...['presentment.rate', 'discount', 'line_items', 'fiscal'],
      ...['discount_rate', 'discount_name', 'taxes', 'shop_rate'],
      ...['presentment.total', 'presentment.fees'],
    ],
    read: async (db, { tenant, receipts }, page) => {
      const payments = await selectPaymentPage(db, { tenant, filters: {} }, page);
      return withFiscal(
        db,
        chunkOf(payments, (payment) => renderPayment(payment, receipts)),
      );
    },
  },
  payment_intents: {
    table: 'payment_intents',
    columns: [
      ...['id', 'created', 'status', 'amount', 'tip', 'currency', 'order_id', 'description'],
      ...['terminal', 'location'],
      ...['source', 'payment', 'tx_hash', 'cancellation_reason', 'canceled_at', 'expires_at'],
      ...['picked_up_at', 'tapped_at', 'last_payment_error.decline_code', 'split_group'],
      ...['metadata', 'network', 'presentment.currency', 'presentment.amount'],
      ...['presentment.rate', 'discount', 'line_items', 'discount_rate', 'discount_name'],
      ...['presentment.tip_amount', 'presentment.total', 'presentment.fees'],
    ],
    read: async (db, { tenant, now }, page) => {
      return chunkOf(await selectIntentPage(db, { tenant, filters: {}, now }, page), renderIntent);
    },
  },
  refunds: {
    table: 'refunds',
    columns: [
      ...['id', 'created', 'updated', 'payment', 'amount', 'currency', 'status', 'reason'],
      ...['failure_code', 'failure_message', 'tx_hash', 'source', 'metadata', 'network'],
      ...['presentment.currency', 'presentment.amount', 'presentment.rate', 'fiscal'],
      ...['line_items', 'taxes', 'shop_rate'],
    ],
    read: async (db, { tenant, receipts }, page) => {
      const refunds = await selectRefundPage(db, { tenant }, page);
      return withFiscal(
        db,
        chunkOf(refunds, (refund) => renderRefund(refund, receipts)),
      );
    },
  },
  offline_payments: {
    table: 'offline_payments',
    columns: [
      ...['id', 'created', 'accepted_at', 'status', 'bounce_reason', 'amount', 'terminal'],
      ...['payment_intent', 'payment', 'nonce', 'network'],
    ],
    read: async (db, { tenant }, page) =>
      chunkOf(await selectOfflinePage(db, { tenant, filters: {} }, page), offlineObject),
  },
  withdrawals: {
    table: 'withdrawals',
    columns: [
      ...['id', 'created', 'updated', 'amount', 'currency', 'status', 'wallet', 'failure_code'],
      ...['failure_message', 'tx_hash', 'requested_by', 'network', 'shop_rate'],
    ],
    read: async (db, { tenant }, page) =>
      chunkOf(await selectWithdrawalPage(db, tenant, page), withdrawalObject),
  },
} as const satisfies Record<string, Export>;

export type ExportName = keyof typeof EXPORTS;

export const NAMES = Object.keys(EXPORTS) as ExportName[];
