import { addMs } from '#core/clock.ts';
import { atoms } from '#core/money.ts';
import { type IntentState, inState, newIntent, type PaymentIntent } from '#payments/intent-rows.ts';
import type { Attempt } from '#payments/payment-attempt.ts';
import type { IntentCommand } from '#payments/payment-intent.ts';

/** A payment intent in every state, and every command, for tests of the state machine. */
export const CREATED = new Date('2026-10-01T12:00:00.000Z');
export const EXPIRES_MS = 120_000;
export const EXPIRES_AT = addMs(CREATED, EXPIRES_MS);

const ATTEMPT: Attempt = {
  payerId: 'pyr_1',
  payerAddress: '0x00000000000000000000000000000000000000aa',
  credential: { type: 'nfc_id', passId: 'pass_1' },
  tip: atoms(0),
  reasonCode: null,
};

/** An attempt that recovery found on the chain, which does not store its credential. */
export const LOST_ATTEMPT: Attempt = { ...ATTEMPT, credential: { type: 'unknown' } };

const FACTS = newIntent({
  id: 'pi_1',
  settlement_number: 1_048_577n,
  account_id: 'acct_1',
  livemode: false,
  position: 1n,
  created: CREATED,
  ahead_seconds: 0n,
  amount: atoms(2_500_000),
  terminal_id: 'tml_1',
  order_id: 'A-1',
  metadata: { table: '7' },
  source: 'api',
  expires_at: EXPIRES_AT,
});

export function intentIn(state: IntentState): PaymentIntent {
  return inState(FACTS, state);
}

export const OPEN = intentIn({ status: 'requires_payment_method' });
/** The confirmation deadline if it was requested early: before the intent expires. */
export const EARLY_CONFIRM_BY = addMs(EXPIRES_AT, -30_000);
/** The confirmation deadline if it was requested late: it would be after the intent expires. */
const LATE_CONFIRM_BY = addMs(EXPIRES_AT, 30_000);
export const ASKED = { status: 'requires_action', attempt: ATTEMPT } as const;
export const ASKED_EARLY = intentIn({ ...ASKED, confirm_by: EARLY_CONFIRM_BY });
export const ASKED_LATE = intentIn({ ...ASKED, confirm_by: LATE_CONFIRM_BY });
export const PROCESSING = intentIn({ status: 'processing', attempt: ATTEMPT });
export const PAID = { payment_id: 'pay_1', tx_hash: '0x01' };
export const SUCCEEDED = intentIn({ status: 'succeeded', attempt: ATTEMPT, ...PAID });
export const CANCELED = intentIn({
  status: 'canceled',
  canceled_at: addMs(CREATED, 1),
  cancellation_reason: 'requested_by_merchant',
  attempt: null,
});

export const COMMANDS = {
  settle: { type: 'settle', attempt: ATTEMPT },
  ask_payer: { type: 'ask_payer', attempt: ATTEMPT, confirmBy: addMs(EXPIRES_AT, 59_000) },
  decline: { type: 'decline', decline: 'insufficient_funds' },
  approve: { type: 'approve' },
  reject: { type: 'reject' },
  settled: { type: 'settled', paymentId: 'pay_2', txHash: '0x02' },
  not_settled: { type: 'not_settled', decline: 'settlement_failed' },
  cancel: { type: 'cancel' },
  rebuild: { type: 'rebuild', attempt: LOST_ATTEMPT, paymentId: 'pay_3', txHash: '0x03' },
  settled_after_decline: {
    type: 'settled_after_decline',
    attempt: LOST_ATTEMPT,
    paymentId: 'pay_4',
    txHash: '0x04',
  },
  give_up: { type: 'give_up' },
  time_passed: { type: 'time_passed' },
} as const satisfies Record<IntentCommand['type'], IntentCommand>;
