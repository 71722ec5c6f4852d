import { describeError } from '#core/log.ts';
import { insertAlarms } from '#settlement/alarms.ts';
import { blockInterval } from '#settlement/chain/block-rhythm.ts';
import type { Block, Receipt } from '#settlement/chain/chain.ts';
import { askSecond, believe } from '#settlement/chain/witness.ts';
import { finish, type Mined, type Resolution, resolve } from '#settlement/relayer/follow/finish.ts';
import { forgetIncluded, hasWaited, holdBack, readMarks } from '#settlement/relayer/follow/hold.ts';
import { ancestorOf } from '#settlement/relayer/follow/told-heads.ts';
import { patientBlocks } from '#settlement/relayer/rows/known-head.ts';
import type {
  HeldLane,
  OpenTransaction,
  RelayerState,
  ToldReceipt,
} from '#settlement/relayer/rows/state.ts';
import type { Hex } from '#settlement/requests.ts';

/**
 * Finds which open transactions are in the chain and writes their outcomes. One question per
 * block: for those that the head lists, or for all after a gap, a fault or a new lane.
 */
export async function collectReceipts(relayer: RelayerState, head: Block): Promise<number> {
  await readMarks(relayer, head);
  const wanted = candidates(relayer, head);
  if (wanted.length === 0) return 0;
  relayer.recheckAll = true;
  const listed = new Set(head.transactions);
  const receipts = await readReceipts(relayer, wanted, head);
  const deep = wanted.flatMap((one, index) => {
    const receipt = receipts[index] ?? null;
    return receipt !== null && isDeep(relayer, { ...one, receipt }, head)
      ? [{ ...one, receipt }]
      : [];
  });
  const mined = await withBlocks(relayer, head, deep);
  for (const portion of inPortions(mined, ({ transaction }) => transaction.requests.length)) {
    await finish(relayer, await holdBack(relayer, await resolveEach(relayer, portion)));
  }
  relayer.recheckAll = receipts.includes(undefined) || mined.length < deep.length;
  const found = new Set(
    wanted.flatMap(({ transaction }, index) => (receipts[index] === null ? [] : transaction)),
  );
  const lost = wanted.map((one) => one.transaction).filter((one) => !found.has(one));
  await forgetIncluded(relayer, lost);
  // A node that lags has no receipt for what the head lists: the next look asks again.
  wanted.forEach(({ transaction, hash }, index) => {
    const isMissing = receipts[index] === null && listed.has(hash);
    transaction.unread = receipts[index] === undefined;
    transaction.recheck = transaction.undecided > 0 || isMissing;
  });
  return mined.length;
}

/** Those that may be believed, in the order of the candidates. */
async function readReceipts(
  { chain }: RelayerState,
  wanted: readonly Candidate[],
  head: Block,
): Promise<(Receipt | null | undefined)[]> {
  const told = takeTold(wanted, head);
  const asked = wanted.map(({ hash }) => hash).filter((hash) => !told.has(hash));
  const [answers, ...seconds] = await Promise.all([
    chain.receipts(asked),
    askSecond(chain, asked),
    ...[...told.values()].map(({ second }) => second),
  ]);
  const answered = new Map(asked.map((hash, index) => [hash, answers[index]]));
  const receipts = wanted.map(({ hash }) => told.get(hash)?.receipt ?? answered.get(hash));
  return believe(chain, receipts, { head, seconds: seconds.filter((one) => one !== null) });
}

/**
 * What nodes have said of the broadcast itself, by hash. It is used for one look: should that
 * decide nothing, the next one asks. Receipts of earlier blocks are checked against those.
 */
function takeTold(wanted: readonly Candidate[], head: Block): Map<Hex, ToldReceipt> {
  const found = new Map<Hex, ToldReceipt>();
  for (const { transaction, hash } of wanted) {
    const { told } = transaction;
    if (told === null || told.receipt.txHash !== hash) continue;
    if (told.receipt.blockNumber > head.number) continue;
    found.set(hash, told);
    transaction.told = null;
  }
  return found;
}

/** Looks without an outcome (see `patientBlocks`) after which a person is told; they go on. */
const UNREADABLE_AFTER = 8;

/** Each is independent: what a node cannot say about one must not hold up the others. */
async function resolveEach(
  relayer: RelayerState,
  portion: readonly Mined[],
): Promise<Resolution[]> {
  const results = await Promise.allSettled(portion.map((one) => resolve(relayer, one)));
  const resolved: Resolution[] = [];
  for (const [index, { transaction, receipt }] of portion.entries()) {
    const result = results[index];
    if (result?.status === 'fulfilled') {
      resolved.push(result.value);
      continue;
    }
    transaction.undecided++;
    const patience = Number(patientBlocks(relayer, UNREADABLE_AFTER));
    if (transaction.isToldUnreadable || transaction.undecided < patience) continue;
    transaction.isToldUnreadable = true;
    await tellUnreadable(relayer, transaction, { receipt, error: result?.reason });
  }
  return resolved;
}

