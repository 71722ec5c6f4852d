import { assertNever, present } from '#core/assert.ts';
import { type Atoms, atoms } from '#core/money.ts';
import type { Attempt } from '#payments/attempt.ts';
import type { PaymentError } from '#payments/decline.ts';
import type {
  CancellationReason,
  IntentState,
  IntentStatus,
  PaymentIntent,
  Tipping,
} from '#payments/payment-intent.ts';
import type { SaleLines } from '#prices/lines.ts';
import type { Quote } from '#prices/quote.ts';

/** An attempt as JSON. An attempt without a tip has the form from before tips existed. */
export type StoredAttempt = Omit<Attempt, 'tip'> & { readonly tip?: string };

export function toStoredAttempt({ tip, ...attempt }: Attempt): StoredAttempt {
  return tip === 0n ? attempt : { ...attempt, tip: tip.toString() };
}

export function toAttempt({ tip = '0', ...attempt }: StoredAttempt): Attempt {
  return { ...attempt, tip: atoms(BigInt(tip)) };
}

/** A row of payment_intents. */
export interface IntentRow {
  id: string;
  settlement_number: bigint | null;
  recovered: boolean;
  account_id: string;
  livemode: boolean;
  position: bigint;
  created: Date;
  ahead_seconds: bigint;
  amount: bigint;
  presentment: Quote | null;
  lines: SaleLines | null;
  tipping: Tipping | null;
  terminal_id: string;
  order_id: string;
  description: string | null;
  metadata: Record<string, string>;
  source: 'api' | 'terminal';
  split_group: string | null;
  expires_at: Date;
  picked_up_at: Date | null;
  tapped_at: Date | null;
  status: IntentStatus;
  attempt: StoredAttempt | null;
  confirm_by: Date | null;
  last_payment_error: PaymentError | null;
  payment_id: string | null;
  tx_hash: string | null;
  cancellation_reason: CancellationReason | null;
  canceled_at: Date | null;
  traceparent: string | null;
  /** Read only for payment. */
  merchant_number?: bigint | null;
}

function attemptOf(row: IntentRow): Attempt {
  return toAttempt(present(row.attempt, 'attempt'));
}

function stateOf(row: IntentRow): IntentState {
  switch (row.status) {
    case 'requires_payment_method':
      return { status: row.status };
    case 'requires_action':
      return {
        status: row.status,
        attempt: attemptOf(row),
        confirmBy: present(row.confirm_by, 'confirm_by'),
      };
    case 'processing':
      return { status: row.status, attempt: attemptOf(row) };
    case 'succeeded':
      return {
        status: row.status,
        attempt: attemptOf(row),
        paymentId: present(row.payment_id, 'payment_id'),
        txHash: present(row.tx_hash, 'tx_hash'),
      };
    case 'canceled':
      return {
        status: row.status,
        canceledAt: present(row.canceled_at, 'canceled_at'),
        cancellationReason: present(row.cancellation_reason, 'cancellation_reason'),
        ...(row.attempt === null ? {} : { asked: toAttempt(row.attempt) }),
      };
    default:
      return assertNever(row.status);
  }
}

export function toIntent(row: IntentRow): PaymentIntent {
  return {
    id: row.id,
    settlementNumber: row.settlement_number,
    recovered: row.recovered,
    tenant: { accountId: row.account_id, livemode: row.livemode },
    position: row.position,
    created: row.created,
    aheadSeconds: Number(row.ahead_seconds),
    amount: atoms(row.amount) satisfies Atoms,
    presentment: row.presentment,
    lines: row.lines,
    tipping: row.tipping,
    terminalId: row.terminal_id,
    orderId: row.order_id,
    description: row.description,
    metadata: row.metadata,
    source: row.source,
    splitGroup: row.split_group,
    expiresAt: row.expires_at,
    pickedUpAt: row.picked_up_at,
    tappedAt: row.tapped_at,
    lastPaymentError: row.last_payment_error,
    traceparent: row.traceparent,
    ...(row.merchant_number == null ? {} : { merchantNumber: row.merchant_number }),
    ...stateOf(row),
  };
}

/** The columns that a transition may change. */
export interface StateColumns {
  status: IntentStatus;
  attempt: StoredAttempt | null;
  confirm_by: Date | null;
  last_payment_error: PaymentError | null;
  payment_id: string | null;
  tx_hash: string | null;
  cancellation_reason: CancellationReason | null;
  canceled_at: Date | null;
}

export function toStateColumns(intent: PaymentIntent): StateColumns {
  const none: StateColumns = {
    status: intent.status,
    attempt: null,
    confirm_by: null,
    last_payment_error: intent.lastPaymentError,
    payment_id: null,
    tx_hash: null,
    cancellation_reason: null,
    canceled_at: null,
  };
  switch (intent.status) {
    case 'requires_payment_method':
      return none;
    case 'requires_action':
      return { ...none, attempt: toStoredAttempt(intent.attempt), confirm_by: intent.confirmBy };
    case 'processing':
      return { ...none, attempt: toStoredAttempt(intent.attempt) };
    case 'succeeded': {
      const { paymentId, txHash } = intent;
      const attempt = toStoredAttempt(intent.attempt);
      return { ...none, attempt, payment_id: paymentId, tx_hash: txHash };
    }
    case 'canceled': {
      const { canceledAt, cancellationReason, asked } = intent;
      const attempt = asked === undefined ? null : toStoredAttempt(asked);
      return { ...none, attempt, canceled_at: canceledAt, cancellation_reason: cancellationReason };
    }
    default:
      return assertNever(intent);
  }
}
