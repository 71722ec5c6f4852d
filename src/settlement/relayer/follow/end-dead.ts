import { present } from '#core/assert.ts';
import { type Alarm, insertAlarms } from '#settlement/alarms.ts';
import type { Block } from '#settlement/chain/chain.ts';
import { RpcUnavailable } from '#settlement/chain/rpc.ts';
import { isSettledCall } from '#settlement/contract/contract-calls.ts';
import { patientBlocks } from '#settlement/relayer/machine/chain-view.ts';
import type { RelayerState } from '#settlement/relayer/machine/memory.ts';
import { selectPerhapsDead } from '#settlement/relayer/rows/job-queries.ts';
import { contractOfRequest, countsYet, numberOf } from '#settlement/relayer/rows/kinds.ts';
import { type RequestOutcome, writeOutcomes } from '#settlement/relayer/rows/outcome-queries.ts';
import { findEarlier } from '#settlement/relayer/send/earlier-events.ts';
import { NOT_IN_TIME } from '#settlement/requests.ts';

/**
 * On top of one that is not expected to leave the chain, even at 0 confirmations: so many blocks,
 * and as long as they last on a chain of one a second.
 */
const MIN_DEPTH = 2;
/** How many are asked about in one round trip; the rest follows at the next block. */
const MAX_AT_ONCE = 200;

/**
 * By the chain's own clock, in case that its pace has just changed: times of blocks are whole
 * seconds, so one second less than that.
 */
function leastMs({ chain }: RelayerState): number {
  const { confirmationsMs, patienceMs } = chain.config;
  return Math.max(MIN_DEPTH * patienceMs, confirmationsMs) - SECOND_MS;
}

const SECOND_MS = 1_000;

/** No less than a success has to have, in blocks and in time. */
function depthOfEnd(relayer: RelayerState): bigint {
  const { confirmations, confirmationsMs, patienceMs } = relayer.chain.config;
  const least = Number(patientBlocks(relayer, MIN_DEPTH));
  const lasting = patientBlocks(relayer, Math.ceil(confirmationsMs / patienceMs));
  return BigInt(Math.max(least, confirmations, Number(lasting)));
}

/**
 * Declines signed payments that can never settle any more: a block later than the end of their
 * bytes' validity lies deep enough, and the contract's state at that block does not know them as
 * settled. It needs no lane, so it also ends payments whose relayer key was removed.
 */
export async function endDead(relayer: RelayerState, head: Block): Promise<void> {
  const { chain, db } = relayer;
  const { livemode } = chain.config;
  const look = { livemode, limit: MAX_AT_ONCE };
  // The head is later than any block below it: usually this one check is enough.
  if ((await selectPerhapsDead(db, { ...look, time: head.time })).length === 0) return;
  const depth = depthOfEnd(relayer);
  const deep = head.number < depth ? null : await chain.block(head.number - depth);
  if (deep === null || head.time.getTime() - deep.time.getTime() < leastMs(relayer)) return;
  const requests = await selectPerhapsDead(db, { ...look, time: deep.time });
  if (requests.length === 0) return;
  // Another chain can have the same contract at the same address, with none of our payments.
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
    const earlier = BigInt(answer.data) === 0n ? null : await findEarlier(chain, request);
    // In a block, and not counted yet: the next look asks again.
    if (earlier !== null && !(await countsYet(chain, request, earlier))) continue;
    if (BigInt(answer.data) !== 0n && earlier === null) {
      const details = { number: request.number };
      alarms.push({ kind: 'number_taken', subject: request.subjectId, details });
    }
    const { id: requestId, transactionId } = request;
    outcomes.push({ requestId, transactionId, result: earlier ?? NOT_IN_TIME });
  }
  await db.transaction(async (tx) => {
    await writeOutcomes(tx, outcomes);
    await insertAlarms(tx, livemode, alarms, relayer.clock.now());
  });
  relayer.wakeups.send('chain-outcomes', 'payment');
}
