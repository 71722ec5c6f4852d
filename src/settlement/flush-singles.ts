import { failpoint } from '#core/failpoints.ts';
import { describeError } from '#core/log.ts';
import { DatabaseUnavailable } from '#db/database.ts';
import { markBlocked } from '#settlement/blocked.ts';
import { broadcast } from '#settlement/broadcast.ts';
import { quantity, toRevert } from '#settlement/chain.ts';
import { readRevert } from '#settlement/contract-calls.ts';
import { hasTimeLeft } from '#settlement/deadlines.ts';
import { findEarlier } from '#settlement/earlier-events.ts';
import { failed, type Result } from '#settlement/facts.ts';
import { LaneLost, planBatch, toOpenRequest } from '#settlement/flush-payments.ts';
import { singleGasLimit } from '#settlement/gas.ts';
import { lockHeldLane } from '#settlement/lane-queries.ts';
import type { LaneRole } from '#settlement/networks.ts';
import { type Alarm, insertAlarms, writeOutcomes } from '#settlement/outcome-queries.ts';
import { payloadOf, singleCall, type TargetCall } from '#settlement/payloads.ts';
import { freshHeight } from '#settlement/read-head.ts';
import {
  inOrder,
  type PreparedRefund,
  refundCallAt,
  refundedOf,
} from '#settlement/refund-order.ts';
import { rebuiltProof, storedProof } from '#settlement/refund-proof.ts';
import { selectPaymentNumber } from '#settlement/refund-queries.ts';
import type {
  HeldLane,
  OpenRequest,
  OpenTransaction,
  RelayerState,
} from '#settlement/relayer-state.ts';
import type { Hex, RequestKind } from '#settlement/requests.ts';
import { RpcRefusal, RpcUnavailable } from '#settlement/rpc.ts';
import { type Planned, signAndStore } from '#settlement/sign-and-store.ts';
import { lockQueued, selectSingles } from '#settlement/transaction-queries.ts';

/** Simulated and signed together; each is a transaction of its own. */
const MAX_SINGLES = 8;

/** What a node could not judge is asked about again after this long; others go first. */
const DEFER_MS = 2_000;

/** decisions.md section 12: how often the token is asked whether it would transfer again. */
const BLOCKED_RETRY_MS = 60_000;

/** Longer than any reorganisation; then the refund fails, and a person looks at the payment. */
const MISSING_PAYMENT_MS = 600_000;

const KINDS: Record<LaneRole, readonly RequestKind[]> = {
  operator: ['payment', 'refund', 'withdrawal', 'enrolment', 'faucet'],
  registrar: ['merchant_registration', 'wallet_change'],
};

type Prepared =
  | { readonly status: 'ready'; readonly planned: Planned }
  | { readonly status: 'blocked' }
  | { readonly status: 'decided'; readonly result: Result; readonly alarm: Alarm | null };

/**
 * Sends what is to be sent alone: refunds, withdrawals, registrations and the like, and payments
 * whose batch was mined without an answer for them. Each is simulated first, so that what the
 * contract would refuse costs no gas and fails with its reason.
 * @returns how many requests were sent or decided. @throws LaneLost, RpcUnavailable
 */
export async function flushSingles(relayer: RelayerState, lane: HeldLane): Promise<number> {
  const { chain, db, owner, wakeups } = relayer;
  const { livemode } = chain.config;
  const kinds = KINDS[lane.role];
  const except = stillDeferred(relayer);
  const waiting = await selectSingles(db, { livemode, kinds, except, limit: MAX_SINGLES });
  if (waiting.length === 0) return 0;
  const requests = waiting.map(toOpenRequest);
  const prepared = await prepareAll(relayer, lane, requests);

  const done = await db.transaction(async (tx) => {
    const nonce = await lockHeldLane(tx, { livemode, lane: lane.lane, owner, fence: lane.fence });
    if (nonce === null) throw new LaneLost(lane.lane);
    const ids = new Set(await lockQueued(tx, [...prepared.keys()]));
    const now = relayer.clock.now();
    const mine = requests.filter((request) => ids.has(request.id) && hasTimeLeft(request, now));
    const { planned: sorted, outcomes, alarms, decided } = sortOut(mine, prepared);
    const { planned, waiting } = await inOrder(tx, { relayer, lane }, sorted);
    for (const request of waiting) deferRequest(relayer, request);
    await writeOutcomes(tx, outcomes);
    await insertAlarms(tx, livemode, alarms, now);
    const stored = await signAndStore(tx, { relayer, lane, nonce }, planned);
    return { stored, decided };
  });
  if (done.stored.length > 0) failpoint('settlement.signed_committed');
  for (const kind of new Set(done.decided)) wakeups.send('chain-outcomes', kind);
  await sendAll(relayer, lane, done.stored);
  if (done.stored.length > 0) failpoint('settlement.broadcast_sent');
  return done.stored.length + done.decided.length;
}

