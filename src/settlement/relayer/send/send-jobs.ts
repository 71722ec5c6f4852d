import { failpoint } from '#core/failpoints.ts';
import { DatabaseUnavailable, type Tx } from '#db/database.ts';
import { describeError } from '#observability/log.ts';
import { groupByRule } from '#settlement/chain/check/extra-wait-by-amount.ts';
import { atMost } from '#settlement/chain/fees/gas-fees.ts';
import { RpcRefusal, RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import type { RequestKind } from '#settlement/chain-requests.ts';
import { knowsMerchant } from '#settlement/contract-versions.ts';
import { DEPLOY_WITHIN_MS } from '#settlement/deployment-queries.ts';
import { DEPLOYMENT_GAS } from '#settlement/gas-ceilings.ts';
import { WORKER_GONE_MS } from '#settlement/network-readiness.ts';
import { workersDeploy } from '#settlement/readiness-queries.ts';
import {
  claimPayments,
  lockQueued,
  selectUnbatched,
  writeOutcomes,
} from '#settlement/relayer/jobs/job-queries.ts';
import {
  callOf,
  failed,
  failureOf,
  kindsOf,
  MAX_TRIES,
  paymentOf,
} from '#settlement/relayer/jobs/request-kinds.ts';
import { endAttempts, postpone } from '#settlement/relayer/jobs/retry-owed-sales.ts';
import { inSender, lockHeldSender } from '#settlement/relayer/jobs/sender-queries.ts';
import { groupByDeadline, hasTimeLeft } from '#settlement/relayer/jobs/settlement-deadlines.ts';
import { estimateGas } from '#settlement/relayer/send/estimate-gas.ts';
import { gasCapOf } from '#settlement/relayer/send/gas-limits.ts';
import {
  groupByContract,
  groupByGas,
  MAX_BATCH_PAYMENTS,
  planPayments,
} from '#settlement/relayer/send/plan-batches.ts';
import { inOrder, prepareRefund } from '#settlement/relayer/send/prepare-refund.ts';
import {
  decided,
  type Prepared,
  refusedBy,
} from '#settlement/relayer/send/retry-or-fail-refused.ts';
import { sendStored, signAndStore } from '#settlement/relayer/send/sign-and-broadcast.ts';
import type { HeldSender, RelayerState } from '#settlement/relayer/state-machine/relayer-state.ts';
import type { OpenRequest } from '#settlement/relayer/state-machine/transaction.ts';

/**
 * Sends the waiting payments, up to a full batch, as one transaction of this sender, or as several
 * if their deadlines differ much. One database transaction claims the payments, takes the nonce,
 * signs and stores; only then are they broadcast. The caller awaits the node's answer, so that the
 * next payment can go through another sender meanwhile.
 * @returns the number of payments in the stored transactions, and a promise that resolves when a
 * node has answered the broadcast, or when none could.
 * @throws SenderLost if another worker has the sender.
 */
export async function sendPayments(sender: HeldSender) {
  const { relayer } = sender;
  const { chain, db, livemode } = relayer;
  const { stored, refused } = await db.transaction(async (tx) => {
    const [nonce, batched, authorized] = await Promise.all([
      lockHeldSender(tx, sender),
      claimPayments(tx, { livemode, authorized: false, limit: MAX_BATCH_PAYMENTS }),
      claimPayments(tx, { livemode, authorized: true, limit: MAX_ALONE }),
    ]);
    if (batched.length + authorized.length === 0) return { stored: [], refused: [] };
    failpoint('settlement.sender_taken');
    const broken = [...batched, ...authorized].flatMap((one) => whatIsBroken(relayer, one));
    const refused = await writeDecided(tx, relayer, broken);
    // Jobs for a contract that this process's settings lack are left to a worker with newer
    // settings.
    const isSendable = (one: OpenRequest) =>
      broken.every(({ request }) => request !== one) &&
      knowsMerchant(chain.config, paymentOf(one).merchantNumber);
    const plans = [
      ...groupByRule(chain.config, batched.filter(isSendable))
        .flatMap((group) => groupByDeadline(group, relayer.clock.now()))
        .flatMap(groupByContract)
        .flatMap((group) => groupByGas(relayer, group)),
      ...authorized.filter(isSendable).map((request) => [request]),
    ].map((group) => planPayments(relayer, group));
    const stored = await signAndStore(tx, sender, nonce, plans);
    return { stored, refused };
  });
  if (refused.length > 0) relayer.wakeups.send('chain-outcomes', 'payment');
  failpoint('settlement.signed_committed');
  sender.add(stored);
  const payments = stored.reduce((sum, transaction) => sum + transaction.requests.length, 0);
  return { payments, sent: sendStored(sender, stored) };
}

/**
 * Maximum number of jobs that one sender sends alone at the same time, because nodes keep only some
 * transactions per sender.
 */
const MAX_ALONE = 8;

/**
 * Sends jobs that must be sent alone: refunds, withdrawals, registrations and similar, and payments
 * whose batch was mined without a result for them. Each job is simulated first, so that a job that
 * the contract would refuse costs no gas and fails with its reason.
 * @returns the number of jobs that were sent or decided.
 * @throws SenderLost, RpcUnavailable
 */
export async function sendUnbatched(sender: HeldSender): Promise<number> {
  const { relayer } = sender;
  const { chain, db, wakeups, livemode } = relayer;
  const kinds = kindsOf(sender, chain.config);
  const except = stillDeferred(relayer, kinds);
  const requests = await selectUnbatched(db, { livemode, kinds, except, limit: MAX_ALONE });
  if (requests.length === 0) return 0;
  // The jobs are independent, so a distant node is queried about all of them at the same time.
  const prepared = (await Promise.all(requests.map((one) => prepareOne(sender, one)))).flat();

  const done = await inSender(sender, async (tx, nonce) => {
    const ids = new Set(await lockQueued(tx, idsOf(prepared)));
    const now = relayer.clock.now();
    const mine = prepared.filter(({ request }) => ids.has(request.id) && hasTimeLeft(request, now));
    const planned = mine.flatMap(({ next }) => (next.status === 'ready' ? [next.planned] : []));
    const ordered = await inOrder(tx, sender, planned);
    for (const request of ordered.waiting) deferRequest(relayer, request);
    const kindsDecided = await writeDecided(tx, relayer, mine);
    await postpone(tx, idsOf(mine, 'postponed'));
    const ended = (await endAttempts(tx, idsOf(mine, 'ended'))).map(
      ({ intent: subject, ...details }) => ({ kind: 'sale_not_settled', subject, details }),
    );
    await relayer.raise(tx, [...ended, ...ordered.alarms]);
    const stored = await signAndStore(tx, sender, nonce, ordered.ready);
    return { stored, decided: kindsDecided };
  });
  if (done.stored.length > 0) failpoint('settlement.signed_committed');
  for (const kind of new Set(done.decided)) wakeups.send('chain-outcomes', kind);
  sender.add(done.stored);
  await sendStored(sender, done.stored);
  return done.stored.length + done.decided.length;
}

interface Work {
  readonly request: OpenRequest;
  readonly next: Prepared;
}

function idsOf(work: readonly Work[], status?: Prepared['status']): bigint[] {
  return work.flatMap(({ request, next }) =>
    status === undefined || next.status === status ? [request.id] : [],
  );
}

/**
 * Stores results that need no transaction.
 * @returns the kinds of jobs with new results to apply.
 */
async function writeDecided(
  tx: Tx,
  relayer: RelayerState,
  work: readonly Work[],
): Promise<OpenRequest['kind'][]> {
  const results = work.flatMap(({ request: { id, kind }, next }) =>
    next.status === 'decided'
      ? [{ kind, requestId: id, transactionId: null, result: next.result }]
      : [],
  );
  await writeOutcomes(tx, results);
  const alarms = work.flatMap(({ next }) => ('alarm' in next ? (next.alarm ?? []) : []));
  await relayer.raise(tx, alarms);
  return results.map(({ kind }) => kind);
}

/** If no node answered for a job, it is retried after this delay, so that other jobs go first. */
const DEFER_MS = 2_000;

/**
 * Prepares a job; returns nothing if a temporary fault prevents that. Fails only a job that can
 * never become a call, whatever the chain's state. Any other fault, even a bug, says nothing about
 * the money, so it decides nothing, and the other jobs continue.
 */
async function prepareOne(sender: HeldSender, request: OpenRequest): Promise<Work[]> {
  const { relayer } = sender;
  const { kind, subjectId: subject, owedUntil = null } = request;
  if (owedUntil !== null && owedUntil <= relayer.clock.now()) {
    return [{ request, next: { status: 'ended' } }];
  }
  const broken = request.owed ? [] : whatIsBroken(relayer, request);
  if (broken.length > 0) return broken;
  try {
    const next = await prepare(sender, request);
    if (next.status === 'blocked') deferRequest(relayer, request, next.retryMs);
    return [{ request, next }];
  } catch (error) {
    deferRequest(relayer, request);
    const details = { kind, error: describeError(error) };
    const fields = { subject, ...details };
    if (passes(error)) {
      relayer.log.warn('a settlement job waits for data that cannot be read now', fields);
      return [];
    }
    relayer.log.error('a settlement job cannot be prepared', fields);
    const alarm = { kind: 'request_stuck', subject, details };
    return [{ request, next: { status: 'stuck', alarm } }];
  }
}

/** True for faults of the chain or the database, which are temporary. */
function passes(error: unknown): boolean {
  return [RpcUnavailable, RpcRefusal, DatabaseUnavailable].some((fault) => error instanceof fault);
}

/** Fails a job that cannot be encoded, so that it does not delay others forever. */
function whatIsBroken({ chain }: RelayerState, request: OpenRequest): Work[] {
  const { kind, subjectId: subject } = request;
  try {
    callOf(request, chain.config);
    return [];
  } catch (error) {
    if (passes(error)) return [];
    const details = { kind, error: describeError(error) };
    const alarm = { kind: 'request_invalid', subject, details };
    return [{ request, next: decided(failed(failureOf(kind, null), null), alarm) }];
  }
}

function deferRequest({ deferred }: RelayerState, { id, kind }: OpenRequest, ms = DEFER_MS): void {
  deferred.set(id, { kind, retryAt: performance.now() + ms });
}

/** Retries per poll: however many retries are due, half of the capacity is left to younger jobs. */
const MAX_RETRIES = MAX_ALONE / 2;

/**
 * Makes some of the deferred jobs that are due available again.
 * @returns the jobs that stay deferred.
 */
function stillDeferred({ deferred }: RelayerState, kinds: readonly RequestKind[]): bigint[] {
  const now = performance.now();
  const due = [...deferred].filter(([, one]) => kinds.includes(one.kind) && one.retryAt < now);
  for (const [id] of due.slice(0, MAX_RETRIES)) deferred.delete(id);
  return [...deferred.keys()];
}

/**
 * Returns the result for a deployment that this sender does not send; `null` if it sends it. A
 * deployment that is too late fails: its factory may run without end, and then no node estimates
 * its gas. A remote signer would refuse a deployment, and the deployment's nonce would block all
 * later ones, so it is left to a worker with the key. If no worker has the key, the deployment
 * fails.
 */
async function leaveDeployment(sender: HeldSender, request: OpenRequest): Promise<Prepared | null> {
  const { signsElsewhere, relayer } = sender;
  const { clock, db, livemode } = relayer;
  const ageMs = clock.now().getTime() - request.created.getTime();
  const isLate = !request.owed && ageMs > DEPLOY_WITHIN_MS;
  if (!isLate && !signsElsewhere) return null;
  const isLeft = !isLate && (await workersDeploy(db, { livemode, goneMs: WORKER_GONE_MS }));
  return isLeft ? { status: 'blocked', retryMs: DEFER_MS } : refusedBy(relayer, request, null);
}

async function prepare(sender: HeldSender, request: OpenRequest): Promise<Prepared> {
  const { relayer } = sender;
  if (request.kind === 'refund') return prepareRefund(sender, request);
  const payment = request.kind === 'payment' ? planPayments(relayer, [request]) : null;
  const call = payment?.call ?? callOf(request, relayer.chain.config);
  const left = request.kind === 'wallet_deployment' ? await leaveDeployment(sender, request) : null;
  if (left !== null) return left;
  // A contract wallet may confirm its signature in simulations only. Then only the token decides.
  const isTriedEnough = request.kind === 'transfer' && request.tries >= MAX_TRIES && !request.owed;
  if (isTriedEnough) return refusedBy(relayer, request, null);
  const estimate = await estimateGas(sender, call);
  if (!estimate.ok) return refusedBy(relayer, request, estimate.revertData);
  const most = gasCapOf(request.kind, call);
  if (most !== null && estimate.gas > most) return refusedBy(relayer, request, null);
  // Use the maximum instead of an estimate. With the minimum gas that an estimate finds, the
  // factory's call may succeed although the creation within it fails.
  const withReserve = atMost(estimate.gasLimit, most ?? estimate.gasLimit);
  const gasLimit = request.kind === 'wallet_deployment' ? DEPLOYMENT_GAS : withReserve;
  const planned = payment ?? { kind: request.kind, call, gasLimit, requests: [request] };
  return { status: 'ready', planned };
}
