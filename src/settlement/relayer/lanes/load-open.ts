import { assert } from '#core/assert.ts';
import { nowOf } from '#settlement/relayer/machine/chain-view.ts';
import {
  type HeldLane,
  inNonceOrder,
  type RelayerState,
} from '#settlement/relayer/machine/state.ts';
import { cancellation, step } from '#settlement/relayer/machine/step.ts';
import {
  fromRows,
  isExpired,
  type Offer,
  type OpenRequest,
  type OpenTransaction,
  type TransactionFacts,
} from '#settlement/relayer/machine/transaction.ts';
import {
  type OfferRow,
  type OpenTransactionRow,
  selectOpenNonces,
  selectOpenTransactions,
} from '#settlement/relayer/rows/transaction-queries.ts';
import { storeOffer } from '#settlement/relayer/send/sign.ts';

/**
 * Loads transactions of held lanes that the rows have and this process has forgotten. Outcomes are
 * committed without waiting for the disk, so a crash of PostgreSQL can undo the last of them.
 * Nothing else shows it: the lanes stay ours, and what we know about them was true when we wrote
 * it.
 */
export async function rereadOpen(relayer: RelayerState): Promise<void> {
  const { livemode, network } = relayer.chain.config;
  const lanes = [...relayer.lanes.keys()];
  if (lanes.length === 0) return;
  const stored = await selectOpenNonces(relayer.db, { livemode, lanes });
  const forgotten = new Set<HeldLane>();
  for (const row of stored) {
    const lane = relayer.lanes.get(row.lane);
    if (lane !== undefined && !lane.open.has(row.nonce)) forgotten.add(lane);
  }
  for (const lane of forgotten) {
    await loadOpen(relayer, lane);
    relayer.log.info('read the open transactions of a lane again', { network, lane: lane.lane });
  }
}

/**
 * Reads the lane's open transactions from their rows; what this process knows already stays as it
 * is.
 * @returns all that are open now, in the order of their nonces.
 */
export async function loadOpen(relayer: RelayerState, lane: HeldLane): Promise<OpenTransaction[]> {
  const { livemode } = relayer.chain.config;
  const rows = await selectOpenTransactions(relayer.db, { livemode, lane: lane.lane });
  for (const row of rows) {
    if (lane.open.has(row.nonce)) continue;
    const loaded = toOpen(row, isExpired(toFacts(row), relayer.head));
    if (loaded.phase !== 'stuck') lane.add([loaded]);
    // First, so that no fault in between leaves the old bytes to be sent.
    else lane.add([await barOldBytes(relayer, lane, loaded)]);
  }
  return inNonceOrder(lane);
}

/** Bytes that must never go out again are canceled, and their jobs are queued again. */
async function barOldBytes(
  relayer: RelayerState,
  lane: HeldLane,
  loaded: OpenTransaction,
): Promise<OpenTransaction> {
  const offer = cancellation(loaded, nowOf(relayer));
  const stored = await storeOffer(relayer, { lane, transaction: loaded, offer }, true);
  const { transaction } = step(loaded, stored, nowOf(relayer));
  assert(transaction.phase !== 'done', 'what was loaded is open');
  return transaction;
}

/**
 * A reorganization has undone its block, or nobody had sent it yet. The same bytes could do this
 * time what they did not do the first time. So they never go out again once one of their requests
 * has failed (somebody was told, or is about to be) or is on its way under other bytes. When they
 * have expired the contract would refuse them anyway.
 */
function maySendAgain(
  { attempts, unsigned, requests, retired }: OpenTransactionRow,
  expired: boolean,
): boolean {
  if (attempts.at(-1)?.noop === true || unsigned?.noop === true) return true;
  const isWhole = !retired && !expired && requests.length > 0;
  return isWhole && requests.every((request) => !request.failed);
}

function toOpen(row: OpenTransactionRow, expired: boolean): OpenTransaction {
  const wanted = row.unsigned === null ? null : toOffer(row.unsigned);
  const isBarred = !maySendAgain(row, expired);
  return fromRows(toFacts(row), { wanted, query: 'always', isBarred });
}

function toFacts(row: OpenTransactionRow): TransactionFacts {
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
      ...toOffer(attempt),
    })),
    requests: row.requests.flatMap(toOpenRequest),
    validUntil: row.valid_until,
    signedAtMs: null,
  };
}

function toOffer({ noop, max_fee, max_tip }: OfferRow): Offer {
  return {
    noop,
    fees: { maxFeePerGas: BigInt(max_fee), maxPriorityFeePerGas: BigInt(max_tip) },
  };
}

/** What has failed has its answer: nothing that happens to the transaction changes that. */
function toOpenRequest(request: OpenTransactionRow['requests'][number]): OpenRequest[] {
  if (request.failed) return [];
  return [
    {
      id: BigInt(request.id),
      kind: request.kind,
      subjectId: request.subject_id,
      number: request.number === null ? null : BigInt(request.number),
      payload: request.payload,
      tries: request.tries,
      created: new Date(request.created),
      owed: request.owed,
      deadline: request.deadline === null ? null : new Date(request.deadline),
      settleWithinS: request.settle_within,
    },
  ];
}
