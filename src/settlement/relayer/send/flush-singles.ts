import { present } from '#core/assert.ts';
import { failpoint } from '#core/failpoints.ts';
import { describeError } from '#core/log.ts';
import { DatabaseUnavailable } from '#db/database.ts';
import { type Alarm, insertAlarms } from '#settlement/alarms.ts';
import { RpcRefusal, RpcUnavailable } from '#settlement/chain/rpc.ts';
import type { HeldLane, RelayerState } from '#settlement/relayer/machine/memory.ts';
import type { OpenRequest } from '#settlement/relayer/machine/transaction.ts';
import {
  endAttempts,
  lockQueued,
  postpone,
  selectSingles,
  type UnsettledSaleRow,
} from '#settlement/relayer/rows/job-queries.ts';
import {
  failed,
  failureOf,
  KINDS,
  kindsOf,
  requireWritable,
} from '#settlement/relayer/rows/kinds.ts';
import { inLane } from '#settlement/relayer/rows/lane-queries.ts';
import { type RequestOutcome, writeOutcomes } from '#settlement/relayer/rows/outcome-queries.ts';
import {
  hasTimeLeft,
  type Planned,
  planPayment,
  singleGasLimit,
} from '#settlement/relayer/send/plan.ts';
import { inOrder, prepareRefund } from '#settlement/relayer/send/prepare-refund.ts';
import { sendStored, signAndStore } from '#settlement/relayer/send/sign.ts';
import { estimateGas, type Prepared, refusedBy } from '#settlement/relayer/send/simulate.ts';

/** Simulated and signed together; each is a transaction of its own. */
const MAX_SINGLES = 8;

/**
 * Sends what has to be sent alone: refunds, withdrawals, registrations and the like, and payments
 * whose batch was mined without an answer for them. Each is simulated first, so that what the
 * contract would refuse costs no gas and fails with its reason.
 * @returns how many requests were sent or decided. @throws LaneLost, RpcUnavailable
 */
export async function flushSingles(relayer: RelayerState, lane: HeldLane): Promise<number> {
  const { chain, db, wakeups } = relayer;
  const { livemode } = chain.config;
  const kinds = kindsOf(lane.role, chain.config);
  const except = stillDeferred(relayer);
  const requests = await selectSingles(db, { livemode, kinds, except, limit: MAX_SINGLES });
  if (requests.length === 0) return 0;
  const prepared = await prepareAll(relayer, lane, requests);

  const done = await inLane(relayer, lane, async (tx, nonce) => {
    const ids = new Set(await lockQueued(tx, [...prepared.keys()]));
    const now = relayer.clock.now();
    const mine = requests.filter((request) => ids.has(request.id) && hasTimeLeft(request, now));
    const { planned: sorted, outcomes, alarms, decided } = sortOut(mine, prepared);
    const ordered = await inOrder(tx, { relayer, lane }, sorted);
    for (const request of ordered.waiting) deferRequest(relayer, request);
    await writeOutcomes(tx, outcomes);
    const idsOf = (status: Prepared['status']) =>
      mine.filter(({ id }) => prepared.get(id)?.status === status).map(({ id }) => id);
    await postpone(tx, idsOf('postponed'));
    alarms.push(...(await endAttempts(tx, idsOf('ended'))).map(alarmOfSale));
    await insertAlarms(tx, livemode, [...alarms, ...ordered.alarms], now);
    const stored = await signAndStore(tx, { relayer, lane, nonce }, ordered.planned);
    return { stored, decided };
  });
  if (done.stored.length > 0) failpoint('settlement.signed_committed');
  for (const kind of new Set(done.decided)) wakeups.send('chain-outcomes', kind);
  lane.add(done.stored);
  await sendStored(relayer, lane, done.stored);
  return done.stored.length + done.decided.length;
}

