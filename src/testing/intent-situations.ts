import { addMs } from '#core/clock.ts';
import { atoms } from '#core/money.ts';
import type { Attempt } from '#payments/payment-attempt.ts';
import type { IntentCommand, IntentState, PaymentIntent } from '#payments/payment-intent.ts';

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

export function intentIn(state: IntentState): PaymentIntent {
  return {
    id: 'pi_1',
    settlementNumber: 1_048_577n,
    recovered: false,
    tenant: { accountId: 'acct_1', livemode: false },
    position: 1n,
    created: CREATED,
    aheadSeconds: 0,
    amount: atoms(2_500_000),
    presentment: null,
    lines: null,
    tipping: null,
    terminalId: 'tml_1',
    locationId: null,
    orderId: 'A-1',
    description: null,
    metadata: { table: '7' },
    source: 'api',
    offline: null,
    splitGroup: null,
    cashierId: null,
    expiresAt: EXPIRES_AT,
    pickedUpAt: null,
    tappedAt: null,
    lastPaymentError: null,
    ...state,
  };
}

export const OPEN = intentIn({ status: 'requires_payment_method' });
/** The confirmation deadline if it was requested early: before the intent expires. */
export const EARLY_CONFIRM_BY = addMs(EXPIRES_AT, -30_000);
/** The confirmation deadline if it was requested late: it would be after the intent expires. */
const LATE_CONFIRM_BY = addMs(EXPIRES_AT, 30_000);
export const ASKED = { status: 'requires_action', attempt: ATTEMPT } as const;
export const ASKED_EARLY = intentIn({ ...ASKED, confirmBy: EARLY_CONFIRM_BY });
export const ASKED_LATE = intentIn({ ...ASKED, confirmBy: LATE_CONFIRM_BY });
export const PROCESSING = intentIn({ status: 'processing', attempt: ATTEMPT });
export const PAID = { paymentId: 'pay_1', txHash: '0x01' };
export const SUCCEEDED = intentIn({ status: 'succeeded', attempt: ATTEMPT, ...PAID });
export const CANCELED = intentIn({
  status: 'canceled',
  canceledAt: addMs(CREATED, 1),
  cancellationReason: 'requested_by_merchant',
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
