import type { RawLog } from '#settlement/contract-events.ts';
import type { Hex } from '#settlement/requests.ts';
import { type Rpc, RpcUnavailable } from '#settlement/rpc.ts';
import type { Address } from '#settlement/rpc-address.ts';
import type { NodeFault, Reply, RpcCall } from '#settlement/rpc-reply.ts';

export interface LogQuestion {
  readonly address: Hex;
  readonly topics: readonly (Hex | null)[];
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
  /** Which end to begin with. */
  readonly newestFirst: boolean;
}

/** What a node gave of a range in one answer. */
export interface LogPortion {
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
  readonly logs: readonly RawLog[];
}

/**
 * The logs at one end of a range, as much as one address gives at once. A refused range is halved,
 * down to one block; what an address allows is remembered. A refusal that nobody knows goes to the
 * next address first, and is taken for one of the range when they all have one.
 * @throws RpcUnavailable
 */
export async function readLogPortion(rpc: Rpc, question: LogQuestion): Promise<LogPortion> {
  const whole = question.toBlock - question.fromBlock + 1n;
  let cause: NodeFault | null = null;
  for (let width = whole; width >= 1n; width /= 2n) {
    let isUnknown = false;
    for (const address of rpc.inOrder()) {
      const got = await askHalving(address, question, width);
      if ('logs' in got) return got;
      cause = got;
      isUnknown ||= got.kind === 'unknown';
    }
    if (!isUnknown) break;
  }
  throw new RpcUnavailable('no node of the chain gives logs', { cause });
}

async function askHalving(
  address: Address,
  question: LogQuestion,
  atMost: bigint,
): Promise<LogPortion | NodeFault> {
  let width = atMost < address.logWidth ? atMost : address.logWidth;
  for (;;) {
    const portion = portionOf(question, width);
    const [logs, last] = await address.ask(callsOf(question, portion), { urgent: false });
    if (logs?.status === 'answered' && last?.status === 'answered') {
      return { ...portion, logs: logs.result as RawLog[] };
    }
    const fault = faultOf(logs) ?? faultOf(last);
    if (fault === null) throw new RpcUnavailable('a node refused logs as if it had run them');
    const isTooWide = fault.kind === 'range' || fault.kind === 'results';
    if (!isTooWide || width === 1n) return fault;
    width /= 2n;
    // Too many logs is a matter of these blocks, not of the address.
    if (fault.kind === 'range') address.logWidth = width;
  }
}

function portionOf(question: LogQuestion, width: bigint) {
  const { fromBlock, toBlock, newestFirst } = question;
  if (toBlock - fromBlock < width) return { fromBlock, toBlock };
  return newestFirst
    ? { fromBlock: toBlock - width + 1n, toBlock }
    : { fromBlock, toBlock: fromBlock + width - 1n };
}

/**
 * A node that lags behind answers with too few logs and says nothing: it is asked for the last
 * block as well.
 */
function callsOf(
  { address, topics }: LogQuestion,
  { fromBlock, toBlock }: Omit<LogPortion, 'logs'>,
): RpcCall[] {
  const [from, to] = [fromBlock, toBlock].map((number) => `0x${number.toString(16)}`);
  const filter = { fromBlock: from, toBlock: to, address, topics };
  return [
    { method: 'eth_getLogs', params: [filter] },
    {
      method: 'eth_getBlockByNumber',
      params: [to, false],
      accepts: (block) => block !== null,
    },
  ];
}

function faultOf(reply: Reply | undefined): NodeFault | null {
  return reply?.status === 'passed' ? reply.fault : null;
}
