import { type Atoms, atoms } from '#core/money.ts';
import { as, type Row, table } from '#db/table.ts';
import type { PaymentError } from '#payments/decline-codes.ts';
import type { Attempt, Tipping } from '#payments/payment-attempt.ts';
import type { Quote } from '#prices/quote-price.ts';
import type { SaleLines } from '#prices/sale-lines.ts';

export const INTENT_STATUSES = [
  'requires_payment_method',
  'requires_action',
  'processing',
  'succeeded',
  'canceled',
] as const;
export type IntentStatus = (typeof INTENT_STATUSES)[number];

export const CANCELLATION_REASONS = ['requested_by_merchant', 'expired', 'recovered'] as const;
export type CancellationReason = (typeof CANCELLATION_REASONS)[number];

/**
 * The offline sale for which an intent was created, and when the till accepted it, by the till's
 * clock.
 */
export interface AcceptedOffline {
  readonly id: string;
  /** ISO 8601. */
  readonly acceptedAt: string;
}

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
  /** The intent's bit in the contract's replay guard; `null` for intents of an earlier release. */
  settlement_number: 'bigint?',
  /** True if the database lost the intent and recovery rebuilt it from the chain. */
  recovered: 'boolean',
  account_id: 'text',
  livemode: 'boolean',
  position: 'bigint',
  /** The time of creation by the account's clock, like all event times of an intent. */
  created: 'timestamptz',
  /**
   * Lead of the account's clock over the service's clock, which `expires_at` and `confirm_by` use.
   */
  ahead_seconds: 'bigint',
  amount: as<Atoms>('bigint'),
  /**
   * The price in the shop's currency from which the amount was computed; `null` for a sale in USDC.
   */
  presentment: as<Quote | null>('jsonb?'),
  /** The items of the sale; `null` if it was created without lines. */
  lines: as<SaleLines | null>('jsonb?'),
  /** The tips to offer; `null` if tips are not allowed. */
  tipping: as<Tipping | null>('jsonb?'),
  terminal_id: 'text',
  /** The terminal's location when the intent was created; `null` if it had none. */
  location_id: 'text?',
  order_id: 'text',
  description: 'text?',
  metadata: as<Readonly<Record<string, string>>>('jsonb'),
  source: as<'api' | 'terminal'>('text'),
  /** Set only if a till accepted the sale offline. */
  offline: as<AcceptedOffline | null>('jsonb?'),
  split_group: 'text?',
  /** The user who was signed in at the till; `null` if there was none. */
  cashier_id: 'text?',
  expires_at: 'timestamptz',
  picked_up_at: 'timestamptz?',
  tapped_at: 'timestamptz?',
  status: as<IntentStatus>('text'),
  attempt: as<StoredAttempt | null>('jsonb?'),
  confirm_by: 'timestamptz?',
  last_payment_error: as<PaymentError | null>('jsonb?'),
  /** The payer whose attempt was declined last, whose wallet shows it. */
  declined_payer_id: 'text?',
  payment_id: 'text?',
  tx_hash: 'text?',
  cancellation_reason: as<CancellationReason | null>('text?'),
  canceled_at: 'timestamptz?',
  traceparent: 'text?',
});

type StoredIntent = Row<typeof paymentIntents>;

/** The columns that are `null` unless the status needs them; constraints of the table hold that. */
export const NO_STATE = {
  attempt: null,
  confirm_by: null,
  payment_id: null,
  tx_hash: null,
  cancellation_reason: null,
  canceled_at: null,
} as const satisfies Partial<StoredIntent>;

type StateColumns = Pick<StoredIntent, keyof typeof NO_STATE | 'status'>;

/** The data of an intent in any status: its row's other columns. */
type StoredFacts = Readonly<Omit<StoredIntent, keyof StateColumns>>;

/** The merchant number on the contract is set if the intent was read to be paid. */
interface PaidTo {
  /** `null` if the account is not live. */
  readonly merchant_number?: bigint | null;
}

export type IntentRow = StoredIntent & PaidTo;
export type IntentFacts = StoredFacts & PaidTo;

export type IntentState =
  | { readonly status: 'requires_payment_method' }
  | { readonly status: 'requires_action'; readonly attempt: Attempt; readonly confirm_by: Date }
  | { readonly status: 'processing'; readonly attempt: Attempt }
  | {
      readonly status: 'succeeded';
      readonly attempt: Attempt;
      readonly payment_id: string;
      readonly tx_hash: string;
    }
  | {
      readonly status: 'canceled';
      readonly canceled_at: Date;
      readonly cancellation_reason: CancellationReason;
      /**
       * The attempt that was waiting for confirmation when the intent was canceled, so that the
       * payer's wallet can show the result; `null` if there was none.
       */
      readonly attempt: Attempt | null;
    };

export type PaymentIntent = IntentFacts & IntentState;
export type OpenIntent = StoredFacts & { readonly status: 'requires_payment_method' };

/** Returns the intent in this state, without the columns of its former one. */
export function inState<S extends IntentState>(facts: IntentFacts, state: S): IntentFacts & S {
  return { ...facts, ...NO_STATE, ...state };
}

/** The facts that every new intent has, and those that most have not. */
type NewFacts = Omit<StoredFacts, keyof typeof NO_FACTS> & Partial<StoredFacts>;

const NO_FACTS = {
  recovered: false,
  presentment: null,
  lines: null,
  tipping: null,
  location_id: null,
  description: null,
  metadata: {},
  offline: null,
  split_group: null,
  cashier_id: null,
  picked_up_at: null,
  tapped_at: null,
  last_payment_error: null,
  declined_payer_id: null,
  traceparent: null,
} as const satisfies Partial<StoredFacts>;

/** Returns a new intent; facts that are not given are empty. */
export function newIntent(given: NewFacts): OpenIntent {
  return inState({ ...NO_FACTS, ...given }, { status: 'requires_payment_method' });
}

export function toIntent(row: IntentRow): PaymentIntent {
  const { attempt } = row;
  return { ...row, attempt: attempt === null ? null : toAttempt(attempt) } as PaymentIntent;
}

export function toRow(intent: PaymentIntent): IntentRow {
  const { attempt = null } = intent as { readonly attempt?: Attempt | null };
  const stored = attempt === null ? null : toStoredAttempt(attempt);
  return { ...(intent as IntentFacts as IntentRow), attempt: stored };
}
