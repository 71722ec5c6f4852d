import { failpoint } from '#core/failpoints.ts';
import type { Tx } from '#db/database.ts';
import { batchSize, blockWait, gasUsed, tapToSettled } from '#observability/process-metrics.ts';
import { isTracing, traceSpan } from '#observability/tracing.ts';
import type { Alarm } from '#settlement/alarms.ts';
import type { OutcomeFacts, RequestPayloads } from '#settlement/chain-requests.ts';
import { addGasUsed, isGasKind } from '#settlement/gas-spending-queries.ts';
import type { NetworkConfig } from '#settlement/network-config.ts';
import {
  commitWithoutWaiting,
  type MovedTransfer,
  moveTransfers,
  type Requeued,
  replaceOutcome,
  requeue,
  reviveDeclined,
  selectDeclined,
  selectKnownOutcomes,
  writeOutcomes,
} from '#settlement/relayer/jobs/job-queries.ts';
import {
  answers,
  authorizationOf,
  eventResult,
  type Result,
} from '#settlement/relayer/jobs/request-kinds.ts';
import { leasesOf, shareHeldSenders } from '#settlement/relayer/jobs/sender-queries.ts';
import { markMined } from '#settlement/relayer/jobs/transaction-queries.ts';
import type { RelayerState } from '#settlement/relayer/state-machine/relayer-state.ts';
import type { OpenTransaction } from '#settlement/relayer/state-machine/transaction.ts';
import {
  type Answered,
  isReportedUndone,
  isStillOwed,
  type Resolution,
} from '#settlement/relayer/track/choose-results-that-count.ts';
import {
  movePayments,
  selectChainPayments,
  upsertChainPayments,
} from '#settlement/settled/settled-queries.ts';

/**
 * Stores, in one database transaction, what was found on the chain: mined transactions, completed
 * or requeued jobs, and settled payments. Repeating this has no effect.
 * @throws SenderLost if another worker has taken one of the senders; that worker then stores the
 * same.
 */
export async function finish(
  relayer: RelayerState,
  resolutions: readonly Resolution[],
): Promise<void> {
  if (resolutions.length === 0) return;
  failpoint('settlement.receipt_seen');
  const { config } = relayer.chain;
  const answered = resolutions.flatMap((one) => one.answered);
  const requeued = resolutions.flatMap((one) => one.requeued);
  const { alarms, isQueued } = await relayer.db.transaction(async (tx) => {
    const settled = resolutions.flatMap((one) => one.settled);
    // Run these concurrently, to save round trips. If the senders are lost, nothing is committed.
    const [, ids] = await Promise.all([
      shareHeldSenders(tx, leasesOf(relayer, [...new Set(resolutions.map((one) => one.sender))])),
      writeOutcomes(tx, answered),
      addGasUsed(tx, resolutions.flatMap(toGasUsed)),
      markMined(tx, resolutions.map(toMined)),
      requeue(tx, requeued),
      upsertChainPayments(tx, config.livemode, settled),
      commitWithoutWaiting(tx),
    ]);
    const again = await followReorganization(tx, config, resolutions, new Set(ids));
    const raised = [...resolutions.flatMap((one) => one.alarms), ...again.alarms];
    await relayer.raise(tx, raised);
    if (again.isRevived) relayer.wakeups.send('chain-outcomes', 'payment');
    return { alarms: raised, isQueued: again.isQueued };
  });
  failpoint('settlement.outcome_committed');
  countMined(relayer, resolutions);
  for (const { sender, transaction } of resolutions) {
    sender.observe(transaction, { kind: 'result_written' });
  }
  for (const alarm of alarms) relayer.log.error(`settlement alarm: ${alarm.kind}`, { ...alarm });
  const kinds = new Set(answered.map(({ request }) => request.kind));
  for (const kind of kinds) relayer.wakeups.send('chain-outcomes', kind);
  if (isQueued || requeued.length > 0) relayer.wakeSenders();
}