async function sendAll(
  relayer: RelayerState,
  lane: HeldLane,
  stored: readonly OpenTransaction[],
): Promise<void> {
  for (const transaction of stored) lane.open.set(transaction.nonce, transaction);
  await broadcast(relayer, lane, stored);
}

function sortOut(mine: readonly OpenRequest[], prepared: ReadonlyMap<bigint, Prepared>) {
  const planned: Planned[] = [];
  const outcomes: { requestId: bigint; transactionId: null; result: Result }[] = [];
  const alarms: Alarm[] = [];
  const decided: RequestKind[] = [];
  for (const request of mine) {
    const one = prepared.get(request.id);
    if (one?.status === 'ready') planned.push(one.planned);
    if (one?.status !== 'decided') continue;
    outcomes.push({ requestId: request.id, transactionId: null, result: one.result });
    decided.push(request.kind);
    if (one.alarm !== null) alarms.push(one.alarm);
  }
  return { planned, outcomes, alarms, decided };
}

async function prepareAll(
  relayer: RelayerState,
  lane: HeldLane,
  requests: readonly OpenRequest[],
): Promise<Map<bigint, Prepared>> {
  const prepared = new Map<bigint, Prepared>();
  for (const request of requests) {
    try {
      const one = await prepare(relayer, lane, request);
      prepared.set(request.id, one);
      if (one.status === 'blocked') deferRequest(relayer, request, BLOCKED_RETRY_MS);
    } catch (error) {
      if (isFault(error)) {
        deferRequest(relayer, request);
        const fields = { kind: request.kind, subject: request.subjectId };
        relayer.log.warn('a request waits', { ...fields, error: describeError(error) });
      } else {
        prepared.set(request.id, invalid(request, error));
      }
    }
  }
  return prepared;
}

/** Of the chain or the database: it passes. Everything else is the request's own. */
function isFault(error: unknown): boolean {
  return (
    error instanceof RpcUnavailable ||
    error instanceof RpcRefusal ||
    error instanceof DatabaseUnavailable
  );
}

function invalid(request: OpenRequest, error: unknown): Prepared {
  const details = { kind: request.kind, error: describeError(error) };
  const alarm = { kind: 'request_invalid', subject: request.subjectId, details };
  return { status: 'decided', result: failed('transaction_reverted', null), alarm };
}

function deferRequest(relayer: RelayerState, request: OpenRequest, ms = DEFER_MS): void {
  relayer.deferred.set(request.id, performance.now() + ms);
}

function stillDeferred(relayer: RelayerState): bigint[] {
  for (const [id, until] of relayer.deferred) {
    if (until < performance.now()) relayer.deferred.delete(id);
  }
  return [...relayer.deferred.keys()];
}

async function prepare(
  relayer: RelayerState,
  lane: HeldLane,
  request: OpenRequest,
): Promise<Prepared> {
  if (request.kind === 'refund') return prepareRefund(relayer, lane, request);
  if (request.kind === 'payment') return preparePayment(relayer, lane, request);
  const call = singleCall(request, relayer.chain.config);
  const estimate = await estimateGas(relayer, lane, call);
  if (!estimate.ok) return refusedBy(relayer, request, estimate.revertData);
  const gasLimit = singleGasLimit(estimate.gas);
  return { status: 'ready', planned: { kind: request.kind, call, gasLimit, requests: [request] } };
}

