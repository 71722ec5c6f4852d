import type { MerchantStanding } from '#accounts/merchant-caller.ts';
import { addSeconds } from '#core/clock.ts';
import { derivedOrderId, type IdKey, numberedId } from '#core/derived-ids.ts';
import { atoms } from '#core/money.ts';
import type { IdempotentRequest } from '#idempotency/request.ts';
import type { ShownIntent } from '#payments/payment-intent.ts';
import type { DrawnNumber, SettlementNumbers } from '#settlement/numbers.ts';

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

/** What new intents get their ids from. */
export interface IntentIds {
  readonly idKey: IdKey;
  readonly numbers: SettlementNumbers;
}

/**
 * The order id that the request names, or else the one that its Idempotency-Key derives to: the
 * same again when the request comes again to a database that has lost the first.
 */
export function orderIdOf(idKey: IdKey, { input, idempotency }: CreateRequest, clash = 0): string {
  return input.orderId ?? derivedOrderId(idKey, idempotency, clash);
}

/** The intent that a request asks for, as it is when it counts as created at that time. */
export function toNewIntent(
  idKey: IdKey,
  { standing, input }: CreateRequest,
  of: { readonly drawn: DrawnNumber; readonly orderId: string; readonly created: Date },
): ShownIntent & { readonly status: 'requires_payment_method' } {
  const { drawn, orderId, created } = of;
  return {
    id: numberedId(idKey, 'paymentIntent', drawn),
    settlementNumber: drawn.number,
    recovered: false,
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
