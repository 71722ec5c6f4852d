import { failpoint } from '#core/failpoints.ts';
import { describeError } from '#core/log.ts';
import type { Tx } from '#db/database.ts';
import { broadcast } from '#settlement/broadcast.ts';
import { type PaymentCall, pack, settleBatchCall } from '#settlement/contract-calls.ts';
import { groupByDeadline, validUntil } from '#settlement/deadlines.ts';
import { failed } from '#settlement/facts.ts';
import { batchGasLimit, MAX_BATCH_PAYMENTS } from '#settlement/gas.ts';
import { lockHeldLane } from '#settlement/lane-queries.ts';
import { insertAlarms, writeOutcomes } from '#settlement/outcome-queries.ts';
import { paymentOf } from '#settlement/payloads.ts';
import { chainTime } from '#settlement/read-head.ts';
import type { HeldLane, OpenRequest, RelayerState } from '#settlement/relayer-state.ts';
import { type Planned, signAndStore } from '#settlement/sign-and-store.ts';
import { claimPayments, type RequestRow } from '#settlement/transaction-queries.ts';

/**
 * Sends what payments wait, up to a full batch, as one transaction of this lane (more where their
 * deadlines lie apart): claimed, nonce taken, signed and stored in one database transaction, and
 * only then broadcast.
 * @returns how many payments were sent. @throws LaneLost when another worker has the lane.
 */
export async function flushPayments(relayer: RelayerState, lane: HeldLane): Promise<number> {
  const { chain, db, owner } = relayer;
  const { livemode } = chain.config;
  const { stored, refused } = await db.transaction(async (tx) => {
    const held = { livemode, lane: lane.lane, owner, fence: lane.fence };
    const [nonce, rows] = await Promise.all([
      lockHeldLane(tx, held),
      claimPayments(tx, { livemode, limit: MAX_BATCH_PAYMENTS }),
    ]);
    if (nonce === null) throw new LaneLost(lane.lane);
    if (rows.length === 0) return { stored: [], refused: 0 };
    failpoint('settlement.lane_taken');
    const { requests, broken } = sortOut(rows.map(toOpenRequest));
    await refuseBroken(tx, relayer, broken);
    const plans = groupByDeadline(requests, relayer.clock.now()).map((group) =>
      planBatch(relayer, group),
    );
    const stored = await signAndStore(tx, { relayer, lane, nonce }, plans);
    return { stored, refused: broken.length };
  });
  if (refused > 0) relayer.wakeups.send('chain-outcomes', 'payment');
  failpoint('settlement.signed_committed');
  for (const transaction of stored) lane.open.set(transaction.nonce, transaction);
  await broadcast(relayer, lane, stored);
  if (stored.length > 0) failpoint('settlement.broadcast_sent');
  return stored.reduce((sum, transaction) => sum + transaction.requests.length, 0);
}

/** The lease is gone; what this process remembers of the lane is worth nothing. */
export class LaneLost extends Error {
  override name = 'LaneLost';
  readonly lane: number;

  constructor(lane: number) {
    super(`lane ${lane} belongs to another worker now`);
    this.lane = lane;
  }
}

/** A payment that cannot even be written down must not hold up the others for ever. */
function sortOut(claimed: readonly OpenRequest[]) {
  const requests: OpenRequest[] = [];
  const broken: { request: OpenRequest; error: string }[] = [];
  for (const request of claimed) {
    try {
      pack(paymentOf(request));
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

/** A call of the contract for these payments, whichever way they came to be sent together. */
export function planBatch(relayer: RelayerState, requests: readonly OpenRequest[]): Planned {
  const payments = requests.map(paymentOf).sort(bySlot);
  const head = { time: chainTime(relayer) };
  const until = validUntil(requests, { head, now: relayer.clock.now() });
  return {
    kind: 'payment',
    call: {
      to: relayer.chain.config.settlement,
      data: settleBatchCall(payments, until.getTime() / 1_000),
    },
    gasLimit: batchGasLimit(payments.length),
    requests,
    validUntil: until,
  };
}

export function toOpenRequest(row: RequestRow): OpenRequest {
  const { subject_id: subjectId, settle_within: settleWithinS, ...same } = row;
  return { ...same, subjectId, settleWithinS };
}

/** 256 numbers share a storage slot of the contract, and all payments of a merchant another one. */
const NUMBERS_PER_SLOT = 256n;

function bySlot(a: PaymentCall, b: PaymentCall): number {
  return (
    compare(a.number / NUMBERS_PER_SLOT, b.number / NUMBERS_PER_SLOT) ||
    compare(a.merchantNumber, b.merchantNumber) ||
    compare(a.number, b.number)
  );
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
