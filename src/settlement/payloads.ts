import { assertNever, present } from '#core/assert.ts';
import {
  enrolCall,
  mintCall,
  type PaymentCall,
  permitCall,
  policyCall,
  refundCall,
  registerMerchantCall,
  walletChangeCall,
  withdrawCall,
} from '#settlement/contract-calls.ts';
import type { NetworkConfig } from '#settlement/networks.ts';
import type { OpenRequest } from '#settlement/relayer-state.ts';
import type { Hex, RequestKind, RequestPayloads } from '#settlement/requests.ts';

/** A call of one of the contracts. */
export interface TargetCall {
  readonly to: Hex;
  readonly data: Hex;
}

/** The payload, as the seam typed it when the request was written. */
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

/** Of a refund that an earlier release has asked for. */
const NO_REFERENCE: Hex = `0x${'0'.repeat(32)}`;

/** What the event of the refund names it by. */
export function referenceOf(request: OpenRequest): Hex {
  return payloadOf(request, 'refund').reference ?? NO_REFERENCE;
}

/** What a refund's call needs beside the request: the payment as it was settled, and its proof. */
export interface RefundProof {
  readonly payment: PaymentCall;
  readonly batchNumber: bigint;
  readonly proof: readonly Hex[];
}

/** The call of a request that gets a transaction of its own, refunds and payments aside. */
export function singleCall(request: OpenRequest, config: NetworkConfig): TargetCall {
  const { settlement, usdc } = config;
  switch (request.kind) {
    case 'withdrawal': {
      const { merchantNumber, wallet, amount } = payloadOf(request, 'withdrawal');
      const number = numberOf(request);
      const of = { merchantNumber: BigInt(merchantNumber), wallet };
      return { to: settlement, data: withdrawCall({ ...of, amount: BigInt(amount), number }) };
    }
    case 'merchant_registration': {
      const payload = payloadOf(request, 'merchant_registration');
      return { to: settlement, data: registerMerchantCall(payload) };
    }
    case 'wallet_change': {
      const payload = payloadOf(request, 'wallet_change');
      return { to: settlement, data: walletChangeCall(payload) };
    }
    case 'enrolment':
      return enrolmentCall(payloadOf(request, 'enrolment'), config);
    case 'faucet': {
      const { to, amount } = payloadOf(request, 'faucet');
      return { to: usdc, data: mintCall(to, BigInt(amount)) };
    }
    case 'payment':
    case 'refund':
      throw new TypeError(`a ${request.kind} is not a plain call`);
    default:
      return assertNever(request.kind);
  }
}

export function refundTarget(
  request: OpenRequest,
  of: RefundProof & { readonly refundedBefore: bigint },
  config: NetworkConfig,
): TargetCall {
  const amount = BigInt(payloadOf(request, 'refund').amount);
  const reference = referenceOf(request);
  return { to: config.settlement, data: refundCall({ ...of, amount, reference }) };
}

function enrolmentCall(
  payload: RequestPayloads['enrolment'],
  { settlement, usdc }: NetworkConfig,
): TargetCall {
  const { payer, policy, permit } = payload;
  if (policy !== null && permit !== null) {
    return { to: settlement, data: enrolCall(payer, policy, permit) };
  }
  if (policy !== null) return { to: settlement, data: policyCall(payer, policy) };
  return { to: usdc, data: permitCall(payer, settlement, present(permit, 'permit or policy')) };
}
