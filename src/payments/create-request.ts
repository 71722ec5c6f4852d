import type { MerchantStanding } from '#accounts/merchant-caller.ts';
import { base62 } from '#core/base62.ts';
import { addSeconds } from '#core/clock.ts';
import { newId, random80 } from '#core/ids.ts';
import { atoms } from '#core/money.ts';
import type { IdempotentRequest } from '#idempotency/request.ts';
import type { ShownIntent } from '#payments/payment-intent.ts';

/** What a merchant's server, or a cashier, asks for. Already validated. */
export interface NewIntent {
  readonly amount: number;
  readonly terminalId: string;
  readonly orderId: string | null;
  readonly description: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly source: 'api' | 'terminal';
  readonly splitGroup: string | null;
  /** Seconds. */
  readonly expiresIn: number;
}

export interface CreateRequest {
  readonly standing: MerchantStanding;
  readonly idempotency: IdempotentRequest;
  readonly requestId: string;
  readonly now: Date;
  readonly input: NewIntent;
}

/** An intent and its event. */
export const PLACES_PER_CREATE = 2;
/** 62^8 values: two of one account's intents meet with a chance of one in 10^14 per pair. */
const ORDER_ID_LENGTH = 8;

export function newOrderId(): string {
  return base62(random80(), ORDER_ID_LENGTH);
}

/** The intent that a request asks for, as it is when it counts as created at that time. */
export function toNewIntent(
  { standing, input }: CreateRequest,
  orderId: string,
  created: Date,
): ShownIntent & { readonly status: 'requires_payment_method' } {
  return {
    id: newId('paymentIntent', created),
    tenant: standing.tenant,
    created,
    amount: atoms(input.amount),
    terminalId: input.terminalId,
    orderId,
    description: input.description,
    metadata: input.metadata,
    source: input.source,
    splitGroup: input.splitGroup,
    expiresAt: addSeconds(created, input.expiresIn),
    pickedUpAt: input.source === 'terminal' ? created : null,
    tappedAt: null,
    lastPaymentError: null,
    status: 'requires_payment_method',
  };
}
