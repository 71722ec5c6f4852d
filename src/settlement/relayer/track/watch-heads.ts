import { type Loop, startLoop } from '#core/background-loop.ts';
import type { Block } from '#settlement/chain/chain.ts';
import {
  blockInterval,
  idleLookAt,
  nextLookAt,
  withArrival,
  withLook,
} from '#settlement/chain/read/block-times.ts';
import { askSecond } from '#settlement/chain/rpc/provider-quorum.ts';
import {
  type AnnouncedHead,
  type HeadSubscription,
  headsAdvice,
  subscribeHeads,
} from '#settlement/chain/rpc/subscribe-heads.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { timeoutBlocks, usualLag } from '#settlement/relayer/state-machine/chain-view.ts';
import {
  type Held,
  type OnError,
  openOf,
  type RecentBlock,
  type RelayerState,
} from '#settlement/relayer/state-machine/relayer-state.ts';

export interface Change {
  /** `reorganized`: blocks that we have seen no longer exist. */
  readonly kind: 'next' | 'reorganized';
  readonly block: Block;
}

/**
 * A node that announces blocks may be silent for this long, while a customer waits, before the head
 * is polled.
 */
const ANNOUNCED_MS = 2_000;
/** Pause before the next poll after a poll contradicted the known head. */
const DOUBT_LOOK_MS = 120;
/**
 * After this long (or a few block intervals) without a new block, the heads of all providers are
 * compared.
 */
const STANDS_STILL_MS = 5_000;
const STANDS_STILL_INTERVALS = 3;
const COMPARE_MS = 10_000;
/** If the head's timestamp is older than this, heads are compared even though the head advances. */
const OLD_HEAD_MS = 30_000;

/**
 * Follows the head. While a customer waits, it polls around the time that the next block is due, or
 * when a node announces one. Otherwise it polls at long intervals, for fees and reorganizations.
 */
export function startHeadWatcher(
  relayer: RelayerState,
  follow: (change: Change) => Promise<void>,
  onError: OnError,
): Loop {
  const { headPollMs, headsUrl } = relayer.chain.config;
  const pace = createPace(relayer);
  const compare = createComparison(relayer, pace.movedAt);
  let heads: HeadSubscription | null = null;
  const loop = startLoop({
    name: 'relayer head',
    pollMs: headPollMs,
    onError,
    run: async () => {
      if (!pace.polls(heads?.isLive() === true)) return false;
      await compare();
      const change = await readHead(relayer);
      if (change === null) return false;
      pace.moved();
      await follow(change);
      return false;
    },
  });
  const onHead = (head: AnnouncedHead) => {
    const { clock, recentBlocks } = relayer;
    const blockTimes = withArrival(relayer.blockTimes, { ...head, at: performance.now() });
    relayer.see({ announced: head.number, blockTimes });
    noteBlock(recentBlocks, { ...head, time: new Date(head.time), seenAt: clock.now() });
    if (pace.announced(head)) loop.wake();
  };
  const advice = headsAdvice(relayer.chain.config);
  if (advice !== null) relayer.log.info(advice);
  if (headsUrl !== null) heads = subscribeHeads(headsUrl, onHead, relayer.log);
  return {
    wake: loop.wake,
    stop: () => {
      heads?.stop();
      return loop.stop();
    },
  };
}

function createPace(relayer: RelayerState) {
  const { headPollMs, idleHeadMs } = relayer.chain.config;
  let lastLookAt = Number.NEGATIVE_INFINITY;
  let movedAt = performance.now();
  let busySince: number | null = null;
  let isAnnounced = false;
  let lastAnnounced: AnnouncedHead | null = null;
  const dueAt = (isLive: boolean) => {
    if (relayer.conflict !== null) return lastLookAt + DOUBT_LOOK_MS;
    if (busySince === null)
      return idleLookAt(relayer.blockTimes, { lastLookAt, idleMs: idleHeadMs });
    if (isLive) return lastLookAt + ANNOUNCED_MS;
    const since = Math.max(movedAt, busySince);
    return nextLookAt(relayer.blockTimes, { lastLookAt, since, shortestMs: headPollMs });
  };
  return {
    movedAt: () => movedAt,
    moved: () => {
      movedAt = performance.now();
    },
    /** Returns true if the head must be polled now, and records that poll. */
    polls: (isLive: boolean) => {
      const now = performance.now();
      if (!isBusy(relayer)) busySince = null;
      else busySince ??= now;
      if (!isAnnounced && now < dueAt(isLive)) return false;
      isAnnounced = false;
      lastLookAt = now;
      return true;
    },
    /**
     * Records an announced head. Returns true if the head should be polled now; an idle process
     * need not poll a chain that grows without a fork.
     */
    announced: (head: AnnouncedHead) => {
      const goesOn = lastAnnounced === null || lastAnnounced.hash === head.parentHash;
      lastAnnounced = head;
      isAnnounced ||= isBusy(relayer) || !goesOn;
      return isAnnounced;
    },
  };
}

