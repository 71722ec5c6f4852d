import type { PaymentSettled, SettlementEvent } from '#settlement/contract/contract-events.ts';
import type {
  ChainPlace,
  Failure,
  FailureReason,
  Hex,
  OutcomeFacts,
} from '#settlement/requests.ts';

/** The `result` of requests.ts, for any kind. */
export type Result =
  | { readonly succeeded: true; readonly facts: OutcomeFacts[keyof OutcomeFacts] }
  | Failure;

export function failed(reason: FailureReason, txHash: Hex | null): Failure {
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

/** The same, with the time at which the block was first seen. */
export function seenResult(result: Result, seenAt: Date | null): Result {
  if (!result.succeeded || seenAt === null) return result;
  return { ...result, facts: { ...result.facts, seenAt: seenAt.toISOString() } };
}

/** The facts of a request that succeeded by this event (payments: {@link paymentResult}). */
export function eventResult(event: SettlementEvent, blockTime: Date, chainId: number): Result {
  if (event.event === 'PaymentSettled') return paymentResult(event, blockTime, chainId);
  const place = placeOf(event, blockTime);
  if (event.event !== 'MerchantRegistered') return { succeeded: true, facts: place };
  const merchantNumber = event.merchantNumber.toString();
  return { succeeded: true, facts: { ...place, merchantNumber } };
}
