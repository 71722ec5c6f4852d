import { present } from '#core/assert.ts';
import type { Sql, Tx } from '#db/database.ts';
import type { Alarm } from '#settlement/alarms.ts';
import { decodeView } from '#settlement/chain/rpc/decode-call-answers.ts';
import { RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import {
  BATCH_COUNT_CALL,
  PAYMENT_NOT_PROVED,
  readRevert,
  refundsOfCall,
} from '#settlement/contract/contract-calls.ts';
import { lensOf } from '#settlement/contract/lens-address.ts';
import { contractOf } from '#settlement/contract-versions.ts';
import {
  isBeingPaidAgain,
  type RefundSums,
  selectRefundSums,
} from '#settlement/relayer/jobs/job-queries.ts';
import {
  failed,
  payloadOf,
  type Result,
  refundTarget,
} from '#settlement/relayer/jobs/request-kinds.ts';
import { estimateGas } from '#settlement/relayer/send/estimate-gas.ts';
import { findRefund, type SettledPayment } from '#settlement/relayer/send/find-earlier-results.ts';
import type { Planned, PreparedRefund } from '#settlement/relayer/send/plan-batches.ts';
import {
  decided,
  type Prepared,
  refusedBy,
} from '#settlement/relayer/send/retry-or-fail-refused.ts';
import type { HeldSender, RelayerState } from '#settlement/relayer/state-machine/relayer-state.ts';
import type { OpenRequest } from '#settlement/relayer/state-machine/transaction.ts';
import { rereadPayment, storedProof } from '#settlement/settled/payment-proof.ts';
import { selectPaymentPlace } from '#settlement/settled/settled-queries.ts';

/**
 * Longer than any reorganization. If the payment was not on the chain for this long, its refund
 * fails, and an operator checks the payment.
 */
const MISSING_PAYMENT_MS = 600_000;

export async function prepareRefund(sender: HeldSender, request: OpenRequest): Promise<Prepared> {
  const { relayer } = sender;
  const { paymentId } = payloadOf(request, 'refund');
  const paid = await selectPaymentPlace(relayer.db, paymentId);
  if (paid === null) return unknownPayment(relayer, request);
  const payment = {
    number: paid.number,
    address: contractOf(relayer.chain.config, paid.merchantNumber),
  };
  for (const isReread of [false, true]) {
    // The contract refuses the stored proof, or there is none, so rebuild it from the chain's
    // events.
    if (isReread && !(await rereadPayment(relayer, paid))) return unknownPayment(relayer, request);
    const block = isReread ? 'latest' : (relayer.head?.number ?? 'latest');
    const { refunded, batches } = await contractAt(relayer, payment, block);
    const before = await paidBefore(sender, request, { payment, refunded });
    if (before !== null) return decided(before);
    const proof = await storedProof(relayer, { ...paid, batches });
    const tried = proof && (await tryRefund(sender, request, { proof, refunded }));
    if (tried !== null) return tried;
  }
  throw new RpcUnavailable('the payment is moving to another batch');
}

/**
 * Returns the result of an earlier transaction that paid this refund; `null` if there is none.
 * Searches only if the refund was tried before and the contract has refunded more than the ledger
 * explains.
 */
async function paidBefore(
  sender: HeldSender,
  request: OpenRequest,
  { payment, refunded }: { readonly payment: SettledPayment; readonly refunded: bigint },
): Promise<Result | null> {
  if (refunded === 0n || (!request.owed && request.tries === 0)) return null;
  const { paymentId } = payloadOf(request, 'refund');
  const sums = (await sumsOf(sender.relayer.db, sender, [paymentId])).get(paymentId);
  if (sums !== undefined && refunded <= sums.settled) return null;
  return findRefund(sender.relayer.chain, request, payment);
}

/** Returns `null` if the contract does not accept the proof. */
async function tryRefund(
  sender: HeldSender,
  request: OpenRequest,
  refund: PreparedRefund,
): Promise<Prepared | null> {
  const { relayer } = sender;
  const proven = { ...refund.proof, refundedBefore: refund.refunded };
  const call = refundTarget(request, proven, relayer.chain.config);
  const estimate = await estimateGas(sender, call);
  if (estimate.ok) {
    const { gasLimit } = estimate;
    const planned = { kind: 'refund', call, gasLimit, requests: [request], refund };
    return { status: 'ready', planned };
  }
  const revert = readRevert(estimate.revertData);
  if ('error' in revert && revert.error === PAYMENT_NOT_PROVED) return null;
  return refusedBy(relayer, request, estimate.revertData);
}

/**
 * Handles a refund of a payment that the contract does not have. If a reorganization has undone the
 * payment, it will soon be mined again.
 */
async function unknownPayment(relayer: RelayerState, request: OpenRequest): Promise<Prepared> {
  const askedMs = relayer.clock.now().getTime() - request.created.getTime();
  const { paymentId } = payloadOf(request, 'refund');
  const mayFail = !request.owed && askedMs >= MISSING_PAYMENT_MS;
  // A payment that is being resent may take longer than this, because USDC may be paused.
  if (!mayFail || (await isBeingPaidAgain(relayer.db, paymentId))) {
    throw new RpcUnavailable('the payment is currently not on the chain');
  }
  const details = { kind: request.kind, reason: 'the chain has no such payment' };
  const alarm = { kind: 'payment_missing', subject: request.subjectId, details };
  return decided(failed('transaction_reverted', null), alarm);
}

/** Reads how much of a payment the contract has refunded, and how many batches it has settled. */
async function contractAt(
  { chain }: RelayerState,
  { number, address: to }: SettledPayment,
  block: bigint | 'latest',
): Promise<{ readonly refunded: bigint; readonly batches: bigint }> {
  const calls = [
    { to, data: refundsOfCall(number), words: 1 },
    { to: lensOf(to), data: BATCH_COUNT_CALL, words: 1 },
  ];
  const [refunded, batches] = await chain.calls(calls, block);
  return { refunded: decodeView(refunded, BigInt), batches: decodeView(batches, BigInt) };
}

/**
 * Reconciliation runs once a minute and books what the ledger lacks. If the sums still differ after
 * two runs, the difference is permanent.
 */
const EXPLAINED_WITHIN_MS = 120_000;

/**
 * Gives each planned refund the sum that was refunded before it: what the ledger counts as
 * refunded, what this sender has in progress, and the planned refunds before it. The contract
 * refuses a wrong sum, so no refund is paid twice. A refund waits while a different sender has a
 * refund of the same payment in progress, because either may be mined first. It also waits while
 * ledger and chain disagree (after a reorganization, or about refunds that a restored database has
 * lost).
 */
export async function inOrder(tx: Tx, sender: HeldSender, planned: readonly Planned[]) {
  const { relayer } = sender;
  const ready: Planned[] = [];
  const waiting: OpenRequest[] = [];
  const alarms: Alarm[] = [];
  const paymentIds = planned.flatMap(({ requests, refund }) =>
    refund === undefined ? [] : requests.map((one) => payloadOf(one, 'refund').paymentId),
  );
  const sums = await sumsOf(tx, sender, paymentIds);
  const ahead = new Map<string, bigint>();
  for (const plan of planned) {
    const { refund } = plan;
    if (refund === undefined) {
      ready.push(plan);
      continue;
    }
    const request = present(plan.requests[0], 'request of a refund');
    const { paymentId, amount } = payloadOf(request, 'refund');
    const known = present(sums.get(paymentId), 'sums of a payment');
    const isKnown = refund.refunded <= known.settled + known.under_way;
    if (isKnown && !known.elsewhere && refund.refunded >= known.settled) {
      const planned = ahead.get(paymentId) ?? 0n;
      ahead.set(paymentId, planned + BigInt(amount));
      const refundedBefore = known.settled + known.under_way + planned;
      const proven = { ...refund.proof, refundedBefore };
      ready.push({ ...plan, call: refundTarget(request, proven, relayer.chain.config) });
    } else {
      waiting.push(request);
      alarms.push(...unexplained(relayer, request, { known, refund }));
    }
  }
  return { ready, waiting, alarms };
}

async function sumsOf(
  sql: Sql,
  { relayer, sender }: HeldSender,
  paymentIds: readonly string[],
): Promise<ReadonlyMap<string, RefundSums>> {
  if (paymentIds.length === 0) return new Map();
  const { livemode } = relayer;
  const rows = await selectRefundSums(sql, { livemode, sender, paymentIds });
  return new Map(rows.map((row) => [row.payment_id, row]));
}

/**
 * Returns an alarm if a refund has waited too long. A wait for another sender's refund of the same
 * payment raises none.
 */
function unexplained(
  { clock }: RelayerState,
  request: OpenRequest,
  { known, refund }: { readonly known: RefundSums; readonly refund: PreparedRefund },
): Alarm[] {
  const waitedMs = clock.now().getTime() - request.created.getTime();
  if (known.elsewhere || waitedMs < EXPLAINED_WITHIN_MS) return [];
  const { settled: ledger, under_way: underWay, payment_id: payment } = known;
  const details = { payment, ledger, underWay, chain: refund.refunded };
  return [{ kind: 'refund_sums_differ', subject: request.subjectId, details }];
}
