import { assertNever, present } from '#core/assert.ts';
import { type Atoms, atoms } from '#core/money.ts';
import type { PaymentError } from '#payments/decline.ts';
import type {
  Attempt,
  CancellationReason,
  IntentState,
  IntentStatus,
  PaymentIntent,
} from '#payments/payment-intent.ts';

/** A row of payment_intents. */
export interface IntentRow {
  id: string;
  settlement_number: bigint | null;
  recovered: boolean;
  account_id: string;
  livemode: boolean;
  position: bigint;
  created: Date;
  amount: bigint;
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
  attempt: Attempt | null;
  confirm_by: Date | null;
  last_payment_error: PaymentError | null;
  payment_id: string | null;
  tx_hash: string | null;
  cancellation_reason: CancellationReason | null;
  canceled_at: Date | null;
}

function stateOf(row: IntentRow): IntentState {
  switch (row.status) {
    case 'requires_payment_method':
      return { status: row.status };
    case 'requires_action':
      return {
        status: row.status,
        attempt: present(row.attempt, 'attempt'),
        confirmBy: present(row.confirm_by, 'confirm_by'),
      };
    case 'processing':
      return { status: row.status, attempt: present(row.attempt, 'attempt') };
    case 'succeeded':
      return {
        status: row.status,
        attempt: present(row.attempt, 'attempt'),
        paymentId: present(row.payment_id, 'payment_id'),
        txHash: present(row.tx_hash, 'tx_hash'),
      };
    case 'canceled':
      return {
        status: row.status,
        canceledAt: present(row.canceled_at, 'canceled_at'),
        cancellationReason: present(row.cancellation_reason, 'cancellation_reason'),
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
    amount: atoms(row.amount) satisfies Atoms,
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
    ...stateOf(row),
  };
}

/** The columns that a transition may change. */
export interface StateColumns {
  status: IntentStatus;
  attempt: Attempt | null;
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
      return { ...none, attempt: intent.attempt, confirm_by: intent.confirmBy };
    case 'processing':
      return { ...none, attempt: intent.attempt };
    case 'succeeded': {
      const { attempt, paymentId, txHash } = intent;
      return { ...none, attempt, payment_id: paymentId, tx_hash: txHash };
    }
    case 'canceled': {
      const { canceledAt, cancellationReason } = intent;
      return { ...none, canceled_at: canceledAt, cancellation_reason: cancellationReason };
    }
    default:
      return assertNever(intent);
  }
}
