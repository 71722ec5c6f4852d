import type { MerchantAccount } from '#accounts/merchant-caller.ts';
import type { RotatingKey } from '#core/bearer-secrets.ts';
import type { Atoms } from '#core/money.ts';
import type { IdempotentRequest } from '#idempotency/request-fingerprint.ts';
import type { PreflightResult } from '#payments/assess-payment.ts';
import type { Presented } from '#payments/credential.ts';
import type { SignedPayment } from '#payments/credentials/authorization.ts';
import type { Visit } from '#payments/credentials/visiting.ts';
import type { StaticPassTerms } from '#risk/risk-rules.ts';
import type { Deployment } from '#settlement/chain/check/verify-signature.ts';
import type { Hex } from '#settlement/chain-requests.ts';

export interface PayRequest {
  readonly merchant: MerchantAccount;
  readonly intentId: string;
  /** Set for a terminal, which can pay only its own intents. */
  readonly terminalId?: string;
  readonly presented: Presented;
  /** The tip, in addition to the sale; `null` if the request has none. */
  readonly tip: Atoms | null;
  readonly idempotency: IdempotentRequest | null;
  readonly requestId: string;
  readonly now: Date;
  readonly gone?: AbortSignal;
  /** The trace context of the payment; `null` if it is not traced. */
  readonly traceparent?: string | null;
}

/**
 * Asks the chain whether a payment would settle now. A network call: never use it in a transaction.
 */
export type Preflight = (payment: {
  readonly livemode: boolean;
  readonly payer: Hex;
  readonly merchantNumber: bigint;
  readonly amount: bigint;
  readonly orderId: string;
  /** Set if the wallet has signed this payment, instead of a standing policy. */
  readonly signed?: Pick<SignedPayment, 'authorization' | 'rates'> & {
    readonly number: bigint;
    /** Set if the wallet must be deployed first (ERC-6492). */
    readonly deployment?: Deployment;
  };
}) => Promise<PreflightResult>;

/**
 * Asks the cell that issued a credential to verify it. A network call: never use it in a
 * transaction. @returns `null` if the credential belongs to this cell or to an unknown one.
 */
export type AskHome = (
  tap: Pick<PayRequest, 'presented' | 'merchant' | 'intentId'>,
) => Promise<Visit | null>;

export interface PayTerms {
  /** Seconds after a tap within which the payment must be in a block. */
  readonly settleWithinS: number;
  /** Decrypts the keys of payers' cards. */
  readonly cardKey: RotatingKey;
  /**
   * The terms on which a payment with a copyable pass needs its payer's confirmation; `null` for
   * never.
   */
  readonly staticPass: StaticPassTerms | null;
}
