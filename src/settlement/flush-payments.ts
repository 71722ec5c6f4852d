import { failpoint } from '#core/failpoints.ts';
import { broadcast } from '#settlement/broadcast.ts';
import { type PaymentCall, settleBatchCall } from '#settlement/contract-calls.ts';
import { batchGasLimit, MAX_BATCH_PAYMENTS } from '#settlement/gas.ts';
import { lockHeldLane } from '#settlement/lane-queries.ts';
import { paymentOf } from '#settlement/payloads.ts';
import type {
  HeldLane,
  OpenRequest,
  OpenTransaction,
  RelayerState,
} from '#settlement/relayer-state.ts';
import { type Planned, signAndStore } from '#settlement/sign-and-store.ts';
import { claimPayments, type RequestRow } from '#settlement/transaction-queries.ts';

/**
 * Sends what payments wait, up to a full batch, as one transaction of this lane: claimed, nonce
 * taken, signed and stored in one database transaction, and only then broadcast.
 * @returns how many payments were sent. @throws LaneLost when another worker has the lane.
 */
export async function flushPayments(relayer: RelayerState, lane: HeldLane): Promise<number> {
  const { chain, db, owner } = relayer;
  const { livemode } = chain.config;
  const stored = await db.transaction(async (tx): Promise<OpenTransaction[]> => {
    const held = { livemode, lane: lane.lane, owner, fence: lane.fence };
    const [nonce, rows] = await Promise.all([
      lockHeldLane(tx, held),
      claimPayments(tx, { livemode, limit: MAX_BATCH_PAYMENTS }),
    ]);
    if (nonce === null) throw new LaneLost(lane.lane);
    if (rows.length === 0) return [];
    failpoint('settlement.lane_taken');
    return signAndStore(tx, { relayer, lane, nonce }, [planBatch(relayer, rows)]);
  });
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

function planBatch(relayer: RelayerState, rows: readonly RequestRow[]): Planned {
  const requests = rows.map(toOpenRequest);
  const payments = requests.map(paymentOf).sort(bySlot);
  return {
    kind: 'payment',
    call: { to: relayer.chain.config.settlement, data: settleBatchCall(payments) },
    gasLimit: batchGasLimit(payments.length),
    requests,
  };
}

export function toOpenRequest(row: RequestRow): OpenRequest {
  const { id, kind, subject_id: subjectId, number, payload, tries } = row;
  return { id, kind, subjectId, number, payload, tries };
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
