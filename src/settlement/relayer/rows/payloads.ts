import { present } from '#core/assert.ts';
import { type PaymentCall, refundCall } from '#settlement/contract/contract-calls.ts';
import { contractOf } from '#settlement/editions.ts';
import type { NetworkConfig } from '#settlement/networks.ts';
import type { OpenRequest } from '#settlement/relayer/machine/transaction.ts';
import type {
  Hex,
  PaymentAuthorization,
  RequestKind,
  RequestPayloads,
} from '#settlement/requests.ts';

/** A call of one of the contracts. */
export interface TargetCall {
  readonly to: Hex;
  readonly data: Hex;
}

/** The payload, typed as requests.ts wrote it. */
export function payloadOf<K extends RequestKind>(
  request: OpenRequest,
  kind: K,
): RequestPayloads[K] {
  if (request.kind !== kind) throw new TypeError(`a ${request.kind} is not a ${kind}`);
  return request.payload as RequestPayloads[K];
}

export function numberOf(request: OpenRequest): bigint {
  return present(request.number, 'number of a request');
}

export function paymentOf(request: OpenRequest): PaymentCall {
  const payload = payloadOf(request, 'payment');
  return {
    number: numberOf(request),
    payer: payload.payer,
    merchantNumber: BigInt(payload.merchantNumber),
    amount: BigInt(payload.amount),
    orderId: payload.orderId,
  };
}

/** What the payer signed for this payment alone; null: it is paid under a standing policy. */
export function authorizationOf(request: OpenRequest): PaymentAuthorization | null {
  return payloadOf(request, 'payment').authorization ?? null;
}

/** For a refund that an earlier release requested. */
const NO_REFERENCE: Hex = `0x${'0'.repeat(32)}`;

/** The refund's name in its event. */
export function referenceOf(request: OpenRequest): Hex {
  return payloadOf(request, 'refund').reference ?? NO_REFERENCE;
}

/**
 * What a refund's call needs in addition to the request: the payment as it was settled, and its
 * proof.
 */
export interface RefundProof {
  readonly payment: PaymentCall;
  readonly batchNumber: bigint;
  readonly proof: readonly Hex[];
}

export function refundTarget(
  request: OpenRequest,
  proven: RefundProof & { readonly refundedBefore: bigint },
  config: NetworkConfig,
): TargetCall {
  const amount = BigInt(payloadOf(request, 'refund').amount);
  const reference = referenceOf(request);
  const to = contractOf(config, proven.payment.merchantNumber);
  return { to, data: refundCall({ ...proven, amount, reference }) };
}
