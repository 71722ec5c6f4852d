import { failpoint } from '#core/failpoints.ts';
import { describeError } from '#core/log.ts';
import type { Tx } from '#db/database.ts';
import { insertAlarms } from '#settlement/alarms.ts';
import { pack } from '#settlement/contract/contract-calls.ts';
import { knowsMerchant } from '#settlement/editions.ts';
import type { NetworkConfig } from '#settlement/networks.ts';
import type { HeldLane, RelayerState } from '#settlement/relayer/machine/memory.ts';
import type { OpenRequest } from '#settlement/relayer/machine/transaction.ts';
import { claimPayments } from '#settlement/relayer/rows/job-queries.ts';
import {
  authorizationOf,
  failed,
  groupByPatience,
  paymentOf,
} from '#settlement/relayer/rows/kinds.ts';
import { LaneLost, lockHeldLane } from '#settlement/relayer/rows/lane-queries.ts';
import { writeOutcomes } from '#settlement/relayer/rows/outcome-queries.ts';
import {
  groupByContract,
  groupByDeadline,
  MAX_BATCH_PAYMENTS,
  planBatch,
  planPayment,
} from '#settlement/relayer/send/plan.ts';
import { sendStored, signAndStore } from '#settlement/relayer/send/sign.ts';

export interface Flushed {
  /** How many payments are signed and stored. */
  readonly payments: number;
  /** Ends when a node has answered the broadcast, or none could. */
  readonly sent: Promise<void>;
}

/**
 * Sends the waiting payments, up to a full batch, as one transaction of this lane (more where their
 * deadlines lie apart): claimed, nonce taken, signed and stored in one database transaction, and
 * only then broadcast. The node's answer is the caller's to wait for: the next customer's payment
 * can go through another lane meanwhile.
 * @throws LaneLost when another worker has the lane.
 */
export async function flushPayments(relayer: RelayerState, lane: HeldLane): Promise<Flushed> {
  const { chain, db, owner } = relayer;
  const { livemode } = chain.config;
  const { stored, refused } = await db.transaction(async (tx) => {
    const held = { livemode, lane: lane.lane, owner, fence: lane.fence };
    const [nonce, batched, authorized] = await Promise.all([
      lockHeldLane(tx, held),
      claimPayments(tx, { livemode, authorized: false, limit: MAX_BATCH_PAYMENTS }),
      claimPayments(tx, { livemode, authorized: true, limit: MAX_AUTHORIZED }),
    ]);
    if (nonce === null) throw new LaneLost(lane.lane);
    if (batched.length + authorized.length === 0) return { stored: [], refused: 0 };
    failpoint('settlement.lane_taken');
    const { requests, broken } = sortOut([...batched, ...authorized], chain.config);
    await refuseBroken(tx, relayer, broken);
    const [alone = [], together = []] = [true, false].map((isAlone) =>
      requests.filter((request) => (authorizationOf(request) !== null) === isAlone),
    );
    const plans = [
      ...groupByPatience(chain.config, together)
        .flatMap((group) => groupByDeadline(group, relayer.clock.now()))
        .flatMap(groupByContract)
        .map((group) => planBatch(relayer, group)),
      ...alone.map((request) => planPayment(relayer, request)),
    ];
    const stored = await signAndStore(tx, { relayer, lane, nonce }, plans);
    return { stored, refused: broken.length };
  });
  if (refused > 0) relayer.wakeups.send('chain-outcomes', 'payment');
  failpoint('settlement.signed_committed');
  lane.add(stored);
  const payments = stored.reduce((sum, transaction) => sum + transaction.requests.length, 0);
  return { payments, sent: sendStored(relayer, lane, stored) };
}

/** Each is a transaction: this many at once stay below what nodes keep for one sender. */
const MAX_AUTHORIZED = 8;

/** A payment that cannot even be encoded must not hold up the others for ever. */
function sortOut(claimed: readonly OpenRequest[], config: NetworkConfig) {
  const requests: OpenRequest[] = [];
  const broken: { request: OpenRequest; error: string }[] = [];
  for (const request of claimed) {
    try {
      const payment = paymentOf(request);
      pack(payment);
      // It stays in the queue, for a worker with newer settings.
      if (!knowsMerchant(config, payment.merchantNumber)) continue;
      requests.push(request);
    } catch (error) {
      broken.push({ request, error: describeError(error) });
    }
  }
  return { requests, broken };
}

async function refuseBroken(
  tx: Tx,
  relayer: RelayerState,
  broken: readonly { readonly request: OpenRequest; readonly error: string }[],
): Promise<void> {
  if (broken.length === 0) return;
  await writeOutcomes(
    tx,
    broken.map(({ request }) => ({
      requestId: request.id,
      transactionId: null,
      result: failed('settlement_failed', null),
    })),
  );
  const alarms = broken.map(({ request, error }) => {
    return { kind: 'request_invalid', subject: request.subjectId, details: { error } };
  });
  await insertAlarms(tx, relayer.chain.config.livemode, alarms, relayer.clock.now());
}