/** Records the wait for the chain as a span of the sale's trace. */
function traceSettled(
  { chain }: RelayerState,
  { requests, signedAtMs, attempts }: OpenTransaction,
  { request, result }: Answered,
): void {
  if (!isTracing()) return;
  const { attempt } = request.payload as RequestPayloads['payment'];
  traceSpan('settle', {
    parent: (attempt as { readonly traceparent?: unknown } | undefined)?.traceparent,
    startMs: Date.now() - (performance.now() - (signedAtMs ?? performance.now())),
    attributes: {
      'tapline.network': chain.config.network,
      'tapline.succeeded': result.succeeded,
      'tapline.batch_size': requests.length,
      'tapline.transaction': attempts.at(-1)?.hash ?? '',
    },
  });
}

function countMined(relayer: RelayerState, resolutions: readonly Resolution[]): void {
  const { network } = relayer.chain.config;
  const now = relayer.clock.now().getTime();
  for (const { transaction, receipt, answered } of resolutions) {
    gasUsed.inc({ network, kind: transaction.kind }, Number(receipt.gasUsed));
    const { signedAtMs, requests } = transaction;
    const waitedMs = signedAtMs === null ? null : performance.now() - signedAtMs;
    if (waitedMs !== null) blockWait.observe({ network }, waitedMs / 1000);
    if (transaction.kind !== 'payment' || requests.length === 0) continue;
    batchSize.observe({ network }, requests.length);
    for (const one of answered) {
      const { request, result } = one;
      traceSettled(relayer, transaction, one);
      const seconds = (now - request.created.getTime()) / 1000;
      if (result.succeeded) tapToSettled.observe({ network }, Math.max(0, seconds));
    }
  }
}

function toMined({ transaction, receipt }: Resolution) {
  const { txHash: tx_hash, blockNumber: block_number, blockHash: block_hash } = receipt;
  return { id: transaction.id, tx_hash, block_number, block_hash, gas_used: receipt.gasUsed };
}

/** Returns the used gas of a job that was counted before it was requested; such jobs are alone. */
function toGasUsed({ transaction, receipt }: Resolution) {
  const [request] = transaction.requests;
  if (request === undefined || !isGasKind(request.kind)) return [];
  if (request.kind === 'payment' && authorizationOf(request) === null) return [];
  const { kind, subjectId: subject_id } = request;
  return [{ kind, subject_id, transaction_id: transaction.id, gas: receipt.gasUsed }];
}

type Network = Pick<NetworkConfig, 'livemode' | 'chainId'>;

/**
 * Applies what a reorganization has changed about results that the ledger already had. `taken`: the
 * jobs whose result `finish` has just written.
 * @returns alarms; `isRevived`: a declined payment has succeeded, so its domain must apply the new
 * result; `isQueued`: jobs were requeued, because the ledger already relies on their results.
 */
async function followReorganization(
  tx: Tx,
  { livemode, chainId }: Network,
  resolutions: readonly Resolution[],
  taken: ReadonlySet<bigint>,
) {
  const answered = resolutions.flatMap((one) => one.answered);
  const late = answered.filter(({ requestId }) => !taken.has(requestId));
  const compared = await compareLate(tx, late);
  // A reorganization undid these jobs, and a later transaction has settled them again.
  const again = answered.filter(({ request }) => request.owed && taken.has(request.id));
  await followPlaces(tx, livemode, [...again, ...compared.moved]);
  const numbers = unexplained(resolutions, taken);
  const revived = await reviveSettled(tx, { livemode, chainId, numbers });
  return {
    alarms: [...compared.alarms, ...revived],
    isRevived: revived.length > 0,
    isQueued: compared.isQueued,
  };
}

/**
 * Returns settlement numbers that the chain shows as settled although no result for them is being
 * stored: they belong to a declined payment, or another payment has used them.
 */
function unexplained(resolutions: readonly Resolution[], taken: ReadonlySet<bigint>): bigint[] {
  const numbers = new Set<bigint>();
  for (const { settled, answered, alarms } of resolutions) {
    for (const { payment } of settled) numbers.add(payment.number);
    for (const { request, result } of answered) {
      if (request.kind !== 'payment' || request.number === null) continue;
      if (result.succeeded && taken.has(request.id)) numbers.delete(request.number);
      const isOthers = alarms.some(
        ({ kind, subject }) => kind === 'number_taken' && subject === request.subjectId,
      );
      if (isOthers) numbers.add(request.number);
    }
  }
  return [...numbers];
}

