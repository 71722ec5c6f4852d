import type { MerchantStanding } from '#accounts/merchant-caller.ts';
import type { IdempotentRequest } from '#idempotency/request.ts';
import type { PreflightResult } from '#payments/assess.ts';
import type { Presented } from '#payments/credential.ts';
import type { Hex } from '#settlement/requests.ts';

/** A tap, or a confirm with an agent token. */
export interface PayRequest {
  readonly standing: MerchantStanding;
  readonly intentId: string;
  /** Only this terminal's intents, when a terminal pays. */
  readonly terminalId?: string;
  readonly presented: Presented;
  readonly idempotency: IdempotentRequest | null;
  readonly requestId: string;
  readonly now: Date;
  readonly gone?: AbortSignal;
}

/** Asks the chain whether a payment would settle now. A network call: never in a transaction. */
export type Preflight = (payment: {
  readonly livemode: boolean;
  readonly payer: Hex;
  readonly merchantNumber: bigint;
  readonly amount: bigint;
  readonly orderId: string;
}) => Promise<PreflightResult>;
