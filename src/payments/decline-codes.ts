import type { FailureReason } from '#settlement/chain-requests.ts';

/**
 * The decline codes (behavior.md 5.8), each with a message for developers and one for the customer.
 * Later releases may add codes.
 */
export const DECLINES = {
  pass_unknown: {
    message: 'This network does not know this pass.',
    customer: 'This pass was not recognized. Please use another one.',
  },
  pass_revoked: {
    message: 'This pass was revoked.',
    customer: 'This pass has been revoked. Please use another one.',
  },
  pass_replayed: {
    message: 'This code was already used, or was not created by this card.',
    customer: 'The card could not be read. Please tap it again.',
  },
  pass_code_expired: {
    message: 'This code has expired, or does not belong to this pass.',
    customer: 'This code has expired. Please show a new one.',
  },
  pass_code_used: {
    message: 'This code was already used.',
    customer: 'This code has already been used. Please show a new one.',
  },
  insufficient_funds: {
    message: 'The wallet does not hold enough USDC for the amount and its fees.',
    customer: 'There is not enough money in your wallet for this payment.',
  },
  approval_insufficient: {
    message:
      "The wallet's approval does not cover the amount and its fees. An approval has two " +
      'parts: a token permit and a spending policy.',
    customer: 'You have not allowed enough for this payment. Please allow more in your wallet app.',
  },
  limit_exceeded: {
    message: "The payment exceeds one of the payer's spending limits.",
    customer: 'This payment is above your spending limit. You can change it in your wallet app.',
  },
  risk_blocked: {
    message: 'The risk policy declined the payment.',
    customer: 'This payment cannot be accepted. Please pay another way.',
  },
  payer_rejected: {
    message: 'The payer rejected the payment.',
    customer: 'You rejected this payment. Nothing was charged.',
  },
  confirmation_timeout: {
    message: 'The payer did not confirm within 60 seconds.',
    customer: 'The payment was not confirmed in time. Nothing was charged. Please try again.',
  },
  authorization_refused: {
    message: "The wallet's authorization was refused. Nothing was charged.",
    customer: 'Your wallet could not make this payment. Nothing was charged. Please try again.',
  },
  agent_token_unknown: {
    message: 'This network does not know this agent token.',
    customer: 'Your assistant is not allowed to make this payment.',
  },
  agent_token_expired: {
    message: 'This agent token has expired.',
    customer: 'The permission you gave your assistant has expired. Please give it a new one.',
  },
  agent_token_used: {
    message: 'This agent token was already used, or is in use.',
    customer: 'Your assistant has already used this permission. Please give it a new one.',
  },
  agent_token_mismatch: {
    message: 'This agent token is for a different merchant or amount.',
    customer:
      'You allowed your assistant to pay another shop or amount. Please give it a new permission.',
  },
  settlement_failed: {
    message: 'The payment could not be settled on the chain. Nothing was charged.',
    customer: 'The payment did not go through. Nothing was charged. Please try again.',
  },
} as const satisfies Record<string, { readonly message: string; readonly customer: string }>;

export type Decline = keyof typeof DECLINES;

/** The decline code for each reason why a settlement can fail on the chain. */
export const FAILURE_DECLINES: Readonly<Record<FailureReason, Decline>> = {
  insufficient_funds: 'insufficient_funds',
  approval_insufficient: 'approval_insufficient',
  limit_exceeded: 'limit_exceeded',
  authorization_refused: 'authorization_refused',
  settlement_failed: 'settlement_failed',
  insufficient_balance: 'settlement_failed',
  transfer_blocked: 'settlement_failed',
  wallet_changed: 'settlement_failed',
  wallet_not_announced: 'settlement_failed',
  transaction_reverted: 'settlement_failed',
};

/** `reason_code` of a payment that was declined because its settlement was not possible in time. */
export const SETTLEMENT_UNAVAILABLE = 'SETTLEMENT_UNAVAILABLE';

/**
 * `reason_code` of a payment that the contract refused because its hourly ceiling was reached. A
 * retry in the same hour would be refused as well.
 */
export const CEILING_REACHED = 'CEILING_REACHED';

/** `reason_code` of a payment whose credential's home cell could not be reached. */
export const HOME_CELL_AWAY = 'HOME_CELL_AWAY';

/** Messages of reasons that are more specific than their decline code. */
const REASON_WORDS: Readonly<
  Record<string, { readonly message: string; readonly customer: string }>
> = {
  [CEILING_REACHED]: {
    message: 'The network has reached its hourly settlement limit. Nothing was charged.',
    customer:
      'This payment cannot be accepted right now. Nothing was charged. Please pay another way.',
  },
  [HOME_CELL_AWAY]: {
    message: 'The cell that holds this pass cannot be reached right now. Nothing was charged.',
    customer: 'This pass cannot be checked right now. Nothing was charged. Please pay another way.',
  },
};

export interface PaymentError {
  readonly type: 'payment_error';
  readonly code: 'payment_declined';
  readonly decline_code: Decline;
  /** The decline code in uppercase, the name of a risk rule, or a more specific reason. */
  readonly reason_code: string;
  readonly message: string;
  /** Missing in rows written by earlier releases. */
  readonly customer_message?: string;
  readonly created: string;
}

export function paymentError(decline: Decline, at: Date, rule?: string): PaymentError {
  const words = REASON_WORDS[rule ?? ''] ?? DECLINES[decline];
  return {
    type: 'payment_error',
    code: 'payment_declined',
    decline_code: decline,
    reason_code: rule ?? decline.toUpperCase(),
    message: words.message,
    customer_message: words.customer,
    created: at.toISOString(),
  };
}
