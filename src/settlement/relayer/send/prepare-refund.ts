import { RpcUnavailable } from '#settlement/chain/rpc.ts';
import { failed, type Result } from '#settlement/relayer/rows/facts.ts';
import { payloadOf } from '#settlement/relayer/rows/payloads.ts';
import {
  isBeingPaidAgain,
  selectPaymentNumber,
  selectRefundSums,
} from '#settlement/relayer/rows/refund-proof-queries.ts';
import type { HeldLane, OpenRequest, RelayerState } from '#settlement/relayer/rows/state.ts';
import { findRefund } from '#settlement/relayer/send/earlier-events.ts';
import { estimateGas } from '#settlement/relayer/send/estimate-gas.ts';
import { singleGasLimit } from '#settlement/relayer/send/gas.ts';
import type { PreparedRefund } from '#settlement/relayer/send/planned.ts';
import { refundCallAt, refundedOf } from '#settlement/relayer/send/refund-order.ts';
import { rebuiltProof, storedProof } from '#settlement/relayer/send/refund-proof.ts';
import { type Prepared, refusedBy } from '#settlement/relayer/send/refused-single.ts';

/** Longer than any reorganisation; then the refund fails, and a person looks at the payment. */
const MISSING_PAYMENT_MS = 600_000;

export async function prepareRefund(
  relayer: RelayerState,
  lane: HeldLane,
  request: OpenRequest,
): Promise<Prepared> {
  const { paymentId } = payloadOf(request, 'refund');
  const number = await selectPaymentNumber(relayer.db, paymentId);
  if (number === null) return unknownPayment(relayer, request);
  const { livemode } = relayer.chain.config;
  const refunded = await refundedOf(relayer, number);
  const paid = await paidBefore(relayer, { lane, request, number, refunded });
  if (paid !== null) return { status: 'decided', result: paid, alarm: null };
  const proof = await storedProof(relayer.db, { livemode, number });
  const first = proof && (await tryRefund(relayer, lane, request, { proof, refunded }));
  if (first !== null && first !== 'not in the batch') return first;
  // The proof is missing or refused: build it from the chain's own events and try that.
  const rebuilt = await rebuiltProof(relayer, number);
  const second = rebuilt && (await tryRefund(relayer, lane, request, { proof: rebuilt, refunded }));
  if (second === null) return unknownPayment(relayer, request);
  if (second !== 'not in the batch') return second;
  throw new RpcUnavailable('the payment moves to another batch at present');
}

/**
 * It was sent under other bytes before, and the chain has refunded more than the ledger can
 * explain without it.
 */
async function paidBefore(
  { chain, db }: RelayerState,
  asked: {
    readonly lane: HeldLane;
    readonly request: OpenRequest;
    readonly number: bigint;
    readonly refunded: bigint;
  },
): Promise<Result | null> {
  const { request, number, refunded } = asked;
  if (refunded === 0n || (!request.owed && request.tries === 0)) return null;
  const { livemode } = chain.config;
  const paymentIds = [payloadOf(request, 'refund').paymentId];
  const [sums] = await selectRefundSums(db, { livemode, lane: asked.lane.lane, paymentIds });
  if (sums !== undefined && refunded <= sums.settled) return null;
  return findRefund(chain, request, number);
}

async function tryRefund(
  relayer: RelayerState,
  lane: HeldLane,
  request: OpenRequest,
  refund: PreparedRefund,
): Promise<Prepared | 'not in the batch'> {
  const call = refundCallAt(relayer, request, refund, refund.refunded);
  const estimate = await estimateGas(relayer, lane, call);
  if (estimate.ok) {
    const gasLimit = singleGasLimit(estimate.gas);
    return {
      status: 'ready',
      planned: { kind: 'refund', call, gasLimit, requests: [request], refund },
    };
  }
  if (estimate.error === 'PaymentNotInBatch') return 'not in the batch';
  return refusedBy(relayer, request, estimate.revertData);
}

/** A reorganisation may have undone the payment's block: its bytes are mined again soon. */
async function unknownPayment(relayer: RelayerState, request: OpenRequest): Promise<Prepared> {
  const askedMs = relayer.clock.now().getTime() - request.created.getTime();
  const { paymentId } = payloadOf(request, 'refund');
  const mayFail = !request.owed && askedMs >= MISSING_PAYMENT_MS;
  // A payment that is being sent again may take longer than that: USDC may be paused.
  if (!mayFail || (await isBeingPaidAgain(relayer.db, paymentId))) {
    throw new RpcUnavailable('the payment is not in the chain at present');
  }
  const details = { kind: request.kind, reason: 'the chain knows no such payment' };
  const alarm = { kind: 'payment_missing', subject: request.subjectId, details };
  return { status: 'decided', result: failed('transaction_reverted', null), alarm };
}
