import { readReceiptLogs } from '#settlement/chain/read/receipt-logs.ts';
import { quantity } from '#settlement/chain/rpc/decode-call-answers.ts';
import {
  type BlockRange,
  type LogPortion,
  type LogQuestion,
  portionOf,
} from '#settlement/chain/rpc/next-log-portion.ts';
import { type Rpc, RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import { type Address, LOG_WIDTH } from '#settlement/chain/rpc/rpc-address.ts';
import type { NodeFault, Reply, RpcCall } from '#settlement/chain/rpc/rpc-reply.ts';
import type { RawLog } from '#settlement/contract/contract-events.ts';

/**
 * A provider that refused all logs gets no requests for logs during this time. Each such request
 * would cost a series of refusals, and receipts contain the same logs.
 */
const NO_LOGS_MEMORY_MS = 600_000;
/**
 * A provider's limit on the range is remembered for this long. The limit may be temporary; if it is
 * not, halving the range finds it again.
 */
const NARROW_MEMORY_MS = 600_000;

/**
 * Returns as many logs from one end of a range as a provider returns in one response. If the range
 * is refused or too slow, it is halved, down to one block; a provider's limit is remembered. After
 * an unknown refusal the next provider is tried. If no provider returns logs, they are read from
 * the blocks' receipts.
 * @throws RpcUnavailable
 */
export async function readLogPortion(rpc: Rpc, question: LogQuestion): Promise<LogPortion> {
  const whole = question.toBlock - question.fromBlock + 1n;
  const refusing: Address[] = [];
  let cause: NodeFault | null = null;
  let requests = 0;
  for (let width = whole; width >= 1n; width /= 2n) {
    let isUnknown = false;
    for (const address of rpc.inOrder()) {
      if (performance.now() < address.noLogsUntil) continue;
      const { got, asked } = await askHalving(address, question, width);
      requests += asked;
      if ('logs' in got) return { ...got, requests };
      cause = got;
      if (GIVES_NONE.includes(got.kind)) refusing.push(address);
      isUnknown ||= got.kind === 'unknown';
    }
    if (!isUnknown) break;
  }
  const isKnown = rpc.inOrder().some((address) => performance.now() < address.noLogsUntil);
  if (!isKnown && refusing.length === 0) {
    throw new RpcUnavailable('no node of the chain returned the logs', { cause });
  }
  const portion = await readReceiptLogs(rpc, question);
  // The node returned the receipts, so it has the block and refuses only logs.
  for (const address of refusing) address.noLogsUntil = performance.now() + NO_LOGS_MEMORY_MS;
  return { ...portion, requests: requests + portion.requests };
}

/**
 * Faults that mean that the provider will not return these logs. Others, such as rate limits, are
 * temporary.
 */
const GIVES_NONE: readonly NodeFault['kind'][] = [
  'range',
  'results',
  'slow',
  'missing',
  'unsupported',
  'access',
  'unknown',
];

async function askHalving(
  address: Address,
  question: LogQuestion,
  atMost: bigint,
): Promise<{
  readonly got: Omit<LogPortion, 'requests'> | NodeFault;
  /** The number of calls. */
  readonly asked: number;
}> {
  const { width: most = LOG_WIDTH } = question;
  const narrowed = address.logWidths.get(most);
  const limit = narrowed && performance.now() <= narrowed.until ? narrowed.width : most;
  let width = atMost < limit ? atMost : limit;
  for (let asked = 2; ; asked += 2) {
    const portion = portionOf(question, width);
    const [logs, last] = await address.ask(callsOf(question, portion), { urgent: false });
    if (logs?.status === 'answered' && last?.status === 'answered') {
      return { got: { ...portion, logs: logs.result as RawLog[] }, asked };
    }
    const fault = faultOf(logs) ?? faultOf(last);
    if (fault === null)
      throw new RpcUnavailable('a node answered a request for logs with a revert');
    if (fault.kind === 'slow') {
      // Check whether the node is up. If it is down, halving would only waste time.
      asked++;
      const [alive] = await address.ask([blockCall(portion.toBlock)], { urgent: false });
      if (alive?.status !== 'answered') return { got: faultOf(alive) ?? fault, asked };
    }
    const isTooWide = ['range', 'results', 'slow'].includes(fault.kind);
    if (!isTooWide || width === 1n) return { got: fault, asked };
    width /= 2n;
    // The number of logs is a property of these blocks, not of the provider, so the limit is not
    // remembered.
    if (fault.kind === 'results') continue;
    address.logWidths.set(most, { width, until: performance.now() + NARROW_MEMORY_MS });
  }
}

/** Also requests the last block, because a lagging node returns too few logs without an error. */
function callsOf(
  { addresses, topics }: LogQuestion,
  { fromBlock, toBlock }: BlockRange,
): RpcCall[] {
  const [first] = addresses;
  const address = addresses.length === 1 ? first : addresses;
  const range = { fromBlock: quantity(fromBlock), toBlock: quantity(toBlock) };
  return [{ method: 'eth_getLogs', params: [{ ...range, address, topics }] }, blockCall(toBlock)];
}

function blockCall(number: bigint): RpcCall {
  const accepts = (block: unknown) => block !== null;
  return { method: 'eth_getBlockByNumber', params: [quantity(number), false], accepts };
}

function faultOf(reply: Reply | undefined): NodeFault | null {
  return reply?.status === 'passed' ? reply.fault : null;
}
