import { assertNever } from '#core/assert.ts';
import { merchantReference } from '#settlement/contract-calls.ts';
import type { PaymentSettled, SettlementEvent } from '#settlement/contract-events.ts';
import { numberOf, payloadOf, paymentOf, referenceOf } from '#settlement/payloads.ts';
import type { OpenRequest } from '#settlement/relayer-state.ts';
import type {
  ChainPlace,
  Failure,
  FailureReason,
  Hex,
  OutcomeFacts,
} from '#settlement/requests.ts';

/** The seam's `result`, of any kind. */
export type Result =
  | { readonly succeeded: true; readonly facts: OutcomeFacts[keyof OutcomeFacts] }
  | Failure;

export function failed(reason: FailureReason, txHash: Hex | null): Result {
  return { succeeded: false, reason, txHash };
}

function placeOf(
  event: { readonly txHash: Hex; readonly blockNumber: bigint; readonly logIndex: number },
  blockTime: Date,
): ChainPlace {
  return {
    txHash: event.txHash,
    blockNumber: event.blockNumber.toString(),
    logIndex: event.logIndex,
    blockTime: blockTime.toISOString(),
  };
}

function paymentResult(event: PaymentSettled, blockTime: Date, chainId: number): Result {
  const facts: OutcomeFacts['payment'] = {
    ...placeOf(event, blockTime),
    settlementNumber: event.number.toString(),
    batchNumber: event.batchNumber.toString(),
    feeAcquirer: event.feeAcquirer.toString(),
    feeProtocol: event.feeProtocol.toString(),
    cashback: event.cashback.toString(),
    chainId,
  };
  return { succeeded: true, facts };
}

/**
 * Whether this request asked for the event, in everything that money depends on. A refund's event
 * is looked for in its own transaction only: refunds of an earlier release have no reference.
 */
export function answers(event: SettlementEvent, request: OpenRequest): boolean {
  switch (request.kind) {
    case 'payment':
      return event.event === 'PaymentSettled' && samePayment(event, request);
    case 'refund': {
      const { paymentNumber, amount } = payloadOf(request, 'refund');
      return (
        event.event === 'PaymentRefunded' &&
        event.reference === referenceOf(request) &&
        (paymentNumber === undefined || event.number === BigInt(paymentNumber)) &&
        event.amount === BigInt(amount)
      );
    }
    case 'withdrawal': {
      const { merchantNumber, wallet, amount } = payloadOf(request, 'withdrawal');
      return (
        event.event === 'Withdrawn' &&
        sameAddress(event.wallet, wallet) &&
        event.number === numberOf(request) &&
        event.merchantNumber === BigInt(merchantNumber) &&
        event.amount === BigInt(amount)
      );
    }
    case 'merchant_registration': {
      const { accountId, wallet } = payloadOf(request, 'merchant_registration');
      return (
        event.event === 'MerchantRegistered' &&
        event.reference === merchantReference(accountId) &&
        sameAddress(event.wallet, wallet)
      );
    }
    case 'wallet_change':
    case 'enrolment':
    case 'faucet':
      return false;
    default:
      return assertNever(request.kind);
  }
}

function samePayment(event: PaymentSettled, request: OpenRequest): boolean {
  const payment = paymentOf(request);
  return (
    event.number === payment.number &&
    sameAddress(event.payer, payment.payer) &&
    event.merchantNumber === payment.merchantNumber &&
    event.amount === payment.amount &&
    event.orderId === payment.orderId
  );
}

function sameAddress(a: Hex, b: Hex): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

/** The facts of a request that succeeded by this event (payments: {@link paymentResult}). */
export function eventResult(event: SettlementEvent, blockTime: Date, chainId: number): Result {
  if (event.event === 'PaymentSettled') return paymentResult(event, blockTime, chainId);
  const place = placeOf(event, blockTime);
  if (event.event !== 'MerchantRegistered') return { succeeded: true, facts: place };
  const merchantNumber = event.merchantNumber.toString();
  return { succeeded: true, facts: { ...place, merchantNumber } };
}
