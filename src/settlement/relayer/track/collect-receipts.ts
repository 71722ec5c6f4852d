import type { Block, Receipt } from '#settlement/chain/chain.ts';
import { blockInterval } from '#settlement/chain/read/block-times.ts';
import { finalityOf } from '#settlement/chain/read/final-block.ts';
import { askSecond, believe } from '#settlement/chain/rpc/provider-quorum.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { nowOf } from '#settlement/relayer/state-machine/chain-view.ts';
import {
  earlyReceiptAt,
  receiptsToAsk,
} from '#settlement/relayer/state-machine/decide-transaction-step.ts';
import {
  type Held,
  type Owing,
  openOf,
  type RelayerState,
} from '#settlement/relayer/state-machine/relayer-state.ts';
import type { EarlyReceipt, Observation } from '#settlement/relayer/state-machine/transaction.ts';
import { countingNow, type Mined } from '#settlement/relayer/track/choose-results-that-count.ts';
import { carryOutAll } from '#settlement/relayer/track/resend-or-replace-overdue.ts';
import { finish } from '#settlement/relayer/track/store-job-results.ts';
import { ancestorOf } from '#settlement/relayer/track/watch-heads.ts';

/**
 * Finds open transactions on the chain and stores their results. One request per block covers the
 * transactions that the head lists and those whose state is unknown.
 * @returns the number of transactions that had enough confirmations.
 */
export async function collectReceipts(relayer: RelayerState, head: Block): Promise<number> {
  await readFinality(relayer, head);
  const requests = whomToAsk(relayer, head);
  if (requests.length === 0) return 0;
  const answers = await askForReceipts(relayer, requests, head);
  const mined = await withBlocks(relayer, head, observeFound(answers, head));
  for (const portion of inPortions(mined, ({ transaction }) => transaction.requests.length)) {
    await finish(relayer, await countingNow(relayer, portion, head));
  }
  // Customers wait for results, so they are written first.
  await carryOutAll(observeMissing(answers, head));
  return mined.length;
}

/** A transaction, and the hashes of its broadcasts whose receipts are requested. */
type ReceiptRequest = Held & { readonly hashes: readonly Hex[] };

function whomToAsk(relayer: RelayerState, head: Block): ReceiptRequest[] {
  const { confirmations, confirmationsMs } = relayer.chain.config;
  const everything = confirmations > 0 || confirmationsMs > 0;
  const at = { now: nowOf(relayer, head), listed: new Set(head.transactions), everything };
  return openOf(relayer).flatMap(({ sender, transaction }): ReceiptRequest[] => {
    const hashes = receiptsToAsk(transaction, at);
    return hashes.length === 0 ? [] : [{ sender, transaction, hashes }];
  });
}

/**
 * `receipt` is `null` if none of the broadcasts is in a block, and `undefined` if that is unknown.
 */
type Answered = ReceiptRequest & { readonly receipt: Receipt | null | undefined };

async function askForReceipts(
  relayer: RelayerState,
  requests: readonly ReceiptRequest[],
  head: Block,
): Promise<Answered[]> {
  const { chain } = relayer;
  const now = nowOf(relayer, head);
  const early = new Map<Hex, EarlyReceipt>();
  for (const { sender, transaction, hashes } of requests) {
    const one = earlyReceiptAt(transaction, now);
    if (one !== null && hashes.includes(one.receipt.txHash)) early.set(one.receipt.txHash, one);
    sender.observe(transaction, { kind: 'receipt_asked' }, head);
  }
  const all = requests.flatMap(({ hashes }) => hashes);
  const remaining = all.filter((hash) => !early.has(hash));
  const [answers, ...seconds] = await Promise.all([
    chain.receipts(remaining),
    askSecond(chain, remaining),
    ...[...early.values()].map(({ second }) => second),
  ]);
  const answered = new Map(remaining.map((hash, index) => [hash, answers[index]]));
  const receipts = all.map((hash) => early.get(hash)?.receipt ?? answered.get(hash));
  const known = seconds.filter((one) => one !== null);
  const believed = await believe(chain, receipts, { head, seconds: known });
  const byHash = new Map(all.map((hash, index) => [hash, believed[index]]));
  return requests.map((one) => {
    const ofEach = one.hashes.map((hash) => byHash.get(hash));
    const mined = ofEach.find((receipt) => receipt);
    return { ...one, receipt: mined ?? (ofEach.includes(undefined) ? undefined : null) };
  });
}

