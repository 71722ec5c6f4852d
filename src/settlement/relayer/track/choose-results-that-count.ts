import { present } from '#core/assert.ts';
import { describeError } from '#observability/log.ts';
import type { Alarm } from '#settlement/alarms.ts';
import type { Block, CallAnswer, Chain, Receipt } from '#settlement/chain/chain.ts';
import { countsRuleOf, strictestRule } from '#settlement/chain/check/extra-wait-by-amount.ts';
import { RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import { declineOf, readRevert } from '#settlement/contract/contract-calls.ts';
import {
  type PaymentSettled,
  readEvents,
  type SettlementEvent,
} from '#settlement/contract/contract-events.ts';
import type { CountsRule } from '#settlement/network-config.ts';
import type { Requeued } from '#settlement/relayer/jobs/job-queries.ts';
import {
  answers,
  eventResult,
  failed,
  failureOf,
  KINDS,
  MAX_TRIES,
  placeOf,
  type Result,
  whyItWaits,
} from '#settlement/relayer/jobs/request-kinds.ts';
import { doneBefore } from '#settlement/relayer/send/find-earlier-results.ts';
import type { Held, RelayerState } from '#settlement/relayer/state-machine/relayer-state.ts';
import type {
  Observation,
  OpenRequest,
  OpenTransaction,
} from '#settlement/relayer/state-machine/transaction.ts';
import { carryOutAll } from '#settlement/relayer/track/resend-or-replace-overdue.ts';
import type { SettledInBlock } from '#settlement/settled/settled-queries.ts';

export interface Resolution extends Pick<Mined, 'sender' | 'transaction' | 'receipt'> {
  readonly answered: readonly Answered[];
  /** Jobs that need another transaction, because this transaction gave them no valid result. */
  readonly requeued: readonly Requeued[];
  readonly settled: readonly SettledInBlock[];
  readonly alarms: readonly Alarm[];
}

export interface Answered {
  readonly request: OpenRequest;
  readonly requestId: bigint;
  readonly transactionId: bigint;
  readonly result: Result;
}

export interface Mined extends Held {
  readonly receipt: Receipt;
  readonly block: Pick<Block, 'time'>;
  /**
   * The time at which this process first saw the block; `null` if blocks last at least a second.
   */
  readonly seenAt: Date | null;
}

/**
 * Returns the results that count now. The other transactions need more confirmations, or their
 * results cannot be read. Each is handled separately, so that a missing answer about one does not
 * delay the others. Only a success must wait: a refusal counts immediately, so that the customer
 * can pay in another way.
 */
export async function countingNow(
  relayer: RelayerState,
  portion: readonly Mined[],
  head: Block,
): Promise<Resolution[]> {
  const results = await Promise.allSettled(portion.map(resolve));
  const counting: Resolution[] = [];
  for (const [index, { sender, transaction, receipt }] of portion.entries()) {
    const result = present(results[index], 'result of a transaction');
    const observation: Observation =
      result.status === 'fulfilled'
        ? { kind: 'result_read', rule: ruleOf(relayer, result.value) }
        : { kind: 'result_unreadable' };
    const owing = sender.observe(transaction, observation, head);
    const kinds = owing.effects.map(({ kind }) => kind);
    if (result.status === 'rejected' && kinds.includes('alert')) {
      await logUnreadable(relayer, transaction, { receipt, error: result.reason });
    }
    if (result.status === 'fulfilled' && kinds.includes('apply_result')) {
      counting.push(result.value);
    }
    await carryOutAll([owing]);
  }
  return counting;
}

/**
 * Returns the strictest confirmation tier of the payments that succeeded; `null` if none must wait.
 */
function ruleOf(relayer: RelayerState, { answered }: Resolution): CountsRule | null {
  const succeeded = answered.filter(({ request, result }) => result.succeeded && !request.owed);
  return strictestRule(succeeded.map(({ request }) => countsRuleOf(relayer.chain.config, request)));
}

async function logUnreadable(
  relayer: RelayerState,
  transaction: OpenTransaction,
  fault: { readonly receipt: Receipt; readonly error: unknown },
): Promise<void> {
  const { txHash, blockNumber } = fault.receipt;
  const error = describeError(fault.error);
  const alarms = transaction.requests.map(({ kind, subjectId }) => ({
    kind: 'outcome_unreadable',
    subject: subjectId,
    details: { kind, txHash, blockNumber, error },
  }));
  await relayer.db.transaction((tx) => relayer.raise(tx, alarms));
  const what = 'no node returned the result of a transaction';
  relayer.log.error(what, { txHash, blockNumber, error });
}

type Answer =
  | { readonly status: 'answered'; readonly result: Result; readonly alarm?: Alarm | null }
  /** `waits`: the job is never given up, however many of its transactions gave no result. */
  | { readonly status: 'again'; readonly waits?: true };

/** Reads the results from the contract's events; the transaction's status alone is not enough. */
async function resolve(mined: Mined): Promise<Resolution> {
  const { sender, transaction, receipt, block } = mined;
  const events = readEvents(sender.relayer.chain.config, receipt.logs);
  const byNumber = indexEvents(events);
  const answered: Answered[] = [];
  const requeued: Requeued[] = [];
  const alarms: Alarm[] = [];
  for (const request of transaction.requests) {
    const ids = { requestId: request.id, transactionId: transaction.id };
    const answer = await answerOf(mined, byNumber, request);
    // Waiting does not free a number that another payment has used, so a result with an alarm is
    // final.
    const isFinal =
      answer.status === 'answered' && (answer.alarm || !isStillOwed(request, answer.result));
    if (isFinal) {
      answered.push({ ...ids, request, result: answer.result });
      alarms.push(...(answer.alarm ? [answer.alarm] : undone(request, answer.result)));
    } else if (mayTryAgain(request, answer)) {
      const isRefused = answer.status === 'answered' && request.kind === 'payment';
      requeued.push({ ...ids, isRefused });
      if (answer.status === 'answered') alarms.push(...undone(request, answer.result));
    } else {
      const result = failed(failureOf(request.kind, null), receipt.txHash);
      answered.push({ ...ids, request, result });
    }
  }
  const settled = events
    .filter((event): event is PaymentSettled => event.event === 'PaymentSettled')
    .map((payment) => ({ payment, blockTime: block.time }));
  return { sender, transaction, receipt, answered, requeued, settled, alarms };
}

function mayTryAgain(request: OpenRequest, answer: Answer): boolean {
  const waits = answer.status === 'again' && answer.waits === true;
  return request.owed || waits || request.tries + 1 < MAX_TRIES;
}

type Booked = Pick<OpenRequest, 'kind' | 'owed'>;

/**
 * True if the job must be resent: the chain had paid it, but a reorganization undid that. False for
 * kinds that only alert operators, and for calls of foreign contracts, which could refuse forever
 * at the operator's cost.
 */
export function isStillOwed({ kind, owed }: Booked, result: Result): boolean {
  const { whenUndone, triedOnce } = KINDS[kind];
  return owed && whenUndone !== 'alert' && !triedOnce && !result.succeeded;
}

/**
 * True if operators must be alerted: the ledger has booked the job, and the chain now refuses it.
 */
export function isReportedUndone(request: Booked, result: Result): boolean {
  return request.owed && KINDS[request.kind].whenUndone !== 'send_again' && !result.succeeded;
}

function undone(request: OpenRequest, result: Result): Alarm[] {
  if (!isReportedUndone(request, result)) return [];
  return [{ kind: 'outcome_changed', subject: request.subjectId, details: { after: result } }];
}

type EventIndex = ReadonlyMap<bigint | null, readonly SettlementEvent[]>;

/** Indexes events of payments by settlement number, and all other events under null. */
function indexEvents(events: readonly SettlementEvent[]): EventIndex {
  return Map.groupBy(events, (event) =>
    event.event === 'PaymentSettled' || event.event === 'PaymentFailed' ? event.number : null,
  );
}

async function answerOf(mined: Mined, index: EventIndex, request: OpenRequest): Promise<Answer> {
  const { sender, transaction, receipt, block } = mined;
  const attempt = transaction.attempts.find((one) => one.hash === receipt.txHash);
  if (present(attempt, 'the attempt that was mined').cancels) return { status: 'again' };
  if (!receipt.succeeded) return afterRevert(mined, request);
  const { chain } = sender.relayer;
  const kind = KINDS[request.kind];
  const events = index.get(kind.batched ? request.number : null) ?? [];
  const event = events.find((one) => answers(one, request));
  if (event !== undefined) {
    const { time } = block;
    const result = eventResult(event, { time, seenAt: mined.seenAt }, chain.config.chainId);
    return { status: 'answered', result };
  }
  if (kind.batched) return paymentAnswer(chain, receipt, events, request);
  if (kind.event !== null) return { status: 'again' };
  // A job of this kind has no event, so the transaction's success is its result.
  const logIndex = Number(receipt.logs.at(-1)?.logIndex ?? 0);
  const facts = placeOf({ ...receipt, logIndex }, block.time);
  return { status: 'answered', result: { succeeded: true, facts } };
}

async function paymentAnswer(
  chain: Chain,
  receipt: Receipt,
  events: readonly SettlementEvent[],
  request: OpenRequest,
): Promise<Answer> {
  const failure = events.find(
    (event) => event.event === 'PaymentFailed' && event.number === request.number,
  );
  // There is neither event, so the transaction did not run our batch. That proves nothing about the
  // payment, so its result stays open.
  if (failure?.event !== 'PaymentFailed') return { status: 'again' };
  if (failure.reason !== 'AlreadySettled') {
    const result = failed(declineOf(failure.reason), receipt.txHash);
    const isFull = failure.reason === 'CeilingReached';
    return { status: 'answered', result: isFull ? { ...result, hourFull: true } : result };
  }
  return { status: 'answered', ...(await doneBefore(chain, request, receipt.txHash)) };
}

/**
 * Simulates the call in the state after its block. Many nodes keep only about 128 states, so the
 * head's state is used for an older block. That is safe: a reverted call has moved nothing, and a
 * call that would succeed now is checked again before it is sent.
 */
async function replay(
  chain: Chain,
  call: Parameters<Chain['calls']>[0][number],
  block: bigint,
): Promise<CallAnswer | undefined> {
  try {
    return (await chain.calls([call], block))[0];
  } catch (error) {
    if (!(error instanceof RpcUnavailable)) throw error;
    return (await chain.calls([call]))[0];
  }
}

/**
 * Decides a job after its transaction reverted. A batch of payments reverts as a whole, which says
 * nothing about each payment; for other jobs, the contract names the reason.
 */
async function afterRevert(
  { sender, transaction, receipt }: Mined,
  request: OpenRequest,
): Promise<Answer> {
  const { chain } = sender.relayer;
  const { batched, waits, anybodySends, triedOnce, walletMayLie } = KINDS[request.kind];
  if (batched) return { status: 'again' };
  // Another account may have sent the same call first. The next simulation shows whether it did.
  if (anybodySends) return { status: 'again', waits: true };
  const refused: Answer = {
    status: 'answered',
    result: failed(failureOf(request.kind, null), receipt.txHash),
  };
  if (triedOnce) return refused;
  const again: Answer = waits ? { status: 'again', waits } : { status: 'again' };
  const { target: to, input: data } = transaction;
  const call = { from: sender.address, to, data, words: 'any' } as const;
  const answer = await replay(chain, call, receipt.blockNumber);
  if (answer?.ok === true && walletMayLie) return refused;
  if (answer === undefined || answer.ok) return again;
  const revert = readRevert(answer.revertData);
  // The job is sent again with another proof or sum. `sendUnbatched` limits its tries.
  if (revert.kind === 'passing') return again;
  if (whyItWaits(revert, request.kind) !== null) return { status: 'again', waits: true };
  if (revert.kind !== 'done_before') {
    return { status: 'answered', result: failed(revert.reason, receipt.txHash) };
  }
  return { status: 'answered', ...(await doneBefore(chain, request, receipt.txHash)) };
}
