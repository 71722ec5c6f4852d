import { present } from '#core/assert.ts';
import { blockInterval } from '#settlement/chain/block-rhythm.ts';
import type { Block } from '#settlement/chain/chain.ts';
import { askSecond } from '#settlement/chain/witness.ts';
import { patientBlocks } from '#settlement/relayer/machine/chain-view.ts';
import type { HeldLane, RecentBlock, RelayerState } from '#settlement/relayer/machine/memory.ts';
import type { OpenTransaction } from '#settlement/relayer/machine/transaction.ts';
import type { Hex } from '#settlement/requests.ts';

export type HeadChange =
  | { readonly kind: 'none' }
  | { readonly kind: 'next'; readonly block: Block }
  /** Blocks that we have seen do not exist any more. */
  | { readonly kind: 'reorganized'; readonly block: Block };

/** One address can have several nodes behind it: this many looks have to agree. */
const DOUBT_LOOKS = 3;
const DOUBT_MS = 300;
/** Nodes behind one address differ by so many blocks (`patientBlocks`), and nothing is wrong. */
const USUAL_LAG = 3;
/** How long a head that is only lower has to stay there until it counts as a shorter chain. */
const LAG_MS = 5_000;
const SHORTER_MS = 1_000;

/**
 * Looks at the head once. A node that lags behind the one we asked before tells us nothing, and
 * what contradicts the head that we know counts only when it is repeated.
 */
export async function readHead(relayer: RelayerState): Promise<HeadChange> {
  const block = await lookAtHead(relayer);
  const known = relayer.head;
  if (known === null) return { kind: 'next', block };
  if (block.hash === known.hash) return settled(relayer, { kind: 'none' });
  const isNext = block.number === known.number + 1n && block.parentHash === known.hash;
  if (isNext) return settled(relayer, { kind: 'next', block });
  // Blocks were left out between the looks, so there is nothing to compare.
  if (block.number > known.number + 1n && relayer.conflict === null) {
    relayer.observeAll({ kind: 'blocks_skipped', number: block.number });
    return { kind: 'next', block };
  }
  return askAgain(relayer, block, known);
}

async function lookAtHead(relayer: RelayerState): Promise<Block> {
  const block = await newestOfOurs(relayer).catch((error) => {
    relayer.see({ kind: 'poll_failed' });
    throw error;
  });
  const at = performance.now();
  noteBlock(relayer.recentBlocks, { ...block, seenAt: relayer.clock.now() });
  relayer.see({ kind: 'polled', block, at, clockMs: relayer.clock.now().getTime() });
  return block;
}

/** More than are followed at once, and a transaction's block is rarely older. */
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
 * The block of a height below `head`, for which no node has to be asked; `null` unless blocks that
 * were seen lead from `head` down to it, parent by parent. A hash covers the parent's.
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

/** A block that the one we know does not lead to may be of another chain: then it says nothing. */
async function newestOfOurs(relayer: RelayerState): Promise<Block> {
  const { chain, head } = relayer;
  const expected = expectedNow(relayer);
  const hashes = expected.map(({ hash }) => hash);
  const second = askSecond(chain, hashes);
  const { block, receipts } = await chain.newestWith(hashes);
  if (head === null || follows(relayer, head, block)) {
    for (const [index, { lane, transaction }] of expected.entries()) {
      const receipt = receipts[index] ?? null;
      if (receipt === null) continue;
      lane.observe(transaction, { kind: 'early_receipt', early: { receipt, second } });
    }
    return block;
  }
  await chain.rpc.confirmChain();
  return chain.newest();
}

/** With the head ten calls: some providers take no more in one request. */
const MOST_EXPECTED = 9;
/**
 * Announced blocks after a broadcast (see `patientBlocks`): what they did not hold, nobody asks for
 * again and again. At a node that is far away, several come before the first answer does.
 */
const EXPECTED_BLOCKS = 3;

/**
 * What the block that was just announced probably holds. To ask for it together with the head saves
 * its customers a round trip. Without an announcement most looks would ask in vain.
 */
function expectedNow(relayer: RelayerState): Expected[] {
  const { announced, head, lanes } = relayer;
  if (announced === null || head === null || announced <= head.number) return [];
  const blocks = patientBlocks(relayer, EXPECTED_BLOCKS);
  const expected: Expected[] = [];
  for (const lane of lanes.values()) {
    for (const transaction of lane.open.values()) {
      if (transaction.phase !== 'broadcast' || transaction.early !== null) continue;
      const hash = transaction.attempts.at(-1)?.hash;
      const isNew = announced - transaction.sentAtBlock <= blocks;
      if (isNew && hash !== undefined) expected.push({ lane, transaction, hash });
    }
  }
  return expected.slice(0, MOST_EXPECTED);
}

interface Expected {
  readonly lane: HeldLane;
  readonly transaction: OpenTransaction;
  readonly hash: Hex;
}

/** Without a rhythm, blocks are taken to come as fast as on the fastest chains. */
const SHORTEST_INTERVAL_MS = 200;
/** Blocks come irregularly: twice as many as expected, and so many more, are believed. */
const MORE_BLOCKS = 8;

/** Whether the chain that we know can have this head by now. */
function follows(relayer: RelayerState, head: Block, block: Block): boolean {
  const { rhythm, sight } = relayer;
  if (block.hash === head.hash) return true;
  const more = block.number - head.number;
  // A node that lags; see askAgain.
  if (more < 0n && -more <= patientBlocks(relayer, USUAL_LAG)) return true;
  if (more === 1n) return block.parentHash === head.hash;
  const sinceMs = performance.now() - (sight.answeredAt ?? Number.NEGATIVE_INFINITY);
  const expected = sinceMs / (blockInterval(rhythm) ?? SHORTEST_INTERVAL_MS);
  return more > 1n && Number(more) <= 2 * expected + MORE_BLOCKS;
}

function settled(relayer: RelayerState, change: HeadChange): HeadChange {
  relayer.see({ kind: 'agreed' });
  return change;
}

async function askAgain(relayer: RelayerState, block: Block, known: Block): Promise<HeadChange> {
  const again = await relayer.chain.block(known.number);
  if (again?.hash === known.hash) {
    if (block.number <= known.number) {
      noteSpread(relayer, known.number - block.number);
      return settled(relayer, { kind: 'none' });
    }
    relayer.observeAll({ kind: 'ask_again' });
    return settled(relayer, { kind: 'next', block });
  }
  const now = performance.now();
  relayer.see({ kind: 'contradicted', at: now });
  const { since, polls } = present(relayer.conflict, 'conflict');
  const isLower = again === null && block.number < known.number;
  const patienceMs = isLower ? patienceWith(relayer, known.number - block.number) : DOUBT_MS;
  if (polls < DOUBT_LOOKS || now - since < patienceMs) return { kind: 'none' };
  return settled(relayer, { kind: 'reorganized', block });
}

function noteSpread(relayer: RelayerState, blocks: bigint): void {
  relayer.see({ kind: 'lagged', blocks, most: patientBlocks(relayer, USUAL_LAG) });
}

/** The chain is only shorter than we know: the node lags, or it has lost its last blocks. */
function patienceWith(relayer: RelayerState, blocks: bigint): number {
  const mayLag = blocks <= patientBlocks(relayer, USUAL_LAG);
  return mayLag || relayer.chain.config.rpcUrls.length > 1 ? LAG_MS : SHORTER_MS;
}
