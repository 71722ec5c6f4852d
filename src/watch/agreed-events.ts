import { present } from '#core/assert.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { RpcRefusal, RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import {
  type RawLog,
  readEvents,
  type SettlementEvent,
} from '#settlement/contract/contract-events.ts';

/** One provider's client, which is queried independently of the others. */
export type Provider = Pick<Chain, 'block' | 'logs' | 'config' | 'rpc'>;

export interface AgreedEvent {
  readonly event: SettlementEvent;
  /** True if two providers returned the event. */
  readonly confirmed: boolean;
}

export interface AgreedEvents {
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
  /** The events that at least one provider returned. */
  readonly events: readonly AgreedEvent[];
  /** True if enough providers answered and all that answered agreed. */
  readonly agreed: boolean;
}

/**
 * Events are read only once their block has a successor, because the newest block is the most
 * likely to be reorganized.
 */
const DEPTH = 1n;
/** Maximum number of blocks per poll, for example after a long downtime. */
const MAX_BLOCKS = 2_000n;
const ENOUGH = 2;

/** Returns the provider's answer; `null` if it is unreachable or refuses the request. */
async function ask<T>(question: Promise<T>): Promise<T | null> {
  try {
    return await question;
  } catch (error) {
    if (error instanceof RpcUnavailable || error instanceof RpcRefusal) return null;
    throw error;
  }
}

/** Returns a text that identifies a log and is the same for all providers. */
function textOf(log: RawLog): string {
  const { transactionHash, blockHash, logIndex, topics, data } = log;
  const parts = [transactionHash, blockHash, String(Number(logIndex)), ...topics, data];
  return parts.join(' ').toLowerCase();
}

/**
 * Reads the contract's events from `fromBlock` up to one block below the lowest head, from each
 * provider separately.
 */
export async function readAgreed(
  providers: readonly Provider[],
  fromBlock: bigint,
): Promise<AgreedEvents | 'nothing new' | 'no node answers'> {
  const heads = await Promise.all(providers.map((one) => ask(one.block('latest'))));
  const numbers = heads.flatMap((head) => (head === null ? [] : [head.number]));
  if (numbers.length === 0) return 'no node answers';
  const last = numbers.reduce((least, number) => (number < least ? number : least)) - DEPTH;
  if (last < fromBlock) return 'nothing new';
  const toBlock = last < fromBlock + MAX_BLOCKS ? last : fromBlock + MAX_BLOCKS - 1n;
  const answers = await Promise.all(
    providers.map((one, i) =>
      heads[i] === null ? Promise.resolve(null) : ask(one.logs({ fromBlock, toBlock })),
    ),
  );
  const answered = answers.flatMap((logs) => (logs === null ? [] : [logs]));
  if (answered.length === 0) return 'no node answers';
  return { fromBlock, toBlock, ...compare(providers, answered) };
}

function compare(providers: readonly Provider[], answered: readonly (readonly RawLog[])[]) {
  const named = new Map<string, { readonly log: RawLog; times: number }>();
  for (const logs of answered) {
    for (const log of logs) {
      const text = textOf(log);
      const known = named.get(text) ?? { log, times: 0 };
      known.times++;
      named.set(text, known);
    }
  }
  const { config } = present(providers[0], 'an address of the chain');
  const events = [...named.values()].flatMap(({ log, times }) =>
    readEvents(config, [log]).map((event) => ({ event, confirmed: times >= ENOUGH })),
  );
  const alike = events.every(({ confirmed }) => confirmed);
  return { events, agreed: answered.length >= ENOUGH && alike };
}
