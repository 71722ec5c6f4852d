import type { MerchantAccount } from '#accounts/merchant-caller.ts';
import type { Atoms } from '#core/money.ts';
import type { RotatingKey } from '#core/secrets.ts';
import type { IdempotentRequest } from '#idempotency/request.ts';
import type { PreflightResult } from '#payments/assess.ts';
import type { Presented } from '#payments/credential.ts';
import type { SignedPayment } from '#payments/credentials/authorization.ts';
import type { Visit } from '#payments/credentials/visiting.ts';
import type { StaticPassTerms } from '#risk/rules.ts';
import type { Hex } from '#settlement/requests.ts';

/** A tap, or a confirm with an agent token. */
export interface PayRequest {
  readonly merchant: MerchantAccount;
  readonly intentId: string;
  /** Only this terminal's intents, when a terminal pays. */
  readonly terminalId?: string;
  readonly presented: Presented;
  /** On top of the sale; null: none was given. */
  readonly tip: Atoms | null;
  readonly idempotency: IdempotentRequest | null;
  readonly requestId: string;
  readonly now: Date;
  readonly gone?: AbortSignal;
  /** The span of this payment, if it is traced. */
  readonly traceparent?: string | null;
}

/** Asks the chain whether a payment would settle now. A network call: never in a transaction. */
export type Preflight = (payment: {
  readonly livemode: boolean;
  readonly payer: Hex;
  readonly merchantNumber: bigint;
  readonly amount: bigint;
  readonly orderId: string;
  /** Paid with a signature for this payment, not under a standing policy. */
  readonly signed?: Pick<SignedPayment, 'authorization' | 'rates'> & { readonly number: bigint };
}) => Promise<PreflightResult>;

/**
 * Asks the home of what another cell has made. A network call: never in a transaction.
 * @returns null: it is of this cell, or of none that is known.
 */
export type AskHome = (
  tap: Pick<PayRequest, 'presented' | 'merchant' | 'intentId'>,
) => Promise<Visit | null>;

/** Settings for every payment of this service. */
export interface PayTerms {
  /** Seconds that a payment has from its tap to its block on the chain. */
  readonly settleWithinS: number;
  /** Opens the keys of payers' cards. */
  readonly cardKey: RotatingKey;
  /** When a pass that can be copied needs its payer's yes; null: never. */
  readonly staticPass: StaticPassTerms | null;
}
