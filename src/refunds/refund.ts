import { tenantOf } from '#core/mode.ts';
import type { Atoms } from '#core/money.ts';
import { as, type Row, table } from '#db/table.ts';
import type { Receipted } from '#fiscal/fiscal-queries.ts';
import type { PastQuote } from '#prices/quote-price.ts';
import type { ReturnedPart } from '#prices/refund-lines.ts';
import type { RateTax } from '#prices/sale-lines.ts';

export const REFUND_STATUSES = ['pending', 'succeeded', 'failed'] as const;
export type RefundStatus = (typeof REFUND_STATUSES)[number];

/** Texts of the reasons why a refund failed (behavior.md 7.3). A failed refund moves no money. */
export const REFUND_FAILURES = {
  insufficient_balance: 'The merchant balance on the contract does not cover the refund.',
  refund_window_expired: "The payment is older than the account's refund window.",
  refund_daily_limit_exceeded: "The account's daily refund limit (UTC day) would be exceeded.",
  transfer_blocked:
    'USDC refused the transfer to the payer: it is paused, or one of the addresses is blocked.',
  transaction_reverted: 'The settlement contract refused the refund.',
} as const;

export type RefundFailure = keyof typeof REFUND_FAILURES;

export const refunds = table(
  'refunds',
  {
    id: 'text',
    /** The refund's id in the contract's event. `null` for a refund of an earlier release. */
    reference: 'bytea?',
    /** True if the refund was rebuilt from the chain after the database had lost it. */
    recovered: 'boolean',
    account_id: 'text',
    livemode: 'boolean',
    position: 'bigint',
    created: 'timestamptz',
    updated: 'timestamptz',
    payment_id: 'text',
    /** The payment's. */
    location_id: 'text?',
    /**
     * `R…-<n>` of the receipt series of the payment's terminal; `null` until the refund has
     * succeeded.
     */
    receipt_number: 'text?',
    amount: as<Atoms>('bigint'),
    /**
     * The amount in the shop's currency; `null` if the sale was in USDC, or the refund was rebuilt.
     */
    presentment: as<PastQuote | null>('jsonb?'),
    /** The amount in minor units, if the request stated it in those. */
    presentment_part: 'bigint?',
    /** The lines that the refund returns; `null` if it returns a sum. */
    line_items: as<readonly ReturnedPart[] | null>('jsonb?'),
    /**
     * The taxes of the refund; `null` for a sale without lines, and for a refund of an earlier
     * release.
     */
    taxes: as<readonly RateTax[] | null>('jsonb?'),
    /**
     * USDC for one unit of the shop's currency when the refund succeeded; `null` before, and for a
     * rebuilt refund.
     */
    shop_rate: 'text?',
    status: as<RefundStatus>('text'),
    reason: 'text?',
    failure_code: as<RefundFailure | null>('text?'),
    tx_hash: 'text?',
    source: as<'api' | 'terminal' | 'dashboard'>('text'),
    /** The cashier who was signed in at the till; `null` if none was. */
    cashier_id: 'text?',
    metadata: as<Readonly<Record<string, string>>>('jsonb'),
  },
  { failure_message: 'text?' },
);

export type RefundState =
  /** The settlement job exists; the chain has no result yet. */
  | { readonly status: 'pending' }
  | { readonly status: 'succeeded'; readonly tx_hash: string }
  | {
      readonly status: 'failed';
      readonly failure_code: RefundFailure;
      readonly tx_hash: string | null;
    };

export type RefundRow = Row<typeof refunds>;

/** The row, with the columns that its status needs. */
export type Refund = Readonly<Omit<RefundRow, 'status' | 'failure_code' | 'tx_hash'>> & RefundState;

export type PendingRefund = Refund & { readonly status: 'pending' };

const NO_FACTS = {
  recovered: false,
  receipt_number: null,
  reason: null,
  shop_rate: null,
  cashier_id: null,
  metadata: {},
} as const satisfies Partial<Refund>;

type Facts = Omit<PendingRefund, 'status' | 'updated'>;

/** Returns a new refund; facts that are not given are empty. */
export function newRefund(
  given: Omit<Facts, keyof typeof NO_FACTS> & Partial<Facts>,
): PendingRefund {
  return { ...NO_FACTS, ...given, updated: given.created, status: 'pending' };
}

export function toReceipted(refund: Refund): Receipted {
  const { id: subjectId, payment_id: paymentId, receipt_number: receiptNumber } = refund;
  return { subjectId, paymentId, tenant: tenantOf(refund), receiptNumber };
}
