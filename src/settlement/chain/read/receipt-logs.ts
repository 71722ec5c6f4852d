import {
  type LogPortion,
  type LogQuestion,
  portionOf,
} from '#settlement/chain/rpc/next-log-portion.ts';
import { type Rpc, RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import type { RawLog } from '#settlement/contract/contract-events.ts';

/**
 * Reads logs without `eth_getLogs`: receipts contain them too, and nodes that return no logs
 * (because of the operator's plan, or a pruned index) still return the receipts of a block. This is
 * a last resort, because it requests every block; without it, such a node would prevent the
 * comparison of the ledger with the chain.
 */

/** Blocks per round; each block takes two calls. */
const BLOCKS = 10n;
/** Receipts per request, if they are requested individually. */
const RECEIPTS = 50;

/**
 * Reads the logs of ten blocks at one end of a range from receipts. A log must never be omitted.
 * @throws RpcUnavailable if a block or a receipt is missing.
 */
export async function readReceiptLogs(rpc: Rpc, question: LogQuestion): Promise<LogPortion> {
  const portion = portionOf(question, BLOCKS);
  const numbers: Hex[] = [];
  for (let number = portion.fromBlock; number <= portion.toBlock; number++) {
    numbers.push(`0x${number.toString(16)}`);
  }
  const calls = numbers.flatMap((number) => [
    { method: 'eth_getBlockByNumber', params: [number, false] },
    { method: 'eth_getBlockReceipts', params: [number] },
  ]);
  const answers = await rpc.batch(calls);
  const logs: RawLog[] = [];
  let requests = calls.length;
  for (const [index] of numbers.entries()) {
    const [block, whole] = [answers[index * 2], answers[index * 2 + 1]];
    if (block?.ok !== true || block.result === null) throw missing();
    const { hash, transactions } = block.result as RawBlock;
    const told = whole?.ok === true ? (whole.result as RawReceipt[] | null) : null;
    const receipts = told ?? (await readOneByOne(rpc, transactions));
    if (told === null) requests += transactions.length;
    logs.push(...logsIn({ hash, transactions, receipts }));
  }
  return { ...portion, requests, logs: logs.filter((log) => isAsked(log, question)) };
}

interface RawBlock {
  readonly hash: Hex;
  readonly transactions: readonly Hex[];
}

interface RawReceipt {
  readonly transactionHash: Hex;
  readonly blockHash: Hex;
  readonly logs: readonly RawLog[];
}

function missing(): RpcUnavailable {
  return new RpcUnavailable('no node of the chain returned the logs, or all receipts of a block');
}

async function readOneByOne(rpc: Rpc, hashes: readonly Hex[]): Promise<RawReceipt[]> {
  const receipts: RawReceipt[] = [];
  for (let at = 0; at < hashes.length; at += RECEIPTS) {
    const some = hashes.slice(at, at + RECEIPTS);
    const calls = some.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] }));
    for (const answer of await rpc.batch(calls)) {
      if (!answer.ok || answer.result === null) throw missing();
      receipts.push(answer.result as RawReceipt);
    }
  }
  return receipts;
}

/** @throws RpcUnavailable if a receipt is missing. */
function logsIn(block: RawBlock & { readonly receipts: readonly RawReceipt[] }): RawLog[] {
  const byHash = new Map(block.receipts.map((receipt) => [receipt.transactionHash, receipt]));
  return block.transactions.flatMap((hash) => {
    const receipt = byHash.get(hash);
    if (receipt?.blockHash !== block.hash) throw missing();
    return [...receipt.logs];
  });
}

function isAsked(log: RawLog, { addresses, topics }: LogQuestion): boolean {
  const from = log.address.toLowerCase();
  if (!addresses.some((address) => address.toLowerCase() === from)) return false;
  return topics.every((topic, at) => topic === null || log.topics[at] === topic.toLowerCase());
}
