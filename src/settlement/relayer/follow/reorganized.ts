import type { Tx } from '#db/database.ts';
import type { Alarm } from '#settlement/alarms.ts';
import type { NetworkConfig } from '#settlement/networks.ts';
import {
  type Answered,
  isStillOwed,
  isToldUndone,
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

/** What was written and what was already there; see `finish`. */
interface Written {
  readonly resolutions: readonly Resolution[];
  /** The requests that took their result now. */
  readonly taken: ReadonlySet<bigint>;
}

type Network = Pick<NetworkConfig, 'livemode' | 'chainId'>;

interface Followed {
  readonly alarms: readonly Alarm[];
  /** A declined payment has succeeded: its domain has a result to apply. */
  readonly isRevived: boolean;
  /** Requests are queued again, because the ledger relies on them. */
  readonly isQueued: boolean;
}

/** What a reorganization has changed of results that the ledger had already. */
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
 * Numbers that the chain shows as settled without a request of ours that says so just now: of a
 * payment that was declined, or that another one has taken.
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

/** What the ledger has booked, and the chain has in another place now. */
interface Moved {
  readonly kind: RequestKind;
  readonly subjectId: string;
  readonly result: Result & { readonly succeeded: true };
}

/** What a reorganization undid, and other bytes have done once more. */
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
 * These requests had an outcome already: a reorganization has undone their block and the same bytes
 * were mined again. An outcome that was not applied yet is corrected. Of an applied one only the
 * place follows the chain; any other difference raises an alarm, and what is still owed is sent
 * again. (The transaction knew of what was applied when it was read from its row; it may have been
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
    // Queued again after the first block was lost: its next transaction will find the event.
    if (before === undefined || before.outcome === null) continue;
    if (before.transaction_id !== one.transactionId) continue;
    // Declined and applied, and now the chain has settled it: see reviveSettled.
    if (before.applied && before.status === 'failed' && one.result.succeeded) continue;
    if (!before.applied) {
      await replaceOutcome(tx, one);
      continue;
    }
    const booked = { kind: before.kind, owed: before.status !== 'failed' };
    const isOwed = isStillOwed(booked, one.result);
    if (isOwed) again.push({ ...one, isRefused: before.kind === 'payment' });
    const isOther = !sameOutcome(before.outcome as Result, one.result);
    if (isOwed ? isToldUndone(booked, one.result) : isOther) {
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

/** What may change when a transaction, or one with other bytes, is mined in another block. */
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
 * The chain shows these numbers as settled, and no outcome that is being written says so. Where
 * that is a payment that was declined (a reorganization deeper than what we wait for), the ledger
 * follows the chain: its request succeeds now, for its domain to apply, and an alarm names it.
 * While another attempt of the same intent is under way, that one is answered first; see `resolve`.
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
