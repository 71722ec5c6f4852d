import type { FailureReason } from '#settlement/requests.ts';

/** Why a payment was declined (decisions.md section 4). The list may grow. */
export const DECLINES = {
  pass_unknown: 'This pass is not known.',
  pass_revoked: 'This pass was revoked.',
  insufficient_funds: 'The wallet does not hold enough USDC for the amount and its fees.',
  approval_insufficient: "The wallet's spending approval does not cover the amount and its fees.",
  limit_exceeded: 'The payment is above a spending limit of the payer.',
  risk_blocked: 'The payment was refused by the risk policy.',
  payer_rejected: 'The payer said no.',
  confirmation_timeout: 'The payer did not confirm within 60 seconds.',
  agent_token_unknown: 'This agent token is not known.',
  agent_token_expired: 'This agent token has expired.',
  agent_token_used: 'This agent token was used before, or is in use.',
  agent_token_mismatch: 'This agent token was made for another merchant or amount.',
  settlement_failed: 'The payment could not be settled on the chain. Nothing was charged.',
} as const;

export type Decline = keyof typeof DECLINES;

/** What a refusal of the chain is called. */
export const FAILURE_DECLINES: Readonly<Record<FailureReason, Decline>> = {
  insufficient_funds: 'insufficient_funds',
  approval_insufficient: 'approval_insufficient',
  limit_exceeded: 'limit_exceeded',
  settlement_failed: 'settlement_failed',
  insufficient_balance: 'settlement_failed',
  transfer_blocked: 'settlement_failed',
  wallet_changed: 'settlement_failed',
  transaction_reverted: 'settlement_failed',
};

/** `reason_code` of what was declined because nobody could settle it in time. */
export const SETTLEMENT_UNAVAILABLE = 'SETTLEMENT_UNAVAILABLE';

/** `last_payment_error` of an intent, as stored and shown. */
export interface PaymentError {
  readonly type: 'payment_error';
  readonly code: 'payment_declined';
  readonly decline_code: Decline;
  /** The upper case of the decline code, the risk rule's name, or what it says more exactly. */
  readonly reason_code: string;
  readonly message: string;
  readonly created: string;
}

export function paymentError(decline: Decline, at: Date, rule?: string): PaymentError {
  return {
    type: 'payment_error',
    code: 'payment_declined',
    decline_code: decline,
    reason_code: rule ?? decline.toUpperCase(),
    message: DECLINES[decline],
    created: at.toISOString(),
  };
}
