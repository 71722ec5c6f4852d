import { setTimeout as sleep } from 'node:timers/promises';
import type { Chain } from '#settlement/chain/chain.ts';
import { blocksLasting } from '#settlement/chain/patient-blocks.ts';
import { RpcUnavailable } from '#settlement/chain/rpc.ts';
import {
  eventTopics,
  readEvents,
  type SettlementEvent,
} from '#settlement/contract/contract-events.ts';
import { firstBlockOf } from '#settlement/editions.ts';
import type { OpenRequest } from '#settlement/relayer/machine/transaction.ts';
import { eventResult, type Result } from '#settlement/relayer/rows/facts.ts';
import { answers, contractOfRequest, KINDS } from '#settlement/relayer/rows/kinds.ts';
import { payloadOf } from '#settlement/relayer/rows/payloads.ts';
import type { Hex } from '#settlement/requests.ts';

/**
 * The contract says that this was done before. Finds the event that did it, newest blocks first: an
 * earlier transaction of ours that was mined after all, or one from before the database was
 * restored. null: the event does not match the request, so something else has used its number.
 * @throws RpcUnavailable when there is no event: what was done has one, so a node left it out.
 */
export async function findEarlier(chain: Chain, request: OpenRequest): Promise<Result | null> {
  const { topics } = KINDS[request.kind];
  if (topics === null) return null;
  const address = contractOfRequest(request, chain.config);
  for await (const event of eventsBackwards(chain, { address, topics: topics(request) })) {
    // The contract does nothing twice under one number, so this event is the only one.
    if (!answers(event, request)) return null;
    const block = await chain.block(event.blockNumber);
    if (block === null) throw new RpcUnavailable('the block of an event is gone');
    return eventResult(event, block.time, chain.config.chainId);
  }
  throw new RpcUnavailable('no node has the event of what the contract says was done');
}

/**
 * The refund's own event, which bytes have made that its request has no more. The contract does not
 * refuse a refund by its reference: only the sums tell that it was paid. null: it was not, as far
 * as a node shows. Refunds of an earlier release have no reference to look for.
 */
export async function findRefund(
  chain: Chain,
  request: OpenRequest,
  payment: { readonly number: bigint; readonly address: Hex },
): Promise<Result | null> {
  if (payloadOf(request, 'refund').reference === undefined) return null;
  const { number, address } = payment;
  const topics = eventTopics({ event: 'PaymentRefunded', number });
  for await (const event of eventsBackwards(chain, { address, topics })) {
    if (!answers(event, request)) continue;
    const block = await chain.block(event.blockNumber);
    if (block === null) throw new RpcUnavailable('the block of an event is gone');
    return eventResult(event, block.time, chain.config.chainId);
  }
  return null;
}

/** Nodes behind one address differ by fewer blocks, and by less than they take at one a second. */
const NEAR_BLOCKS = 64;
/** The calls of one batch may be answered by different nodes, and those that lag leave logs out. */
const NEAR_LOOKS = 3;
const NEAR_LOOK_MS = 200;

/** The newest blocks several times, then the older ones, on which all nodes agree. */
async function* eventsBackwards(
  chain: Chain,
  wanted: { readonly address: Hex; readonly topics: readonly (Hex | null)[] },
): AsyncGenerator<SettlementEvent> {
  const first = firstBlockOf(chain.config);
  const reach = blocksLasting(chain.config, { blocks: NEAR_BLOCKS });
  let oldest = 0n;
  for (let look = 0; look < NEAR_LOOKS; look++) {
    if (look > 0) await sleep(NEAR_LOOK_MS);
    const { number: toBlock } = await chain.newest();
    const near = toBlock - reach;
    const fromBlock = near > first ? near : first;
    if (look === 0) oldest = fromBlock;
    yield* eventsIn(chain, { fromBlock, toBlock, ...wanted });
  }
  yield* eventsIn(chain, { fromBlock: first, toBlock: oldest - 1n, ...wanted });
}

async function* eventsIn(
  chain: Chain,
  range: Parameters<Chain['logPortions']>[0],
): AsyncGenerator<SettlementEvent> {
  for await (const { logs } of chain.logPortions({ ...range, newestFirst: true })) {
    yield* readEvents(chain.config, logs).reverse();
  }
}
