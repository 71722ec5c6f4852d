import { assertNever, present } from '#core/assert.ts';
import type { Chain } from '#settlement/chain.ts';
import { merchantReference } from '#settlement/contract-calls.ts';
import { eventTopics, readEvents, type SettlementEvent } from '#settlement/contract-events.ts';
import { answers, eventResult, type Result } from '#settlement/facts.ts';
import { numberOf, payloadOf } from '#settlement/payloads.ts';
import type { OpenRequest } from '#settlement/relayer-state.ts';
import type { Hex } from '#settlement/requests.ts';
import { RpcUnavailable } from '#settlement/rpc.ts';

/**
 * The contract says that this was done before. Finds the event that did it, newest blocks first:
 * an earlier transaction of ours that was mined after all, or one from before a database was
 * restored. null: the event does not match the request, so somebody else's work has its number.
 */
export async function findEarlier(chain: Chain, request: OpenRequest): Promise<Result | null> {
  const topics = topicsOf(request);
  if (topics === null) return null;
  for await (const event of eventsBackwards(chain, topics)) {
    if (!answers(event, request)) continue;
    const block = await chain.block(event.blockNumber);
    if (block === null) throw new RpcUnavailable('the block of an event is gone');
    return eventResult(event, block.time, chain.config.chainId);
  }
  return null;
}

function topicsOf(request: OpenRequest): (Hex | null)[] | null {
  switch (request.kind) {
    case 'payment':
      return eventTopics({ event: 'PaymentSettled', number: numberOf(request) });
    case 'withdrawal':
      return eventTopics({ event: 'Withdrawn', number: numberOf(request) });
    case 'merchant_registration': {
      const { accountId } = payloadOf(request, 'merchant_registration');
      const reference = merchantReference(accountId);
      return eventTopics({ event: 'MerchantRegistered', reference });
    }
    // The contract never says of a refund that it was done before.
    case 'refund':
    case 'wallet_change':
    case 'enrolment':
    case 'faucet':
      return null;
    default:
      return assertNever(request.kind);
  }
}

async function* eventsBackwards(
  chain: Chain,
  topics: readonly (Hex | null)[],
): AsyncGenerator<SettlementEvent> {
  const head = present(await chain.block('latest'), 'newest block');
  const range = { fromBlock: chain.config.deployedAtBlock, toBlock: head.number };
  for await (const { logs } of chain.logPortions({ ...range, topics, newestFirst: true })) {
    yield* readEvents(chain.config.settlement, logs).reverse();
  }
}