type FoundReceipt = Omit<Mined, 'block' | 'seenAt'>;

/** @returns the transactions with enough confirmations. */
function observeFound(answers: readonly Answered[], head: Block): FoundReceipt[] {
  return answers.flatMap(({ sender, transaction, receipt }) => {
    if (!receipt) return [];
    const { effects } = sender.observe(transaction, { kind: 'receipt', receipt }, head);
    const isDeep = effects.some(({ kind }) => kind === 'read_result');
    return isDeep ? [{ sender, transaction, receipt }] : [];
  });
}

function observeMissing(answers: readonly Answered[], head: Block): Owing[] {
  const listed = new Set(head.transactions);
  return answers.flatMap(({ sender, transaction, receipt }) => {
    if (receipt) return [];
    const isListed = transaction.attempts.some(({ hash }) => listed.has(hash));
    const observation: Observation =
      receipt === null ? { kind: 'no_receipt', isListed } : { kind: 'receipt_unanswered' };
    return [sender.observe(transaction, observation, head)];
  });
}

/** Reads the latest safe and finalized blocks if a transaction waits for one of them. */
async function readFinality(relayer: RelayerState, head: Block): Promise<void> {
  const { finality, chain } = relayer;
  if (performance.now() - finality.readAt < chain.config.idleHeadMs * FINALITY_SHARE) return;
  const isWaiting = openOf(relayer).some(({ transaction: one }) => {
    return one.phase === 'confirming' && one.rule.waitsFor !== 'time';
  });
  if (!isWaiting) return;
  const read = await finalityOf(chain, head.number);
  relayer.see({ finality: { ...read, readAt: performance.now() } });
}

/**
 * Interval at which safe and final blocks are read, as a share of the idle poll interval. A new
 * safe block appears every few seconds.
 */
const FINALITY_SHARE = 1 / 3;

async function withBlocks(
  relayer: RelayerState,
  head: Block,
  receipts: readonly FoundReceipt[],
): Promise<Mined[]> {
  const { chain, recentBlocks, clock, blockTimes } = relayer;
  const intervalMs = blockInterval(blockTimes) ?? chain.config.profile.blockMs ?? SHORT_BLOCK_MS;
  const isFast = intervalMs < SHORT_BLOCK_MS;
  const known = new Map<string, Mined['block']>([[head.hash, head]]);
  const missing = new Set<bigint>();
  for (const { receipt } of receipts) {
    const recent = ancestorOf(recentBlocks, head, receipt.blockNumber);
    if (recent !== null) known.set(recent.hash, recent);
    if (!known.has(receipt.blockHash)) missing.add(receipt.blockNumber);
  }
  for (const block of await chain.blocks([...missing])) {
    if (block) known.set(block.hash, block);
  }
  // A block that no node returned is on a fork that is being abandoned. The next poll decides.
  return receipts.flatMap(({ sender, transaction, receipt }) => {
    const block = known.get(receipt.blockHash);
    if (block === undefined) return [];
    const seenAt = isFast ? (recentBlocks.get(receipt.blockHash)?.seenAt ?? clock.now()) : null;
    return [{ sender, transaction, receipt, block, seenAt }];
  });
}

/**
 * Below this block interval, blocks share a timestamp, which then says little about when a customer
 * paid.
 */
const SHORT_BLOCK_MS = 1_000;

/**
 * Number of jobs in the first group of results that are stored together. The payments domain
 * processes one group while the next is read. Groups grow, because each group costs two database
 * transactions.
 */
export const FIRST_PORTION = 64;
const PORTION_GROWTH = 2;

/**
 * Divides transactions, in order, into groups by their number of jobs. A transaction is never
 * split: a group ends where it is closest to its target size.
 */
export function inPortions<T>(all: readonly T[], sizeOf: (one: T) => number): T[][] {
  let portion: T[] = [];
  const portions = [portion];
  let limit = FIRST_PORTION;
  let size = 0;
  for (const one of all) {
    const next = size + sizeOf(one);
    if (size > 0 && next - limit > limit - size) {
      portion = [];
      portions.push(portion);
      size = 0;
      limit *= PORTION_GROWTH;
    }
    portion.push(one);
    size += sizeOf(one);
  }
  return portions;
}