async function tellUnreadable(
  relayer: RelayerState,
  transaction: OpenTransaction,
  fault: { readonly receipt: Receipt; readonly error: unknown },
): Promise<void> {
  const { livemode, network } = relayer.chain.config;
  const { txHash, blockNumber } = fault.receipt;
  const error = describeError(fault.error);
  const alarms = transaction.requests.map(({ kind, subjectId }) => ({
    kind: 'outcome_unreadable',
    subject: subjectId,
    details: { kind, txHash, blockNumber, error },
  }));
  await relayer.db.transaction((tx) => insertAlarms(tx, livemode, alarms, relayer.clock.now()));
  const fields = { network, txHash, blockNumber, error };
  relayer.log.error('no node says what a transaction has done', fields);
}

interface Candidate {
  readonly lane: HeldLane;
  readonly transaction: OpenTransaction;
  readonly hash: Hex;
}

function candidates(relayer: RelayerState, head: Block): Candidate[] {
  const listed = new Set(head.transactions);
  const { confirmations, confirmationsMs } = relayer.chain.config;
  const everything = relayer.recheckAll || confirmations > 0 || confirmationsMs > 0;
  const found: Candidate[] = [];
  for (const lane of relayer.lanes.values()) {
    for (const transaction of lane.open.values()) {
      if (!hasWaited(relayer, transaction)) continue;
      const { waits, recheck, told } = transaction;
      const isTold = told !== null && told.receipt.blockNumber <= head.number;
      for (const { hash } of transaction.attempts) {
        if (everything || waits !== null || recheck || isTold || listed.has(hash))
          found.push({ lane, transaction, hash });
      }
    }
  }
  return found;
}

type Found = Candidate & { readonly receipt: Receipt };

/**
 * A success counts at inclusion, or once `confirmations` blocks lie on top, or once we have known
 * its block for `confirmationsMs` and another one lies on top. Times of blocks are whole seconds,
 * which several of them share, so they cannot measure that.
 */
function isDeep(relayer: RelayerState, { transaction, receipt }: Found, head: Block): boolean {
  const { confirmations, confirmationsMs } = relayer.chain.config;
  const now = performance.now();
  if (transaction.included?.blockHash !== receipt.blockHash) {
    const { blockHash, blockNumber } = receipt;
    transaction.included = { blockHash, blockNumber, at: now };
  }
  const onTop = head.number - receipt.blockNumber;
  const leastOnTop = confirmationsMs > 0 ? 1n : BigInt(confirmations);
  return onTop >= leastOnTop && now - transaction.included.at >= confirmationsMs;
}

async function withBlocks(
  relayer: RelayerState,
  head: Block,
  found: readonly Found[],
): Promise<Mined[]> {
  const { chain, toldHeads, firstSeen, clock } = relayer;
  const isFast = hasShortBlocks(relayer);
  const known = new Map<string, Mined['block']>([[head.hash, head]]);
  const missing = new Set<bigint>();
  for (const { receipt } of found) {
    const told = ancestorOf(toldHeads, head, receipt.blockNumber);
    if (told !== null) known.set(told.hash, { time: new Date(told.time) });
    if (!known.has(receipt.blockHash)) missing.add(receipt.blockNumber);
  }
  for (const block of await chain.blocks([...missing])) {
    if (block) known.set(block.hash, block);
  }
  // Without its block, a receipt belongs to a fork that is being abandoned: the next look decides.
  return found.flatMap(({ lane, transaction, receipt }) => {
    const block = known.get(receipt.blockHash);
    if (block === undefined) return [];
    const seenAt = isFast ? (firstSeen.get(receipt.blockHash) ?? clock.now()) : null;
    return [{ lane, transaction, receipt, block, seenAt }];
  });
}

/** Several share a second, so their own time says little of when a customer has paid. */
const SHORT_BLOCK_MS = 1_000;

function hasShortBlocks({ rhythm, chain }: RelayerState): boolean {
  const intervalMs = blockInterval(rhythm) ?? chain.config.profile.blockMs ?? SHORT_BLOCK_MS;
  return intervalMs < SHORT_BLOCK_MS;
}

/**
 * Requests whose outcomes are written down together: the payments domain goes on with the first
 * portion while the next one is read. They grow, because the first should not wait for the last,
 * but each portion is a transaction here and one there.
 */
export const FIRST_PORTION = 64;
const PORTION_GROWTH = 2;

/**
 * Divides chain transactions, in their order, by the number of their requests. None of them is
 * divided itself: a portion ends where it comes closest to its size.
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