/** True if a customer waits for a block, or if no block was followed yet. */
function isBusy(relayer: RelayerState): boolean {
  return (
    relayer.fees === null ||
    openOf(relayer).some(({ transaction: one }) => {
      return one.phase !== 'confirming' || one.rule.waitsFor === 'time';
    })
  );
}

/** Compares the heads of all providers, unless ours advances and is recent. */
function createComparison(relayer: RelayerState, movedAt: () => number): () => Promise<void> {
  let comparedAt = Number.NEGATIVE_INFINITY;
  return async () => {
    const now = performance.now();
    if (now - comparedAt < COMPARE_MS) return;
    const intervalMs = blockInterval(relayer.blockTimes) ?? 0;
    const stillMs = Math.max(STANDS_STILL_MS, STANDS_STILL_INTERVALS * intervalMs);
    // An idle chain is polled rarely, so its head may seem unchanged for longer.
    const unseenMs = isBusy(relayer) ? 0 : relayer.chain.config.idleHeadMs;
    const standsStill = now - movedAt() > stillMs + unseenMs;
    const isOld = (relayer.headOffMs ?? 0) > OLD_HEAD_MS;
    const isKnown = relayer.chain.rpc.inOrder().some((address) => address.isStale);
    if (!standsStill && !isOld && !isKnown) return;
    comparedAt = now;
    await relayer.chain.compareHeads();
  };
}

/** The number of polls that must agree, because several nodes may be behind one URL. */
const DOUBT_LOOKS = 3;
const DOUBT_MS = 300;
/** A head must stay lower for this long before the chain counts as shorter. */
const LAG_MS = 5_000;
const SHORTER_MS = 1_000;

/**
 * Polls the head once; `null` if it has not changed. A lagging node is ignored, and a contradiction
 * of the known head counts only if it is repeated.
 */
async function readHead(relayer: RelayerState): Promise<Change | null> {
  const block = await lookAtHead(relayer);
  const known = relayer.head;
  if (known === null) return { kind: 'next', block };
  if (block.hash === known.hash) return settled(relayer, null);
  const isNext = block.number === known.number + 1n && block.parentHash === known.hash;
  if (isNext) return settled(relayer, { kind: 'next', block });
  // Blocks were skipped between polls, so there is no parent to compare.
  if (block.number > known.number + 1n && relayer.conflict === null) {
    relayer.observeAll({ kind: 'blocks_skipped', number: block.number });
    return { kind: 'next', block };
  }
  return askAgain(relayer, block, known);
}

async function lookAtHead(relayer: RelayerState): Promise<Block> {
  const block = await newestOfOurs(relayer).catch((error) => {
    relayer.see({ failedPolls: relayer.failedPolls + 1 });
    throw error;
  });
  const [at, seenAt, time] = [performance.now(), relayer.clock.now(), block.time.getTime()];
  noteBlock(relayer.recentBlocks, { ...block, seenAt });
  const blockTimes = withLook(relayer.blockTimes, { number: block.number, time, at });
  const headOffMs = seenAt.getTime() - time;
  relayer.see({ blockTimes, failedPolls: 0, answeredAt: at, headOffMs });
  return block;
}

/** Number of recent blocks that are kept. A transaction's block is rarely older. */
const RECENT_BLOCKS = 64;

export function noteBlock(
  recent: Map<string, RecentBlock>,
  { number, hash, parentHash, time, seenAt }: RecentBlock,
): void {
  if (recent.has(hash)) return;
  recent.set(hash, { number, hash, parentHash, time, seenAt });
  const [oldest] = recent.keys();
  if (recent.size > RECENT_BLOCKS && oldest !== undefined) recent.delete(oldest);
}

/**
 * Returns the block at a height below `head` without querying a node; `null` unless known blocks
 * lead from `head` to it, parent by parent. This is safe, because a block's hash commits to its
 * parent's.
 */
export function ancestorOf(
  recent: ReadonlyMap<string, RecentBlock>,
  head: Pick<Block, 'parentHash'>,
  number: bigint,
): RecentBlock | null {
  let block = recent.get(head.parentHash);
  while (block !== undefined && block.number > number) block = recent.get(block.parentHash);
  return block?.number === number ? block : null;
}

