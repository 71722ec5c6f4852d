import type { Tenant } from '#core/mode.ts';
import type { Atoms } from '#core/money.ts';
import type { PastQuote } from '#prices/quote-price.ts';

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

interface RefundFacts {
  readonly id: string;
  /** The refund's id in the contract's event. `null` for a refund of an earlier release. */
  readonly reference: Buffer | null;
  /** True if the refund was rebuilt from the chain after the database had lost it. */
  readonly recovered: boolean;
  readonly tenant: Tenant;
  readonly position: bigint;
  readonly created: Date;
  readonly updated: Date;
  readonly paymentId: string;
  /** The payment's. */
  readonly locationId: string | null;
  /**
   * `R…-<n>` of the receipt series of the payment's terminal; `null` until the refund has
   * succeeded.
   */
  readonly receiptNumber: string | null;
  readonly amount: Atoms;
  /**
   * The amount in the shop's currency; `null` if the sale was in USDC, or the refund was rebuilt.
   */
  readonly presentment: PastQuote | null;
  /** The amount in minor units, if the request stated it in those. */
  readonly part: number | null;
  readonly reason: string | null;
  readonly source: 'api' | 'terminal' | 'dashboard';
  /** The cashier who was signed in at the till; `null` if none was. */
  readonly cashierId: string | null;
  readonly metadata: Readonly<Record<string, string>>;
}

export type RefundState =
  /** The settlement job exists; the chain has no result yet. */
  | { readonly status: 'pending' }
  | { readonly status: 'succeeded'; readonly txHash: string }
  | { readonly status: 'failed'; readonly failure: RefundFailure; readonly txHash: string | null };

export type Refund = RefundFacts & RefundState;
