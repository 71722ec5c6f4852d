import { bumpFees } from '#settlement/fees.ts';
import { addAttempt } from '#settlement/recovery.ts';
import type { HeldLane, OpenTransaction, RelayerState } from '#settlement/relayer-state.ts';
import {
  type OpenTransactionRow,
  selectOpenTransactions,
} from '#settlement/transaction-queries.ts';

/** Reads the lane's open transactions from their rows; what was sent by us stays marked as sent. */
export async function loadOpen(relayer: RelayerState, lane: HeldLane): Promise<void> {
  const { livemode } = relayer.chain.config;
  const rows = await selectOpenTransactions(relayer.db, { livemode, lane: lane.lane });
  for (const row of rows) {
    if (lane.open.has(row.nonce)) continue;
    const transaction = toOpen(row);
    // First: a fault in between must not leave the old bytes to be sent.
    if (isToldFailed(row)) await cancel(relayer, lane, transaction);
    lane.open.set(row.nonce, transaction);
  }
}

function isToldFailed({ requests }: OpenTransactionRow): boolean {
  return requests.length > 0 && requests.every((request) => request.told_failed);
}

/**
 * It failed, everybody was told so, and then a reorganisation has undone its block. The same bytes
 * could succeed this time, so they are not sent again: a no-op outbids them for their nonce.
 */
async function cancel(
  relayer: RelayerState,
  lane: HeldLane,
  transaction: OpenTransaction,
): Promise<void> {
  const last = transaction.attempts.at(-1);
  if (last === undefined || last.noop) return;
  const { maxFeePerGasCeiling } = relayer.chain.config;
  const fees = bumpFees(last.fees, relayer.fees ?? last.fees, maxFeePerGasCeiling);
  if (fees !== null) await addAttempt(relayer, lane, transaction, fees, true);
}

function toOpen(row: OpenTransactionRow): OpenTransaction {
  return {
    id: row.id,
    nonce: row.nonce,
    kind: row.kind,
    target: row.target,
    input: `0x${row.input.toString('hex')}`,
    gasLimit: row.gas_limit,
    attempts: row.attempts.map((attempt) => ({
      hash: attempt.hash,
      raw: `0x${attempt.raw}`,
      noop: attempt.noop,
      fees: {
        maxFeePerGas: BigInt(attempt.max_fee),
        maxPriorityFeePerGas: BigInt(attempt.max_tip),
      },
    })),
    requests: row.requests.map((request) => ({
      id: BigInt(request.id),
      kind: request.kind,
      subjectId: request.subject_id,
      number: request.number === null ? null : BigInt(request.number),
      payload: request.payload,
      tries: request.tries,
      created: new Date(request.created),
      owed: request.owed,
    })),
    sentAtBlock: null,
    resent: 0,
    recheck: true,
    usedElsewhere: 0,
    unsendable: false,
  };
}