/** Names what a person needs to settle it with payer and merchant. */
function alarmOfSale({ intent, ...sale }: UnsettledSaleRow): Alarm {
  return { kind: 'sale_not_settled', subject: intent, details: sale };
}

function sortOut(mine: readonly OpenRequest[], prepared: Awaited<ReturnType<typeof prepareAll>>) {
  const planned: Planned[] = [];
  const outcomes: RequestOutcome[] = [];
  const alarms: Alarm[] = [];
  const decided: OpenRequest['kind'][] = [];
  for (const request of mine) {
    const one = prepared.get(request.id);
    if (one?.status === 'ready') planned.push(one.planned);
    if (one?.status === 'stuck') alarms.push(one.alarm);
    if (one?.status !== 'decided') continue;
    outcomes.push({ requestId: request.id, transactionId: null, result: one.result });
    decided.push(request.kind);
    if (one.alarm !== null) alarms.push(one.alarm);
  }
  return { planned, outcomes, alarms, decided };
}

/** After this long we ask again about a request that a node could not judge; others go first. */
const DEFER_MS = 2_000;

/**
 * What to do with each request. Never throws because of one of them: the others go on. They are
 * independent of each other here, and a node that is far away is asked about all of them at once.
 */
async function prepareAll(
  relayer: RelayerState,
  lane: HeldLane,
  requests: readonly OpenRequest[],
): Promise<Map<bigint, Prepared>> {
  const prepared = new Map<bigint, Prepared>();
  const all = await Promise.all(requests.map((request) => prepareOne(relayer, lane, request)));
  for (const [index, one] of all.entries()) {
    const request = present(requests[index], 'request');
    if (one !== null) prepared.set(request.id, one);
    if (one?.status === 'blocked') deferRequest(relayer, request, one.retryMs);
  }
  return prepared;
}

/**
 * null: it waits. Only a request that can never become a call, whatever the chain's state, is given
 * up. Any other fault, even one of ours, says nothing about the money, so it decides nothing.
 */
async function prepareOne(
  relayer: RelayerState,
  lane: HeldLane,
  request: OpenRequest,
): Promise<Prepared | null> {
  const { owedUntil = null } = request;
  if (owedUntil !== null && owedUntil <= relayer.clock.now()) return { status: 'ended' };
  const broken = whyBroken(request, relayer);
  if (broken !== null && !request.owed) return invalid(request, broken);
  try {
    return await prepare(relayer, lane, request);
  } catch (error) {
    deferRequest(relayer, request);
    const fields = { kind: request.kind, subject: request.subjectId, error: describeError(error) };
    if (passes(error)) {
      relayer.log.warn('a request waits', fields);
      return null;
    }
    relayer.log.error('a request cannot be prepared', fields);
    const details = { kind: request.kind, error: fields.error };
    return {
      status: 'stuck',
      alarm: { kind: 'request_stuck', subject: request.subjectId, details },
    };
  }
}

/** Faults of the chain or the database, which pass. */
function passes(error: unknown): boolean {
  return (
    error instanceof RpcUnavailable ||
    error instanceof RpcRefusal ||
    error instanceof DatabaseUnavailable
  );
}

function whyBroken(request: OpenRequest, { chain }: RelayerState): string | null {
  try {
    requireWritable(request, chain.config);
    return null;
  } catch (error) {
    return passes(error) ? null : describeError(error);
  }
}

function invalid(request: OpenRequest, error: string): Prepared {
  const details = { kind: request.kind, error };
  const alarm = { kind: 'request_invalid', subject: request.subjectId, details };
  return { status: 'decided', result: failed(failureOf(request.kind, null), null), alarm };
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
  const { call: callOf } = KINDS[request.kind];
  const call = present(callOf, 'call of a request')(request, relayer.chain.config);
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
  const planned = planPayment(relayer, request);
  const estimate = await estimateGas(relayer, lane, planned.call);
  if (!estimate.ok) return refusedBy(relayer, request, estimate.revertData);
  return { status: 'ready', planned };
}