/**
 * Polls the head. A new head that does not descend from the known one may belong to another chain,
 * so the chain ids are then checked.
 */
async function newestOfOurs(relayer: RelayerState): Promise<Block> {
  const { chain, head } = relayer;
  const expected = expectedNow(relayer);
  const hashes = expected.map(({ hash }) => hash);
  const second = askSecond(chain, hashes);
  const { block, receipts } = await chain.newestWith(hashes);
  if (head === null || follows(relayer, head, block)) {
    for (const [index, { sender, transaction }] of expected.entries()) {
      const receipt = receipts[index] ?? null;
      if (receipt === null) continue;
      sender.observe(transaction, { kind: 'early_receipt', early: { receipt, second } });
    }
    return block;
  }
  await chain.rpc.confirmChain();
  return chain.newest();
}

/**
 * Maximum number of receipts requested with the head: together ten calls, and some providers accept
 * no more per request.
 */
const MOST_EXPECTED = 9;
/**
 * A transaction's receipt is expected within this many announced blocks after its broadcast (see
 * `timeoutBlocks`). More than 1, because several blocks arrive before a distant node's first
 * answer.
 */
const EXPECTED_BLOCKS = 3;

/**
 * Returns the transactions that the block just announced probably contains. Requesting their
 * receipts together with the head saves customers a round trip. Without an announcement, most of
 * these requests would find nothing.
 */
function expectedNow(relayer: RelayerState): (Held & { readonly hash: Hex })[] {
  const { announced, head } = relayer;
  if (announced === null || head === null || announced <= head.number) return [];
  const blocks = timeoutBlocks(relayer, EXPECTED_BLOCKS);
  const expected = openOf(relayer).flatMap(({ sender, transaction }) => {
    if (transaction.phase !== 'broadcast' || transaction.early !== null) return [];
    const hash = transaction.attempts.at(-1)?.hash;
    const isNew = announced - transaction.sentAtBlock <= blocks;
    return isNew && hash !== undefined ? [{ sender, transaction, hash }] : [];
  });
  return expected.slice(0, MOST_EXPECTED);
}

/** The block interval to assume while it is unknown: that of the fastest chains. */
const SHORTEST_INTERVAL_MS = 200;
/**
 * Blocks are irregular, so a head counts as ours if it is ahead by at most twice the expected
 * number of blocks plus this many.
 */
const MORE_BLOCKS = 8;

/** True if the chain may have grown from the known head to this block by now. */
function follows(relayer: RelayerState, head: Block, block: Block): boolean {
  const { blockTimes, answeredAt } = relayer;
  if (block.hash === head.hash) return true;
  const more = block.number - head.number;
  // A lagging node: see askAgain.
  if (more < 0n && -more <= usualLag(relayer)) return true;
  if (more === 1n) return block.parentHash === head.hash;
  const sinceMs = performance.now() - (answeredAt ?? Number.NEGATIVE_INFINITY);
  const expected = sinceMs / (blockInterval(blockTimes) ?? SHORTEST_INTERVAL_MS);
  return more > 1n && Number(more) <= 2 * expected + MORE_BLOCKS;
}

function settled(relayer: RelayerState, change: Change | null): Change | null {
  relayer.see({ conflict: null });
  return change;
}

async function askAgain(relayer: RelayerState, block: Block, known: Block): Promise<Change | null> {
  const again = await relayer.chain.block(known.number);
  if (again?.hash === known.hash) {
    if (block.number <= known.number) {
      const blocks = known.number - block.number;
      if (blocks > relayer.spread && blocks <= usualLag(relayer)) relayer.see({ spread: blocks });
      return settled(relayer, null);
    }
    relayer.observeAll({ kind: 'ask_again' });
    return settled(relayer, { kind: 'next', block });
  }
  const now = performance.now();
  const { since, polls: before } = relayer.conflict ?? { since: now, polls: 0 };
  const polls = before + 1;
  relayer.see({ conflict: { since, polls } });
  const isLower = again === null && block.number < known.number;
  const conflictMs = isLower ? lagLimit(relayer, known.number - block.number) : DOUBT_MS;
  if (polls < DOUBT_LOOKS || now - since < conflictMs) return null;
  return settled(relayer, { kind: 'reorganized', block });
}

/**
 * Returns how long, in milliseconds, a lower head counts as a lagging node rather than as a shorter
 * chain.
 */
function lagLimit(relayer: RelayerState, blocks: bigint): number {
  const mayLag = blocks <= usualLag(relayer);
  return mayLag || relayer.chain.config.rpcUrls.length > 1 ? LAG_MS : SHORTER_MS;
}
