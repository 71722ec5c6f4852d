import { assertNever, present } from '#core/assert.ts';
import { type Atoms, atoms } from '#core/money.ts';
import { as, type Row, table } from '#db/table.ts';
import type { PaymentError } from '#payments/decline-codes.ts';
import type { Attempt } from '#payments/payment-attempt.ts';
import type {
  AcceptedOffline,
  CancellationReason,
  IntentState,
  IntentStatus,
  PaymentIntent,
  Tipping,
} from '#payments/payment-intent.ts';
import type { Quote } from '#prices/quote-price.ts';
import type { SaleLines } from '#prices/sale-lines.ts';

/** An attempt as stored in JSON. Releases without tips stored no tip, so a tip of 0 is omitted. */
export type StoredAttempt = Omit<Attempt, 'tip'> & { readonly tip?: string };

export function toStoredAttempt({ tip, ...attempt }: Attempt): StoredAttempt {
  return tip === 0n ? attempt : { ...attempt, tip: tip.toString() };
}

export function toAttempt({ tip = '0', ...attempt }: StoredAttempt): Attempt {
  return { ...attempt, tip: atoms(BigInt(tip)) };
}

export const paymentIntents = table('payment_intents', {
  id: 'text',
  settlement_number: 'bigint?',
  recovered: 'boolean',
  account_id: 'text',
  livemode: 'boolean',
  position: 'bigint',
  created: 'timestamptz',
  ahead_seconds: 'bigint',
  amount: 'bigint',
  presentment: as<Quote | null>('jsonb?'),
  lines: as<SaleLines | null>('jsonb?'),
  tipping: as<Tipping | null>('jsonb?'),
  terminal_id: 'text',
  location_id: 'text?',
  order_id: 'text',
  description: 'text?',
  metadata: as<Record<string, string>>('jsonb'),
  source: as<'api' | 'terminal'>('text'),
  offline: as<AcceptedOffline | null>('jsonb?'),
  split_group: 'text?',
  cashier_id: 'text?',
  expires_at: 'timestamptz',
  picked_up_at: 'timestamptz?',
  tapped_at: 'timestamptz?',
  status: as<IntentStatus>('text'),
  attempt: as<StoredAttempt | null>('jsonb?'),
  confirm_by: 'timestamptz?',
  last_payment_error: as<PaymentError | null>('jsonb?'),
  payment_id: 'text?',
  tx_hash: 'text?',
  cancellation_reason: as<CancellationReason | null>('text?'),
  canceled_at: 'timestamptz?',
  traceparent: 'text?',
});

/** An intent's row, with the merchant number if it was read. */
export type IntentRow = Row<typeof paymentIntents> & { merchant_number?: bigint | null };

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
    locationId: row.location_id,
    orderId: row.order_id,
    description: row.description,
    metadata: row.metadata,
    source: row.source,
    offline: row.offline,
    splitGroup: row.split_group,
    cashierId: row.cashier_id,
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
export type StateColumns = Pick<
  IntentRow,
  | 'status'
  | 'attempt'
  | 'confirm_by'
  | 'last_payment_error'
  | 'payment_id'
  | 'tx_hash'
  | 'cancellation_reason'
  | 'canceled_at'
>;

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
