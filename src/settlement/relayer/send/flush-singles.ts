import { failpoint } from '#core/failpoints.ts';
import { type Alarm, insertAlarms } from '#settlement/alarms.ts';
import { kindsOf } from '#settlement/relayer/rows/kinds.ts';
import { LaneLost, lockHeldLane } from '#settlement/relayer/rows/lane-queries.ts';
import { type RequestOutcome, writeOutcomes } from '#settlement/relayer/rows/outcome-queries.ts';
import type {
  HeldLane,
  OpenRequest,
  OpenTransaction,
  RelayerState,
} from '#settlement/relayer/rows/state.ts';
import {
  lockQueued,
  selectSingles,
  toOpenRequest,
} from '#settlement/relayer/rows/transaction-queries.ts';
import { broadcast } from '#settlement/relayer/send/broadcast.ts';
import { hasTimeLeft } from '#settlement/relayer/send/deadlines.ts';
import type { Planned } from '#settlement/relayer/send/planned.ts';
import {
  deferRequest,
  prepareAll,
  stillDeferred,
} from '#settlement/relayer/send/prepare-singles.ts';
import { inOrder } from '#settlement/relayer/send/refund-order.ts';
import { signAndStore } from '#settlement/relayer/send/sign-and-store.ts';

/** Simulated and signed together; each is a transaction of its own. */
const MAX_SINGLES = 8;

/**
 * Sends what has to be sent alone: refunds, withdrawals, registrations and the like, and payments
 * whose batch was mined without an answer for them. Each is simulated first, so that what the
 * contract would refuse costs no gas and fails with its reason.
 * @returns how many requests were sent or decided. @throws LaneLost, RpcUnavailable
 */
export async function flushSingles(relayer: RelayerState, lane: HeldLane): Promise<number> {
  const { chain, db, owner, wakeups } = relayer;
  const { livemode } = chain.config;
  const kinds = kindsOf(lane.role, chain.config);
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
    const ordered = await inOrder(tx, { relayer, lane }, sorted);
    for (const request of ordered.waiting) deferRequest(relayer, request);
    await writeOutcomes(tx, outcomes);
    await insertAlarms(tx, livemode, [...alarms, ...ordered.alarms], now);
    const stored = await signAndStore(tx, { relayer, lane, nonce }, ordered.planned);
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