/** Updates the block positions of booked results whose transaction or block has changed. */
async function followPlaces(tx: Tx, livemode: boolean, moved: readonly Answered[]): Promise<void> {
  const numbers: bigint[] = [];
  const transfers: MovedTransfer[] = [];
  for (const { request, result } of moved) {
    if (!result.succeeded) continue;
    const { facts } = result;
    if (request.kind !== 'payment') transfers.push({ id: request.subjectId, txHash: facts.txHash });
    else numbers.push(BigInt((facts as OutcomeFacts['payment']).settlementNumber));
  }
  await movePayments(tx, { livemode, numbers });
  await moveTransfers(tx, transfers);
}

/**
 * Compares results of jobs that already had one: a reorganization undid their block, and the same
 * bytes were mined again. A result that was not applied yet is corrected. If it was applied, its
 * block and transaction are updated; any other difference raises an alarm, and a job that the
 * ledger relies on is sent again. (The transaction's results were read earlier, so the stored
 * result may have been applied since.)
 */
async function compareLate(tx: Tx, late: readonly Answered[]) {
  const alarms: Alarm[] = [];
  const moved: Answered[] = [];
  const again: Requeued[] = [];
  if (late.length === 0) return { alarms, moved, isQueued: false };
  const ids = late.map((one) => one.requestId);
  const known = new Map((await selectKnownOutcomes(tx, ids)).map((row) => [row.id, row]));
  for (const one of late) {
    const { kind, subjectId: subject } = one.request;
    const before = known.get(one.requestId);
    // The job was queued again after its block was lost. Its next transaction will find the event.
    if (before === undefined || before.outcome === null) continue;
    if (before.transaction_id !== one.transactionId) continue;
    // The payment was declined, but the chain has settled it: see reviveSettled.
    if (before.applied && before.status === 'failed' && one.result.succeeded) continue;
    if (!before.applied) {
      await replaceOutcome(tx, one);
      continue;
    }
    const booked = { kind, owed: before.status !== 'failed' };
    const isOwed = isStillOwed(booked, one.result);
    if (isOwed) again.push({ ...one, isRefused: kind === 'payment' });
    const isOther = withoutPlace(before.outcome as Result) !== withoutPlace(one.result);
    if (isOwed ? isReportedUndone(booked, one.result) : isOther) {
      const details = { before: before.outcome, after: one.result };
      alarms.push({ kind: 'outcome_changed', subject, details });
    } else if (one.result.succeeded) {
      await replaceOutcome(tx, one);
      moved.push(one);
    }
  }
  await requeue(tx, again);
  return { alarms, moved, isQueued: again.length > 0 };
}

/** Fields that may change when a transaction, or other bytes for it, are mined in another block. */
const PLACE_FIELDS = ['txHash', 'blockNumber', 'logIndex', 'blockTime', 'seenAt', 'batchNumber'];

function withoutPlace(result: Result): string {
  if (!result.succeeded) return JSON.stringify({ reason: result.reason });
  const facts = Object.entries(result.facts).filter(([name]) => !PLACE_FIELDS.includes(name));
  return JSON.stringify(facts.sort());
}

/**
 * Handles numbers that the chain shows as settled although no result says so. If such a number
 * belongs to a declined payment (after a reorganization deeper than the confirmations), the ledger
 * follows the chain: the job becomes successful, its domain applies the result, and an alarm names
 * it. If another attempt of the same intent is in progress, that attempt is resolved first; see
 * `resolve`.
 */
async function reviveSettled(
  tx: Tx,
  { livemode, chainId, numbers }: Network & { readonly numbers: readonly bigint[] },
): Promise<Alarm[]> {
  if (numbers.length === 0) return [];
  const declined = await selectDeclined(tx, { livemode, numbers });
  if (declined.length === 0) return [];
  const alarms: Alarm[] = [];
  for (const event of await selectChainPayments(tx, { livemode, numbers })) {
    const match = declined.find((one) => one.number === event.number && answers(event, one));
    if (match === undefined) continue;
    const result = eventResult(event, { time: event.blockTime }, chainId);
    const { attempt = null } = match.payload as { attempt?: unknown };
    await reviveDeclined(tx, match.id, { ...result, afterDecline: attempt });
    const details = { number: event.number, txHash: event.txHash, block: event.blockNumber };
    alarms.push({ kind: 'settled_after_decline', subject: match.subjectId, details });
  }
  return alarms;
}
