import { present } from '#core/assert.ts';
import { failpoint } from '#core/failpoints.ts';
import { batchSize, blockWait, gasUsed, tapToSettled } from '#core/meters.ts';
import { isTracing, tellSpan } from '#core/tracing.ts';
import type { Tx } from '#db/database.ts';
import { type Alarm, insertAlarms } from '#settlement/alarms.ts';
import type { Block, CallAnswer, Chain, Receipt } from '#settlement/chain/chain.ts';
import { RpcUnavailable } from '#settlement/chain/rpc.ts';
import { declineOf, readRevert } from '#settlement/contract/contract-calls.ts';
import {
  type PaymentSettled,
  readEvents,
  type SettlementEvent,
} from '#settlement/contract/contract-events.ts';
import { followChain } from '#settlement/relayer/follow/after-decline.ts';
import type { HeldLane, RelayerState } from '#settlement/relayer/machine/state.ts';
import type { OpenRequest, OpenTransaction } from '#settlement/relayer/machine/transaction.ts';
import { eventResult, failed, type Result, seenResult } from '#settlement/relayer/rows/facts.ts';
import { answers, failureOf, KINDS, whyItWaits } from '#settlement/relayer/rows/kinds.ts';
import { LaneLost, shareHeldLanes } from '#settlement/relayer/rows/lane-queries.ts';
import {
  commitWithoutWaiting,
  markMined,
  movePayments,
  moveTransfers,
  type Requeued,
  replaceOutcome,
  requeue,
  type SettledInBlock,
  selectKnownOutcomes,
  upsertChainPayments,
  writeOutcomes,
} from '#settlement/relayer/rows/outcome-queries.ts';
import { findEarlier } from '#settlement/relayer/send/earlier-events.ts';
import type { Hex, OutcomeFacts, RequestKind, RequestPayloads } from '#settlement/requests.ts';

/**
 * Writes what was found in the chain: transactions mined, requests answered or queued again, and
 * the settled payments, in one transaction. Doing it twice changes nothing.
 * @throws LaneLost when another worker has taken one of the lanes meanwhile; it will do the same.
 */
export async function finish(
  relayer: RelayerState,
  resolutions: readonly Resolution[],
): Promise<void> {
  if (resolutions.length === 0) return;
  failpoint('settlement.receipt_seen');
  const { livemode, chainId } = relayer.chain.config;
  const answered = resolutions.flatMap((one) =>
    one.answered.map(({ request, result }) => ({
      requestId: request.id,
      transactionId: one.transaction.id,
      result,
    })),
  );
  const { alarms, owed } = await relayer.db.transaction(async (tx) => {
    const settled = resolutions.flatMap((one) => one.settled);
    // One connection runs them one after the other; only the round trips are saved. Without its
    // lanes nothing of it is committed.
    const [, ids] = await Promise.all([
      holdLanes(tx, relayer, [...new Set(resolutions.map((one) => one.lane))]),
      writeOutcomes(tx, answered),
      markMined(tx, resolutions.map(toMined)),
      requeue(tx, resolutions.flatMap(toRequeued)),
      upsertChainPayments(tx, livemode, settled),
      commitWithoutWaiting(tx),
    ]);
    const written = new Set(ids);
    const late = answered.filter((one) => !written.has(one.requestId));
    const compared = await compareLate(tx, late);
    await followPlaces(tx, livemode, [...settledAgain(resolutions, written), ...compared.moved]);
    const numbers = unexplained(resolutions, written);
    const followed = await followChain(tx, { livemode, chainId, numbers });
    const found = resolutions.flatMap((one) => one.alarms);
    const raised = [...found, ...compared.alarms, ...followed];
    await insertAlarms(tx, livemode, raised, relayer.clock.now());
    if (followed.length > 0) relayer.wakeups.send('chain-outcomes', 'payment');
    return { alarms: raised, owed: compared.owed };
  });
  failpoint('settlement.outcome_committed');
  countMined(relayer, resolutions);
  for (const { lane, transaction } of resolutions) {
    lane.observe(transaction, { kind: 'result_written' });
  }
  for (const alarm of alarms) relayer.log.error(`settlement alarm: ${alarm.kind}`, { ...alarm });
  announce(relayer, resolutions, owed);
}

