import { present } from '#core/assert.ts';
import { RecentMap } from '#core/size-limited-map.ts';
import type { Log } from '#observability/log.ts';
import type {
  Block,
  BlockTag,
  Chain,
  EthCall,
  NewestWith,
  Receipt,
} from '#settlement/chain/chain.ts';
import { createHeadComparison } from '#settlement/chain/rpc/compare-heads.ts';
import {
  quantity,
  type RawBlock,
  type RawReceipt,
  tagText,
  toBlock,
  toReceipt,
  toRevert,
  unavailable,
} from '#settlement/chain/rpc/decode-call-answers.ts';
import { readLogPortion } from '#settlement/chain/rpc/halve-log-ranges.ts';
import type { LogPortion } from '#settlement/chain/rpc/next-log-portion.ts';
import { type Rpc, type RpcAnswer, RpcRefusal, RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import type { RawLog } from '#settlement/contract/contract-events.ts';
import { timelockOf } from '#settlement/contract/timelock-calls.ts';
import { type Contracts, contractsOf } from '#settlement/contract-versions.ts';

export function readChain(
  { config, rpc }: Pick<Chain, 'config' | 'rpc'>,
  log: Log,
): Omit<Chain, 'refreshToken' | 'checkAtStart' | 'isChecked' | 'refuted' | 'close'> {
  const block = (tag: BlockTag) => readBlock(rpc, tag);
  const portions: Chain['logPortions'] = (filter) => readPortions(rpc, config, filter);
  const quantities = async (method: string, addresses: readonly Hex[], at: BlockTag) => {
    const calls = addresses.map((address) => ({ method, params: [address, tagText(at)] }));
    return (await rpc.batch(calls)).map((answer) => {
      if (answer.ok) return BigInt(answer.result as Hex);
      throw unavailable(answer.refusal);
    });
  };
  return {
    config,
    rpc,
    block,
    newest: async () => present(await block('latest'), 'newest block'),
    newestWith: (hashes) => readNewestWith(rpc, hashes),
    compareHeads: createHeadComparison({ rpc, config }, log),
    blocks: (numbers) => {
      const params = numbers.map((number) => [quantity(number), false]);
      return readEach(rpc, 'eth_getBlockByNumber', params, (raw) => toBlock(raw as RawBlock));
    },
    receipts: async (hashes) => readReceipts(await rpc.batch(receiptCalls(hashes))),
    calls: async (calls, at = 'latest', priority = {}) => {
      const requests = calls.map((call) => toCall(call, at));
      return (await rpc.batch(requests, priority)).map((answer) =>
        answer.ok ? { ok: true, data: answer.result as Hex } : toRevert(answer.refusal),
      );
    },
    nonces: (addresses, at = 'latest') => quantities('eth_getTransactionCount', addresses, at),
    balances: (addresses) => quantities('eth_getBalance', addresses, 'latest'),
    logs: async (filter) => {
      const logs: RawLog[] = [];
      for await (const portion of portions(filter)) logs.push(...portion.logs);
      return logs;
    },
    logPortions: portions,
    remember: createMemory(),
  };
}

/** More kinds of readings than a process has. Those of past sizes and senders are dropped. */
const MAX_READINGS = 500;

function createMemory(): Chain['remember'] {
  const readings = new RecentMap<{ readonly at: number; readonly value: Promise<unknown> }>(
    MAX_READINGS,
  );
  return <T>(what: string, maxAgeMs: number, read: () => Promise<T>) => {
    const last = readings.get(what);
    if (last !== undefined && performance.now() - last.at < maxAgeMs)
      return last.value as Promise<T>;
    const value = read();
    readings.set(what, { at: performance.now(), value });
    value.catch(() => readings.delete(what));
    return value;
  };
}

/**
 * Parses each result separately: a result that a node omits or refuses is `undefined`, and the
 * others are kept.
 */
async function readEach<T>(
  rpc: Rpc,
  method: string,
  params: readonly (readonly unknown[])[],
  read: (raw: unknown, host: string) => T | null,
): Promise<(T | null | undefined)[]> {
  const answers = await rpc.batch(params.map((one) => ({ method, params: one })));
  return answers.map((answer) => readOne(answer, read));
}

function readOne<T>(
  answer: RpcAnswer,
  read: (raw: unknown, host: string) => T | null,
): T | null | undefined {
  if (!answer.ok) return undefined;
  return answer.result === null ? null : read(answer.result, answer.host);
}

function receiptCalls(hashes: readonly Hex[]) {
  return hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] }));
}

function readReceipts(answers: readonly RpcAnswer[]): (Receipt | null | undefined)[] {
  return answers.map((answer) =>
    readOne(answer, (raw, host) => toReceipt(raw as RawReceipt, host)),
  );
}

function blockCall(tag: BlockTag) {
  return { method: 'eth_getBlockByNumber', params: [tagText(tag), false] };
}

async function readNewestWith(rpc: Rpc, hashes: readonly Hex[]): Promise<NewestWith> {
  const [newest, ...rest] = await rpc.batch([blockCall('latest'), ...receiptCalls(hashes)]);
  if (newest?.ok !== true) throw unavailable(newest?.refusal ?? new RpcUnavailable('no answer'));
  const block = present(newest.result, 'newest block');
  return { block: toBlock(block as RawBlock), receipts: readReceipts(rest) };
}

async function readBlock(rpc: Rpc, tag: BlockTag): Promise<Block | null> {
  const [answer] = await rpc.batch([blockCall(tag)]);
  if (answer?.ok === true) {
    return answer.result === null ? null : toBlock(answer.result as RawBlock);
  }
  // Chains without finality reject these tags.
  const isOfFinality = tag === 'finalized' || tag === 'safe';
  if (isOfFinality && answer?.refusal instanceof RpcRefusal) return null;
  throw unavailable(answer?.refusal ?? new RpcUnavailable('no answer'));
}

async function* readPortions(
  rpc: Rpc,
  contracts: Contracts,
  filter: Parameters<Chain['logPortions']>[0],
): AsyncGenerator<LogPortion> {
  const { topics = [], newestFirst = false, width } = filter;
  const addresses =
    filter.address === undefined
      ? contractsOf(contracts).flatMap(({ settlement }) => [settlement, timelockOf(settlement)])
      : [filter.address].flat();
  let { fromBlock, toBlock } = filter;
  while (fromBlock <= toBlock) {
    const range = { fromBlock, toBlock, newestFirst };
    const portion = await readLogPortion(rpc, {
      ...{ addresses, topics, ...range },
      ...(width === undefined ? {} : { width }),
    });
    yield portion;
    if (newestFirst) toBlock = portion.fromBlock - 1n;
    else fromBlock = portion.toBlock + 1n;
  }
}

function toCall({ words, ...call }: EthCall, at: BlockTag) {
  const isLong = (result: unknown) =>
    typeof result === 'string' && (words === 'any' || result.length === 2 + words * WORD_DIGITS);
  return { method: 'eth_call', params: [call, tagText(at)], accepts: isLong };
}

const WORD_DIGITS = 64;
