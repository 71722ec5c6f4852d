import type { MerchantAccount } from '#accounts/merchant-caller.ts';
import type { Atoms } from '#core/money.ts';
import type { RotatingKey } from '#core/secrets.ts';
import type { IdempotentRequest } from '#idempotency/request-fingerprint.ts';
import type { Presented } from '#payments/credential.ts';
import type { SignedPayment } from '#payments/credentials/authorization.ts';
import type { Visit } from '#payments/credentials/visiting.ts';
import type { PreflightResult } from '#payments/decide-decline.ts';
import type { StaticPassTerms } from '#risk/risk-rules.ts';
import type { Deployment } from '#settlement/chain/verify-signature.ts';
import type { Hex } from '#settlement/chain-requests.ts';

/** A tap, or a confirm with an agent token. */
export interface PayRequest {
  readonly merchant: MerchantAccount;
  readonly intentId: string;
  /** If set, only this terminal's intents can be paid. */
  readonly terminalId?: string;
  readonly presented: Presented;
  /** The tip on top of the sale; `null` if none was given. */
  readonly tip: Atoms | null;
  readonly idempotency: IdempotentRequest | null;
  readonly requestId: string;
  readonly now: Date;
  readonly gone?: AbortSignal;
  /** The payment's trace span, if it is traced. */
  readonly traceparent?: string | null;
}

/**
 * Queries whether a payment would settle on the chain now. Makes a network call, so never call it
 * within a transaction.
 */
export type Preflight = (payment: {
  readonly livemode: boolean;
  readonly payer: Hex;
  readonly merchantNumber: bigint;
  readonly amount: bigint;
  readonly orderId: string;
  /** Set for a payment with its own signature instead of a standing policy. */
  readonly signed?: Pick<SignedPayment, 'authorization' | 'rates'> & {
    readonly number: bigint;
    /** Set for a wallet that must be deployed first (ERC-6492). */
    readonly deployment?: Deployment;
  };
}) => Promise<PreflightResult>;

/**
 * Lets another cell verify its credential. Makes a network call, so never call it within a
 * transaction.
 * @returns `null` if the credential belongs to this cell, or to no known one.
 */
export type AskHome = (
  tap: Pick<PayRequest, 'presented' | 'merchant' | 'intentId'>,
) => Promise<Visit | null>;

/** Settings for every payment of this service. */
export interface PayTerms {
  /** Seconds from its tap within which a payment must be in a block. */
  readonly settleWithinS: number;
  /** Decrypts the keys of payers' cards. */
  readonly cardKey: RotatingKey;
  /**
   * The terms on which a pass that can be copied needs its payer's confirmation; `null` for never.
   */
  readonly staticPass: StaticPassTerms | null;
}
