import { failpoint } from '#core/failpoints.ts';
import { stampOrders } from '#db/commit-order.ts';
import type { Tx } from '#db/database.ts';
import type { LoopDeps } from '#db/loop-deps.ts';
import { appendEvents } from '#events/append.ts';
import { updateWaiting } from '#idempotency/key-queries.ts';
import { draftsOf, type Ended, endOf, type Written, waitingAnswer } from '#refunds/refund-end.ts';
import { lockRefunds } from '#refunds/refund-queries.ts';
import { writeEnd } from '#refunds/write-end.ts';
import { alarmUnfit } from '#settlement/alarms.ts';
import { applied, type Outcome, takeOutcomes } from '#settlement/requests.ts';

/** A transaction of this size takes a few milliseconds. */
const BATCH = 50;
/** refund.succeeded or refund.failed, refund.updated, payment.refunded. */
const PLACES_PER_REFUND = 3;

async function writeAll(tx: Tx, ended: readonly Ended[], now: Date): Promise<number> {
  if (ended.length === 0) return 0;
  const wanted = ended.map(({ tenant }) => ({ tenant, count: PLACES_PER_REFUND }));
  const written: Written[] = [];
  // One after the other, so that two refunds of one payment show two sums.
  for (const refund of ended) written.push(await writeEnd(tx, refund));
  const stampOf = await stampOrders(tx, wanted, now);
  const events = written.flatMap((one) => draftsOf(one, stampOf(one.refund.tenant)));
  await updateWaiting(tx, ended.map(waitingAnswer));
  return appendEvents(tx, events);
}

async function applyBatch(
  tx: Tx,
  outcomes: readonly Outcome<'refund'>[],
  deps: LoopDeps,
): Promise<{ readonly ended: readonly Ended[]; readonly deliveries: number }> {
  const now = deps.clock.now();
  const refunds = await lockRefunds(
    tx,
    outcomes.map((outcome) => outcome.subjectId),
  );
  const byId = new Map(refunds.map((refund) => [refund.id, refund]));
  const ended: Ended[] = [];
  for (const outcome of outcomes) {
    const refund = byId.get(outcome.subjectId);
    const end = refund === undefined ? null : endOf(refund, outcome, now);
    const status = refund?.status ?? null;
    if (end === null) await alarmUnfit(tx, outcome, { status, now, log: deps.log });
    else ended.push(end);
  }
  const deliveries = await writeAll(tx, ended, now);
  await applied(
    tx,
    outcomes.map((outcome) => outcome.requestId),
    now,
  );
  return { ended, deliveries };
}

/**
 * Applies what the chain has said of refunds: refund, payment, events and the responses of waiting
 * requests in one transaction. @returns whether there may be more.
 */
export async function applyRefundOutcomes(deps: LoopDeps): Promise<boolean> {
  const result = await deps.db.transaction(async (tx) => {
    const outcomes = await takeOutcomes(tx, 'refund', BATCH);
    if (outcomes.length === 0) return null;
    return { count: outcomes.length, ...(await applyBatch(tx, outcomes, deps)) };
  });
  if (result === null) return false;
  failpoint('refunds.outcome_committed');
  for (const refund of result.ended) deps.wakeups.send('refund', refund.id);
  if (result.deliveries > 0) deps.wakeups.send('deliveries');
  return result.count === BATCH;
}
