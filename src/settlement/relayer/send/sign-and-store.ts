import { assert, present } from '#core/assert.ts';
import type { Tx } from '#db/database.ts';
import type { Attempt, OpenTransaction } from '#settlement/relayer/rows/state.ts';
import {
  insertTransactions,
  type NewTransaction,
} from '#settlement/relayer/rows/transaction-queries.ts';
import type { LockedLane, Planned } from '#settlement/relayer/send/planned.ts';
import { signAttempt } from '#settlement/relayer/send/sign.ts';
import type { Hex } from '#settlement/requests.ts';

/**
 * Signs the planned transactions with the lane's next nonces and stores bytes, nonces and requests
 * together. After the commit, and only then, they may be broadcast.
 */
export async function signAndStore(
  tx: Tx,
  { relayer, lane, nonce }: LockedLane,
  planned: readonly Planned[],
): Promise<OpenTransaction[]> {
  if (planned.length === 0) return [];
  const { chain, clock } = relayer;
  const fees = present(relayer.fees, 'fees: no block was seen yet');
  const signed = await Promise.all(
    planned.map((plan, index) =>
      signAttempt(lane.account, {
        chainId: chain.config.chainId,
        nonce: nonce + BigInt(index),
        to: plan.call.to,
        input: plan.call.data,
        gasLimit: plan.gasLimit,
        fees,
      }),
    ),
  );
  const rows = planned.map((plan, index) =>
    toRow(plan, nonce + BigInt(index), present(signed[index], 'signed attempt')),
  );
  const where = {
    livemode: chain.config.livemode,
    lane: lane.lane,
    nextNonce: nonce + BigInt(planned.length),
  };
  const stored = await insertTransactions(tx, where, rows, clock.now());
  return planned.map((plan, index) => {
    const { id, nonce: storedNonce, requests } = present(stored[index], 'stored transaction');
    assert(storedNonce === nonce + BigInt(index), 'a transaction was stored out of order');
    assert(requests === plan.requests.length, 'a request was taken by two transactions');
    return {
      id,
      nonce: storedNonce,
      kind: plan.kind,
      target: plan.call.to,
      input: plan.call.data,
      gasLimit: plan.gasLimit,
      attempts: [present(signed[index], 'signed attempt')],
      requests: plan.requests,
      validUntil: plan.validUntil ?? null,
      signedAtMs: performance.now(),
      sentAtBlock: null,
      seenAtBlock: null,
      resent: 0,
      recheck: false,
      unread: false,
      included: null,
      waits: null,
      told: null,
      isToBeTold: false,
      usedElsewhere: 0,
      undecided: 0,
      isToldUnreadable: false,
      unsendable: false,
    };
  });
}

function bytesOf(hex: Hex): Buffer {
  return Buffer.from(hex.slice(2), 'hex');
}

function toRow(plan: Planned, nonce: bigint, attempt: Attempt): NewTransaction {
  return {
    nonce,
    kind: plan.kind,
    target: plan.call.to,
    input: bytesOf(plan.call.data),
    gas_limit: plan.gasLimit,
    tx_hash: attempt.hash,
    raw: bytesOf(attempt.raw),
    max_fee: attempt.fees.maxFeePerGas,
    max_tip: attempt.fees.maxPriorityFeePerGas,
    valid_until: plan.validUntil ?? null,
    request_ids: plan.requests.map((request) => request.id),
  };
}
