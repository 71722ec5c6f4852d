import type { Tx } from '#db/database.ts';
import type { Alarm } from '#settlement/alarms.ts';
import type { NetworkConfig } from '#settlement/networks.ts';
import {
  type Answered,
  isReportedUndone,
  isStillOwed,
  type Resolution,
} from '#settlement/relayer/follow/resolve.ts';
import { type Requeued, requeue, selectDeclined } from '#settlement/relayer/rows/job-queries.ts';
import { answers, eventResult, type Result } from '#settlement/relayer/rows/kinds.ts';
import {
  type MovedTransfer,
  moveTransfers,
  replaceOutcome,
  reviveDeclined,
  selectKnownOutcomes,
} from '#settlement/relayer/rows/outcome-queries.ts';
import type { OutcomeFacts, RequestKind } from '#settlement/requests.ts';
import { movePayments, selectChainPayments } from '#settlement/settled/settled-queries.ts';

/** What was written and what already existed; see `finish`. */
interface Written {
  readonly resolutions: readonly Resolution[];
  /** Requests whose result was stored now. */
  readonly taken: ReadonlySet<bigint>;
}

type Network = Pick<NetworkConfig, 'livemode' | 'chainId'>;

interface Followed {
  readonly alarms: readonly Alarm[];
  /** True if a declined payment has succeeded, so that its domain must apply a result. */
  readonly isRevived: boolean;
  /** True if requests were queued again, because the ledger counts on them. */
  readonly isQueued: boolean;
}

/** Applies what a reorganization has changed in results that the ledger already has. */
export async function followReorganization(
  tx: Tx,
  network: Network,
  written: Written,
): Promise<Followed> {
  const { resolutions, taken } = written;
  const answered = resolutions.flatMap((one) => one.answered);
  const late = answered.filter(({ requestId }) => !taken.has(requestId));
  const compared = await compareLate(tx, late);
  await followPlaces(tx, network.livemode, [...settledAgain(answered, taken), ...compared.moved]);
  const numbers = unexplained(resolutions, taken);
  const revived = await reviveSettled(tx, { ...network, numbers });
  return {
    alarms: [...compared.alarms, ...revived],
    isRevived: revived.length > 0,
    isQueued: compared.isQueued,
  };
}

/**
 * Returns numbers that the chain shows as settled without a request whose result is being stored:
 * they belong to a declined payment, or another payment has used them.
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

/** A booked result that the chain now has in another transaction or block. */
interface Moved {
  readonly kind: RequestKind;
  readonly subjectId: string;
  readonly result: Result & { readonly succeeded: true };
}

/** Returns results that a reorganization undid and another transaction has achieved again. */
function settledAgain(answered: readonly Answered[], taken: ReadonlySet<bigint>): Moved[] {
  return answered.flatMap(({ request, result }) => {
    if (!request.owed || !result.succeeded || !taken.has(request.id)) return [];
    return [{ kind: request.kind, subjectId: request.subjectId, result }];
  });
}

async function followPlaces(tx: Tx, livemode: boolean, moved: readonly Moved[]): Promise<void> {
  const numbers: bigint[] = [];
  const transfers: MovedTransfer[] = [];
  for (const { kind, subjectId, result } of moved) {
    const { facts } = result;
    if (kind !== 'payment') transfers.push({ id: subjectId, txHash: facts.txHash });
    else numbers.push(BigInt((facts as OutcomeFacts['payment']).settlementNumber));
  }
  await movePayments(tx, { livemode, numbers });
  await moveTransfers(tx, transfers);
}

/**
 * Compares requests that already had a result: a reorganization has undone their block, and the
 * same bytes were mined again. A result that was not applied yet is corrected. If it was applied,
 * its block and transaction are updated; any other difference raises an alarm, and what must be
 * resent is sent again. (The transaction's knowledge is from its row, so the result may have been
 * applied since.)
 */
async function compareLate(tx: Tx, late: readonly Answered[]) {
  const alarms: Alarm[] = [];
  const moved: Moved[] = [];
  const again: Requeued[] = [];
  if (late.length === 0) return { alarms, moved, isQueued: false };
  const known = await selectKnownOutcomes(
    tx,
    late.map((one) => one.requestId),
  );
  const byId = new Map(known.map((row) => [row.id, row]));
  for (const one of late) {
    const before = byId.get(one.requestId);
    // Queued again after its block was lost. Its next transaction finds the event.
    if (before === undefined || before.outcome === null) continue;
    if (before.transaction_id !== one.transactionId) continue;
    // Declined and applied, but settled by the chain now: see reviveSettled.
    if (before.applied && before.status === 'failed' && one.result.succeeded) continue;
    if (!before.applied) {
      await replaceOutcome(tx, one);
      continue;
    }
    const booked = { kind: before.kind, owed: before.status !== 'failed' };
    const isOwed = isStillOwed(booked, one.result);
    if (isOwed) again.push({ ...one, isRefused: before.kind === 'payment' });
    const isOther = !sameOutcome(before.outcome as Result, one.result);
    if (isOwed ? isReportedUndone(booked, one.result) : isOther) {
      const details = { before: before.outcome, after: one.result };
      alarms.push({ kind: 'outcome_changed', subject: before.subject_id, details });
    } else if (one.result.succeeded) {
      await replaceOutcome(tx, one);
      moved.push({ kind: before.kind, subjectId: before.subject_id, result: one.result });
    }
  }
  await requeue(tx, again);
  return { alarms, moved, isQueued: again.length > 0 };
}

/** Fields that may change if a transaction is mined in another block. */
const PLACE_FIELDS = ['txHash', 'blockNumber', 'logIndex', 'blockTime', 'seenAt', 'batchNumber'];

function sameOutcome(before: Result, after: Result): boolean {
  return withoutPlace(before) === withoutPlace(after);
}

function withoutPlace(result: Result): string {
  if (!result.succeeded) return JSON.stringify({ reason: result.reason });
  const facts = Object.entries(result.facts).filter(([name]) => !PLACE_FIELDS.includes(name));
  return JSON.stringify(facts.sort());
}

/**
 * Handles numbers that the chain shows as settled without a result that says so. If such a number
 * belongs to a declined payment (after a reorganization deeper than the confirmations), the ledger
 * follows the chain: the request succeeds now, its domain applies that, and an alarm names it. If
 * another attempt of the same intent is in progress, that one is answered first; see `resolve`.
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
    const result = eventResult(event, event.blockTime, chainId);
    const { attempt = null } = match.payload as { attempt?: unknown };
    await reviveDeclined(tx, match.id, { ...result, afterDecline: attempt });
    const details = { number: event.number, txHash: event.txHash, block: event.blockNumber };
    alarms.push({ kind: 'settled_after_decline', subject: match.subjectId, details });
  }
  return alarms;
}
