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
    if (!lane.open.has(row.nonce)) lane.open.set(row.nonce, toOpen(row));
  }
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
