import { setTimeout as sleep } from 'node:timers/promises';
import { getAbiItem, pad, toEventSelector } from 'viem';
import type { Alarm } from '#settlement/alarms.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { blocksLasting } from '#settlement/chain/check/timeout-blocks.ts';
import { isAuthorizationUsed } from '#settlement/chain/read/payer-balance.ts';
import { RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import type { Hex, RequestPayloads } from '#settlement/chain-requests.ts';
import {
  eventTopics,
  readEvents,
  type SettlementEvent,
} from '#settlement/contract/contract-events.ts';
import { firstBlockOf } from '#settlement/contract-versions.ts';
import {
  answers,
  contractOfRequest,
  eventResult,
  failed,
  failureOf,
  KINDS,
  payloadOf,
  placeOf,
  type Result,
} from '#settlement/relayer/jobs/request-kinds.ts';
import type { OpenRequest } from '#settlement/relayer/state-machine/transaction.ts';
import { testUsdcAbi } from '../../../../contracts/artifacts/TestUSDC.ts';

/**
 * Returns the earlier result of a job that the contract refuses as already done; a failure and an
 * alarm if something else used its number.
 */
export async function doneBefore(
  chain: Chain,
  request: OpenRequest,
  txHash: Hex | null,
): Promise<{ readonly result: Result; readonly alarm: Alarm | null }> {
  const earlier = await findEarlier(chain, request);
  if (earlier !== null) return { result: earlier, alarm: null };
  const { kind, number, subjectId: subject } = request;
  const alarm = { kind: 'number_taken', subject, details: { kind, number, txHash } };
  return { result: failed(failureOf(kind, null), txHash), alarm };
}

/**
 * Finds the event that shows the job as done, newest blocks first. It may come from an earlier
 * transaction of ours that was mined after all, or from one before the database was restored.
 * `null` if the event does not match the job, so that something else used its number.
 * @throws RpcUnavailable if there is no event: one must exist, so a node has omitted it.
 */
async function findEarlier(chain: Chain, request: OpenRequest): Promise<Result | null> {
  const expected = KINDS[request.kind].event?.(request);
  if (expected === undefined || expected.event === 'PaymentRefunded') return null;
  const address = contractOfRequest(request, chain.config);
  // The contract does nothing twice under one number, so there is only one event.
  for await (const event of eventsBackwards(chain, address, expected)) {
    return answers(event, request) ? resultOf(chain, event) : null;
  }
  throw new RpcUnavailable('no node returned the event of an action that the contract has done');
}

export interface SettledPayment {
  readonly number: bigint;
  readonly address: Hex;
}

/**
 * Finds the event of a refund whose own transaction no longer carries its job. The contract does
 * not refuse a repeated reference, so only the sums show whether it was paid. `null` if a node
 * shows no such event.
 */
export async function findRefund(
  chain: Chain,
  request: OpenRequest,
  { number, address }: SettledPayment,
): Promise<Result | null> {
  const expected = { event: 'PaymentRefunded', number } as const;
  for await (const event of eventsBackwards(chain, address, expected)) {
    if (answers(event, request)) return resultOf(chain, event);
  }
  return null;
}

async function resultOf(chain: Chain, event: SettlementEvent): Promise<Result> {
  return eventResult(event, await blockOf(chain, event.blockNumber), chain.config.chainId);
}

async function blockOf(chain: Chain, number: bigint): Promise<{ readonly time: Date }> {
  const block = await chain.block(number);
  if (block === null) throw new RpcUnavailable('the block of an event was reorganized');
  return block;
}

/** More blocks, and more time, than the lag between nodes behind one address. */
const NEAR_BLOCKS = 64;
const NEAR_LOOKS = 3;
const NEAR_LOOK_MS = 200;

/**
 * Yields the events of the newest blocks several times, because lagging nodes omit logs. Then
 * yields those of the older blocks, on which all nodes agree.
 */
async function* eventsBackwards(
  chain: Chain,
  address: Hex,
  expected: Parameters<typeof eventTopics>[0],
): AsyncGenerator<SettlementEvent> {
  const filter = { address, topics: eventTopics(expected) };
  const first = firstBlockOf(chain.config);
  const reach = blocksLasting(chain.config, { blocks: NEAR_BLOCKS });
  let oldest = 0n;
  for (let look = 0; look < NEAR_LOOKS; look++) {
    if (look > 0) await sleep(NEAR_LOOK_MS);
    const { number: toBlock } = await chain.newest();
    const near = toBlock - reach;
    const fromBlock = near > first ? near : first;
    if (look === 0) oldest = fromBlock;
    yield* eventsIn(chain, { fromBlock, toBlock, ...filter });
  }
  yield* eventsIn(chain, { fromBlock: first, toBlock: oldest - 1n, ...filter });
}

async function* eventsIn(
  chain: Chain,
  range: Parameters<Chain['logPortions']>[0],
): AsyncGenerator<SettlementEvent> {
  for await (const { logs } of chain.logPortions({ ...range, newestFirst: true })) {
    yield* readEvents(chain.config, logs).reverse();
  }
}

/**
 * Longer than any reorganization: a block that replaces an earlier one could still accept the
 * transfer.
 */
const DEAD_AFTER_MS = 60_000;

type Transfer = RequestPayloads['transfer'];

const selectorOf = (name: 'AuthorizationUsed' | 'AuthorizationCanceled') =>
  toEventSelector(getAbiItem({ abi: testUsdcAbi, name }));
const USED = selectorOf('AuthorizationUsed');
const CANCELED = selectorOf('AuthorizationCanceled');

/**
 * Returns the result of a payer's transfer that the token now refuses. Any account that saw the
 * authorization may have sent it, and so may this service before the database was restored. The
 * transfer therefore succeeded if the token's own event says so. It failed only if the token can
 * never accept it again, because users send again after a failure.
 * @throws RpcUnavailable while neither is known.
 */
export async function endOfTransfer(chain: Chain, request: OpenRequest): Promise<Result> {
  const transfer = payloadOf(request, 'transfer');
  const head = await chain.newest();
  // Read the state at the same block as the time; a node that lags behind this block cannot answer.
  if (await isAuthorizationUsed(chain, transfer, head.number)) {
    return resultOfTransfer(chain, transfer, head.number);
  }
  const endsAt = Number(transfer.validBefore) * 1000;
  if (head.time.getTime() < endsAt + DEAD_AFTER_MS) {
    throw new RpcUnavailable('the token refuses the transfer now, but could still accept it');
  }
  return failed('transaction_reverted', null);
}

async function resultOfTransfer(
  chain: Chain,
  { from, nonce }: Transfer,
  toBlock: bigint,
): Promise<Result> {
  const { usdc: address, deployedAtBlock: fromBlock } = chain.config;
  // Both events, of use and of cancellation, have the owner and the nonce at the same positions.
  const topics = [null, pad(from), nonce];
  const filter = { address, fromBlock, toBlock, topics, newestFirst: true };
  for await (const { logs } of chain.logPortions(filter)) {
    for (const log of logs) {
      const [event] = log.topics;
      const txHash = log.transactionHash;
      if (event === CANCELED) return failed('transaction_reverted', txHash);
      if (event !== USED) continue;
      const blockNumber = BigInt(log.blockNumber);
      const position = { txHash, blockNumber, logIndex: Number(log.logIndex) };
      return {
        succeeded: true,
        facts: placeOf(position, (await blockOf(chain, blockNumber)).time),
      };
    }
  }
  throw new RpcUnavailable('no node returned the event of a used authorization');
}
