import { present } from '#core/assert.ts';
import { SECOND_MS } from '#core/durations.ts';
import type { Alarm } from '#settlement/alarms.ts';
import type { Block } from '#settlement/chain/chain.ts';
import { countsYet } from '#settlement/chain/check/extra-wait-by-amount.ts';
import { RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import { NOT_IN_TIME } from '#settlement/chain-requests.ts';
import { isSettledCall } from '#settlement/contract/contract-calls.ts';
import {
  type RequestOutcome,
  selectPerhapsDead,
  writeOutcomes,
} from '#settlement/relayer/jobs/job-queries.ts';
import { contractOfRequest, numberOf } from '#settlement/relayer/jobs/request-kinds.ts';
import { doneBefore } from '#settlement/relayer/send/find-earlier-results.ts';
import { timeoutBlocks } from '#settlement/relayer/state-machine/chain-view.ts';
import type { RelayerState } from '#settlement/relayer/state-machine/relayer-state.ts';

/**
 * Declines signed payments that can no longer settle: a block later than their deadline has enough
 * confirmations, and the contract's state in that block does not show them as settled. This needs
 * no sender, so it also declines payments whose sender's key was removed.
 */
export async function endDead(relayer: RelayerState, head: Block): Promise<void> {
  const { chain, db, livemode } = relayer;
  const look = { livemode, limit: MAX_AT_ONCE };
  // First look for payments with the head's time, which is later than that of any block below.
  // Usually there are none.
  if ((await selectPerhapsDead(db, { ...look, time: head.time })).length === 0) return;
  const depth = depthOfEnd(relayer);
  const deep = head.number < depth.blocks ? null : await chain.block(head.number - depth.blocks);
  if (deep === null || head.time.getTime() - deep.time.getTime() < depth.ms) return;
  const requests = await selectPerhapsDead(db, { ...look, time: deep.time });
  if (requests.length === 0) return;
  // A node of another chain may have the same contract at the same address, without our payments.
  await chain.rpc.confirmChain();
  const calls = requests.map((one) => ({
    to: contractOfRequest(one, chain.config),
    data: isSettledCall(numberOf(one)),
    words: 1,
  }));
  const answers = await chain.calls(calls, deep.number);
  const outcomes: RequestOutcome[] = [];
  const alarms: Alarm[] = [];
  for (const [index, request] of requests.entries()) {
    const answer = present(answers[index], 'answer of a call');
    if (!answer.ok) throw new RpcUnavailable(`isSettled reverted: ${answer.message}`);
    const isSettled = BigInt(answer.data) !== 0n;
    const earlier = isSettled ? await doneBefore(chain, request, null) : null;
    // The payment is in a block that does not count yet, so the next check decides.
    if (earlier !== null && !(await countsYet(chain, request, earlier.result))) continue;
    if (earlier?.alarm) alarms.push(earlier.alarm);
    const result = earlier?.result.succeeded ? earlier.result : NOT_IN_TIME;
    outcomes.push({ requestId: request.id, transactionId: request.transactionId, result });
  }
  await db.transaction(async (tx) => {
    await writeOutcomes(tx, outcomes);
    await relayer.raise(tx, alarms);
  });
  relayer.wakeups.send('chain-outcomes', 'payment');
}

/** Payments checked per round trip. The check at the next block covers the rest. */
const MAX_AT_ONCE = 200;

/**
 * The minimum number of confirmations before a payment is declined, even if a success needs none,
 * because a reorganization that undoes the block must be unlikely.
 */
const MIN_DEPTH = 2;

/**
 * Returns the confirmations before a payment is declined, in blocks and by the chain's own clock:
 * no fewer than a success needs. The time is checked too, in case the block interval has just
 * changed. Timestamps are whole seconds, so one second is subtracted.
 */
function depthOfEnd(relayer: RelayerState): { readonly blocks: bigint; readonly ms: number } {
  const { confirmations, confirmationsMs, minBlockMs } = relayer.chain.config;
  const least = Number(timeoutBlocks(relayer, MIN_DEPTH));
  const lasting = Number(timeoutBlocks(relayer, Math.ceil(confirmationsMs / minBlockMs)));
  return {
    blocks: BigInt(Math.max(least, confirmations, lasting)),
    ms: Math.max(MIN_DEPTH * minBlockMs, confirmationsMs) - SECOND_MS,
  };
}