async function preparePayment(
  relayer: RelayerState,
  lane: HeldLane,
  request: OpenRequest,
): Promise<Prepared> {
  const planned = planBatch(relayer, [request]);
  const estimate = await estimateGas(relayer, lane, planned.call);
  if (!estimate.ok) return refusedBy(relayer, request, estimate.revertData);
  return { status: 'ready', planned };
}

async function prepareRefund(
  relayer: RelayerState,
  lane: HeldLane,
  request: OpenRequest,
): Promise<Prepared> {
  const { paymentId } = payloadOf(request, 'refund');
  const number = await selectPaymentNumber(relayer.db, paymentId);
  if (number === null) return unknownPayment(relayer, request);
  const { livemode } = relayer.chain.config;
  const refunded = await refundedOf(relayer, number);
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
function unknownPayment(relayer: RelayerState, request: OpenRequest): Prepared {
  const askedMs = relayer.clock.now().getTime() - request.created.getTime();
  if (request.owed || askedMs < MISSING_PAYMENT_MS) {
    throw new RpcUnavailable('the payment is not in the chain at present');
  }
  const details = { kind: request.kind, reason: 'the chain knows no such payment' };
  const alarm = { kind: 'payment_missing', subject: request.subjectId, details };
  return { status: 'decided', result: failed('transaction_reverted', null), alarm };
}

type Estimate =
  | { readonly ok: true; readonly gas: bigint }
  | { readonly ok: false; readonly revertData: unknown; readonly error: string };

/** At the head that we know, so that a node that lags behind does not answer from the past. */
async function estimateGas(
  relayer: RelayerState,
  lane: HeldLane,
  call: TargetCall,
): Promise<Estimate> {
  const at = quantity(await freshHeight(relayer));
  const params = [{ from: lane.address, to: call.to, data: call.data }, at];
  const [answer] = await relayer.chain.rpc.batch([{ method: 'eth_estimateGas', params }]);
  if (answer?.ok === true) return { ok: true, gas: BigInt(answer.result as Hex) };
  const revert = toRevert(answer?.refusal ?? new RpcUnavailable('no answer'));
  const known = readRevert(revert.revertData);
  const error = known.kind === 'done_before' ? '' : known.error;
  return { ok: false, revertData: revert.revertData, error };
}

/** decisions.md section 12: then the refund has failed. */
const BLOCKED_MAX_MS = 24 * 3_600_000;

/** The token refuses it for now. Its amount stays reserved, and it is tried again in a minute. */
async function holdBack(
  relayer: RelayerState,
  request: OpenRequest,
  words: string,
): Promise<Prepared> {
  const now = relayer.clock.now();
  if (now.getTime() - request.created.getTime() >= BLOCKED_MAX_MS) {
    return { status: 'decided', result: failed('transfer_blocked', null), alarm: null };
  }
  await markBlocked(relayer.db, { id: request.id, by: words }, now);
  return { status: 'blocked' };
}

/** The simulation reverted, so nothing is sent: it was done before, or it fails with its reason. */
async function refusedBy(
  relayer: RelayerState,
  request: OpenRequest,
  revertData: unknown,
): Promise<Prepared> {
  const revert = readRevert(revertData);
  if (revert.kind === 'passing') throw new RpcUnavailable(`not now: ${revert.error}`);
  if (revert.kind === 'blocked' && request.kind === 'refund' && !request.owed) {
    return holdBack(relayer, request, revert.words);
  }
  if (revert.kind !== 'done_before') {
    if (request.owed) throw new RpcUnavailable(`what is owed is refused: ${revert.error}`);
    const reason = request.kind === 'payment' ? 'settlement_failed' : revert.reason;
    relayer.log.warn('the contract would refuse a request', {
      kind: request.kind,
      subject: request.subjectId,
      error: revert.error,
    });
    return { status: 'decided', result: failed(reason, null), alarm: null };
  }
  const earlier = await findEarlier(relayer.chain, request);
  if (earlier !== null) return { status: 'decided', result: earlier, alarm: null };
  const details = { kind: request.kind, number: request.number };
  const alarm = { kind: 'number_taken', subject: request.subjectId, details };
  return { status: 'decided', result: failed('transaction_reverted', null), alarm };
}