/** The wait for the chain, as a span of the sale's trace. */
function tellSettled(
  { chain }: RelayerState,
  { requests, signedAtMs, attempts }: OpenTransaction,
  { request, result }: Resolution['answered'][number],
): void {
  if (!isTracing()) return;
  const { attempt } = request.payload as RequestPayloads['payment'];
  tellSpan('settle', {
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
    if (signedAtMs !== null)
      blockWait.observe({ network }, (performance.now() - signedAtMs) / 1000);
    if (transaction.kind !== 'payment' || requests.length === 0) continue;
    batchSize.observe({ network }, requests.length);
    for (const { request, result } of answered) {
      tellSettled(relayer, transaction, { request, result });
      const seconds = (now - request.created.getTime()) / 1000;
      if (result.succeeded) tapToSettled.observe({ network }, Math.max(0, seconds));
    }
  }
}

async function holdLanes(tx: Tx, relayer: RelayerState, lanes: readonly HeldLane[]): Promise<void> {
  const held = new Set(
    await shareHeldLanes(tx, {
      livemode: relayer.chain.config.livemode,
      owner: relayer.owner,
      lanes: lanes.map((lane) => lane.lane),
      fences: lanes.map((lane) => lane.fence),
    }),
  );
  for (const lane of lanes) if (!held.has(lane.lane)) throw new LaneLost(lane.lane);
}

function toMined({ transaction, receipt }: Resolution) {
  const { txHash, blockNumber, blockHash } = receipt;
  return { id: transaction.id, txHash, blockNumber, blockHash };
}

function toRequeued({ transaction, requeued }: Resolution): Requeued[] {
  return requeued.map(({ request, isRefused }) => {
    return { requestId: request.id, transactionId: transaction.id, isRefused };
  });
}

/**
 * Numbers that the chain shows as settled without a request of ours that says so just now: of a
 * payment that was declined, or that another one has taken.
 */
function unexplained(resolutions: readonly Resolution[], written: ReadonlySet<bigint>): bigint[] {
  const numbers = new Set<bigint>();
  for (const { settled, answered, alarms } of resolutions) {
    for (const { payment } of settled) numbers.add(payment.number);
    for (const { request, result } of answered) {
      if (request.kind !== 'payment' || request.number === null) continue;
      if (result.succeeded && written.has(request.id)) numbers.delete(request.number);
      const taken = alarms.some(
        ({ kind, subject }) => kind === 'number_taken' && subject === request.subjectId,
      );
      if (taken) numbers.add(request.number);
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
function settledAgain(
  resolutions: readonly Resolution[],
  written: ReadonlySet<bigint>,
): readonly Moved[] {
  return resolutions.flatMap((one) =>
    one.answered.flatMap(({ request, result }) => {
      if (!request.owed || !result.succeeded || !written.has(request.id)) return [];
      return [{ kind: request.kind, subjectId: request.subjectId, result }];
    }),
  );
}

async function followPlaces(tx: Tx, livemode: boolean, moved: readonly Moved[]): Promise<void> {
  const [payments, others] = [
    moved.filter(({ kind }) => kind === 'payment'),
    moved.filter(({ kind }) => kind !== 'payment'),
  ];
  const numbers = payments.map(({ result }) => {
    return BigInt((result.facts as OutcomeFacts['payment']).settlementNumber);
  });
  await movePayments(tx, { livemode, numbers });
  const transfers = others.map(({ subjectId: id, result }) => ({
    id,
    txHash: result.facts.txHash,
  }));
  await moveTransfers(tx, transfers);
}

interface Late {
  readonly requestId: bigint;
  readonly transactionId: bigint;
  readonly result: Result;
}

interface Compared {
  readonly alarms: readonly Alarm[];
  readonly moved: readonly Moved[];
  /** The number of requests that are queued again, because the ledger relies on them. */
  readonly owed: number;
}

/**
 * These requests had an outcome already: a reorganization has undone their block and the same bytes
 * were mined again. An outcome that was not applied yet is corrected. Of an applied one only the
 * place follows the chain; any other difference raises an alarm, and what is still owed is sent
 * again. (The transaction knew of what was applied when it was read from its row; it may have been
 * applied since.)
 */
async function compareLate(tx: Tx, late: readonly Late[]): Promise<Compared> {
  if (late.length === 0) return { alarms: [], moved: [], owed: 0 };
  const known = await selectKnownOutcomes(
    tx,
    late.map((one) => one.requestId),
  );
  const byId = new Map(known.map((row) => [row.id, row]));
  const alarms: Alarm[] = [];
  const moved: Moved[] = [];
  const again: Late[] = [];
  for (const one of late) {
    const before = byId.get(one.requestId);
    // Queued again after the first block was lost: its next transaction will find the event.
    if (before === undefined || before.outcome === null) continue;
    if (before.transaction_id !== one.transactionId) continue;
    // Declined and applied, and now the chain has settled it: see followChain.
    if (before.applied && before.status === 'failed' && one.result.succeeded) continue;
    if (!before.applied) {
      await replaceOutcome(tx, one);
      continue;
    }
    const booked = { kind: before.kind, owed: before.status !== 'failed' };
    const isOwed = isStillOwed(booked, one.result);
    if (isOwed) again.push(one);
    const isOther = !sameOutcome(before.outcome as Result, one.result);
    if (isOwed ? isToldUndone(booked, one.result) : isOther) {
      const details = { before: before.outcome, after: one.result };
      alarms.push({ kind: 'outcome_changed', subject: before.subject_id, details });
    } else if (one.result.succeeded) {
      await replaceOutcome(tx, one);
      moved.push({ kind: before.kind, subjectId: before.subject_id, result: one.result });
    }
  }
  await requeue(
    tx,
    again.map(({ requestId, transactionId }) => {
      const isRefused = byId.get(requestId)?.kind === 'payment';
      return { requestId, transactionId, isRefused };
    }),
  );
  return { alarms, moved, owed: again.length };
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

function announce(relayer: RelayerState, resolutions: readonly Resolution[], owed: number): void {
  const kinds = new Set(
    resolutions.flatMap((one) => one.answered.map(({ request }) => request.kind)),
  );
  for (const kind of kinds) relayer.wakeups.send('chain-outcomes', kind);
  const { network } = relayer.chain.config;
  if (owed > 0 || resolutions.some((one) => one.requeued.length > 0)) {
    relayer.wakeups.send('chain-requests', network);
  }
}

/** A mined transaction, and what that means for each of its requests. */
export interface Resolution {
  readonly lane: HeldLane;
  readonly transaction: OpenTransaction;
  readonly receipt: Receipt;
  readonly answered: readonly { readonly request: OpenRequest; readonly result: Result }[];
  /** These have to go into another transaction: this one gave them no answer that counts. */
  readonly requeued: readonly { readonly request: OpenRequest; readonly isRefused: boolean }[];
  readonly settled: readonly SettledInBlock[];
  readonly alarms: readonly Alarm[];
}

export interface Mined {
  readonly lane: HeldLane;
  readonly transaction: OpenTransaction;
  readonly receipt: Receipt;
  readonly block: Pick<Block, 'time'>;
  /** When this process first saw it, where blocks are shorter than a second; otherwise null. */
  readonly seenAt: Date | null;
}

type Answer =
  | { readonly status: 'answered'; readonly result: Result; readonly alarm?: Alarm }
  /** `waits`: it is not given up, however often it comes at the wrong moment. */
  | { readonly status: 'again'; readonly waits?: true };

/** After this many transactions without an answer a request is given up: nothing was moved. */
const MAX_TRIES = 3;

/** Reads outcomes from the contract's events, never from the transaction's status alone. */
export async function resolve(relayer: RelayerState, mined: Mined): Promise<Resolution> {
  const { lane, transaction, receipt, block } = mined;
  const events = readEvents(relayer.chain.config, receipt.logs);
  const byNumber = indexEvents(events);
  const answered: { request: OpenRequest; result: Result }[] = [];
  const requeued: { request: OpenRequest; isRefused: boolean }[] = [];
  const alarms: Alarm[] = [];
  for (const request of transaction.requests) {
    const answer = await answerOf(relayer, mined, byNumber, request);
    if (answer.status === 'answered' && isAnswer(request, answer)) {
      answered.push({ request, result: answer.result });
      alarms.push(...(answer.alarm ? [answer.alarm] : undone(request, answer.result)));
    } else if (mayTryAgain(request, answer)) {
      const isRefused = answer.status === 'answered' && request.kind === 'payment';
      requeued.push({ request, isRefused });
      if (answer.status === 'answered') alarms.push(...undone(request, answer.result));
    } else {
      answered.push({ request, result: failed(failureOf(request.kind, null), receipt.txHash) });
    }
  }
  const settled = events
    .filter((event): event is PaymentSettled => event.event === 'PaymentSettled')
    .map((payment) => ({ payment, blockTime: block.time }));
  return { lane, transaction, receipt, answered, requeued, settled, alarms };
}

function mayTryAgain(request: OpenRequest, answer: Answer): boolean {
  const waits = answer.status === 'again' && answer.waits === true;
  return request.owed || waits || request.tries + 1 < MAX_TRIES;
}

type Booked = Pick<OpenRequest, 'kind' | 'owed'>;

/** That is no answer to a request that the chain has paid once and does not pay any more. */
export function isStillOwed(request: Booked, result: Result): boolean {
  return request.owed && KINDS[request.kind].whenUndone !== 'tell' && !result.succeeded;
}

/** Whether a person has to know that the ledger has booked it and the chain refuses it now. */
export function isToldUndone(request: Booked, result: Result): boolean {
  return request.owed && KINDS[request.kind].whenUndone !== 'send_again' && !result.succeeded;
}

/** A number that another payment has taken does not become free by waiting. */
function isAnswer(request: OpenRequest, answer: Answer & { status: 'answered' }): boolean {
  return answer.alarm !== undefined || !isStillOwed(request, answer.result);
}

function undone(request: OpenRequest, result: Result): Alarm[] {
  if (!isToldUndone(request, result)) return [];
  return [{ kind: 'outcome_changed', subject: request.subjectId, details: { after: result } }];
}

type EventIndex = ReadonlyMap<bigint | null, readonly SettlementEvent[]>;

/** Events of payments by their number, all others under null. */
function indexEvents(events: readonly SettlementEvent[]): EventIndex {
  return Map.groupBy(events, (event) =>
    event.event === 'PaymentSettled' || event.event === 'PaymentFailed' ? event.number : null,
  );
}

async function answerOf(
  relayer: RelayerState,
  mined: Mined,
  index: EventIndex,
  request: OpenRequest,
): Promise<Answer> {
  const { transaction, receipt, block } = mined;
  const attempt = transaction.attempts.find((one) => one.hash === receipt.txHash);
  if (present(attempt, 'the attempt that was mined').noop) return { status: 'again' };
  if (!receipt.succeeded) return afterRevert(relayer, mined, request);
  const { chainId } = relayer.chain.config;
  const kind = KINDS[request.kind];
  const events = index.get(kind.batched ? request.number : null) ?? [];
  const event = events.find((one) => answers(one, request));
  if (event !== undefined) {
    const result = eventResult(event, block.time, chainId);
    return { status: 'answered', result: kind.batched ? seenResult(result, mined.seenAt) : result };
  }
  if (kind.batched) return paymentAnswer(relayer, receipt, events, request);
  if (kind.answers !== null) return { status: 'again' };
  return { status: 'answered', result: { succeeded: true, facts: lastPlace(mined) } };
}

/** Such a request has no event: the transaction's own success is the answer. */
function lastPlace({ receipt, block }: Mined) {
  return {
    txHash: receipt.txHash,
    blockNumber: receipt.blockNumber.toString(),
    logIndex: Number(receipt.logs.at(-1)?.logIndex ?? 0),
    blockTime: block.time.toISOString(),
  };
}

async function paymentAnswer(
  relayer: RelayerState,
  receipt: Receipt,
  events: readonly SettlementEvent[],
  request: OpenRequest,
): Promise<Answer> {
  const failure = events.find(
    (event) => event.event === 'PaymentFailed' && event.number === request.number,
  );
  // Neither event is there: the transaction did not run our batch. Nothing is known, so nothing is
  // decided.
  if (failure?.event !== 'PaymentFailed') return { status: 'again' };
  if (failure.reason !== 'AlreadySettled') {
    const result = failed(declineOf(failure.reason), receipt.txHash);
    const isFull = failure.reason === 'CeilingReached';
    return { status: 'answered', result: isFull ? { ...result, hourFull: true } : result };
  }
  return settledBefore(relayer, request, receipt.txHash);
}

/** The number is used up: by this very payment, or (alarming) by another one. */
async function settledBefore(
  relayer: RelayerState,
  request: OpenRequest,
  txHash: Hex,
): Promise<Answer> {
  const earlier = await findEarlier(relayer.chain, request);
  if (earlier !== null) return { status: 'answered', result: earlier };
  const details = { number: request.number, txHash };
  const alarm = { kind: 'number_taken', subject: request.subjectId, details };
  return { status: 'answered', result: failed('settlement_failed', txHash), alarm };
}

/**
 * What the contract answers to the call, in the state after its block. Many nodes keep only some
 * 128 states; then the head's state is used. That is safe, because what has reverted has moved
 * nothing, and because what would be accepted now is sent again only after one more look.
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
 * A payment's batch reverted as a whole; for anything else the contract is asked for the reason.
 */
async function afterRevert(
  relayer: RelayerState,
  { lane, transaction, receipt }: Mined,
  request: OpenRequest,
): Promise<Answer> {
  const { batched, waits, anybodySends } = KINDS[request.kind];
  if (batched) return { status: 'again' };
  // Somebody else's transaction may have done it: the next simulation finds out.
  if (anybodySends) return { status: 'again', waits: true };
  const again: Answer = waits ? { status: 'again', waits } : { status: 'again' };
  const { target: to, input: data } = transaction;
  const call = { from: lane.address, to, data, words: 'any' } as const;
  const answer = await replay(relayer.chain, call, receipt.blockNumber);
  if (answer === undefined || answer.ok) return again;
  const revert = readRevert(answer.revertData);
  // Not refused: it is sent with another proof or sum (`flushSingles` ends that after a while).
  if (revert.kind === 'passing') return again;
  if (whyItWaits(revert, request.kind) !== null) return { status: 'again', waits: true };
  if (revert.kind !== 'done_before') {
    return { status: 'answered', result: failed(revert.reason, receipt.txHash) };
  }
  const earlier = await findEarlier(relayer.chain, request);
  const result = earlier ?? failed('transaction_reverted', receipt.txHash);
  return { status: 'answered', result };
}
