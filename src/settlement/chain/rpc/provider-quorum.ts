import { setTimeout as sleep } from 'node:timers/promises';
import type { Block, Chain, Receipt } from '#settlement/chain/chain.ts';
import type { Rpc } from '#settlement/chain/rpc/rpc.ts';
import type { Address } from '#settlement/chain/rpc/rpc-address.ts';
import type { Hex } from '#settlement/chain-requests.ts';

/** The number of providers that must name the same block. */
const AGREEING = 2;
/**
 * Number of times that other providers are queried about a receipt. A block reaches different nodes
 * some hundred milliseconds apart.
 */
const LOOKS = 4;
const LOOK_MS = 120;
/**
 * If no second provider answers, this many further blocks are required, the same as with a single
 * provider.
 */
const DEPTH_UNCONFIRMED = 1n;

/** A second provider's statement about the block that a receipt names. */
type Word = 'agreed' | 'denied' | 'silent';

/**
 * The block that a provider names for each transaction: `null` if the transaction is in no block,
 * `undefined` if the provider did not answer.
 */
type NamedBlocks = ReadonlyMap<Hex, string | null | undefined>;

/**
 * The blocks that a second provider names for transactions whose receipts the first one returned.
 */
export interface SecondWord {
  /** The host of the provider that returned the receipts, the first one. */
  readonly on: string;
  readonly blocks: NamedBlocks;
}

/**
 * Asks a second provider for the blocks of these transactions while the first one returns their
 * receipts, so that customers do not wait for two round trips.
 */
export async function askSecond(
  { config, rpc }: Pick<Chain, 'config' | 'rpc'>,
  hashes: readonly Hex[],
): Promise<SecondWord | null> {
  if (config.receiptProviders < AGREEING || hashes.length === 0) return null;
  const [first, second] = independentProviders(rpc.inOrder());
  if (first === undefined || second === undefined) return null;
  return { on: first.host, blocks: await blocksOf(second, hashes) };
}

function agrees(word: SecondWord, { host, txHash, blockHash }: Receipt): boolean {
  return word.on === host && word.blocks.get(txHash) === blockHash;
}

/**
 * If success at inclusion needs two providers, a receipt is confirmed if both name the same block,
 * or if no second provider answers and another block was mined since. Receipts that are not
 * confirmed yet, such as those whose block one provider denies, are `undefined`. A receipt that one
 * of `seconds` confirms needs no further request.
 */
export async function believe(
  chain: Pick<Chain, 'config' | 'rpc'>,
  receipts: readonly (Receipt | null | undefined)[],
  seen: { readonly head: Pick<Block, 'number'>; readonly seconds: readonly SecondWord[] },
): Promise<(Receipt | null | undefined)[]> {
  if (chain.config.receiptProviders < AGREEING) return [...receipts];
  const known = receipts.flatMap((receipt) => receipt ?? []);
  const words = new Map<Receipt, Word>();
  for (const receipt of known) {
    if (seen.seconds.some((word) => agrees(word, receipt))) words.set(receipt, 'agreed');
  }
  for (let look = 0; look < LOOKS; look++) {
    const open = known.filter((receipt) => !isSettled(words.get(receipt)));
    if (open.length === 0) break;
    if (look > 0) await sleep(LOOK_MS);
    const said = await askAround(chain.rpc, open);
    for (const [index, receipt] of open.entries()) words.set(receipt, said[index] ?? 'silent');
  }
  return receipts.map((receipt) => {
    if (receipt === null || receipt === undefined) return receipt;
    const word = words.get(receipt);
    const isDeep = seen.head.number - receipt.blockNumber >= DEPTH_UNCONFIRMED;
    return word === 'agreed' || (word === 'silent' && isDeep) ? receipt : undefined;
  });
}

/** True if no further request is needed for the receipt. */
function isSettled(word: Word | undefined): boolean {
  return word === 'agreed' || word === 'silent';
}

async function askAround(rpc: Rpc, receipts: readonly Receipt[]): Promise<Word[]> {
  const addresses = independentProviders(rpc.inOrder());
  const hashes = receipts.map(({ txHash }) => txHash);
  const said: NamedBlocks[] = [];
  // Ask two providers concurrently, and further providers only if those two disagree.
  while (said.length < addresses.length) {
    const next = addresses.slice(said.length, said.length === 0 ? AGREEING : said.length + 1);
    said.push(...(await Promise.all(next.map((address) => blocksOf(address, hashes)))));
    if (tally(receipts, said).every((word) => word === 'agreed')) break;
  }
  return tally(receipts, said);
}

function tally(receipts: readonly Receipt[], said: readonly NamedBlocks[]): Word[] {
  return receipts.map(({ txHash, blockHash }) => {
    const named = said.map((blocks) => blocks.get(txHash)).filter((block) => block !== undefined);
    const agreeing = named.filter((block) => block === blockHash).length;
    if (agreeing >= AGREEING) return 'agreed';
    return agreeing < named.length ? 'denied' : 'silent';
  });
}

/**
 * Returns the providers that count as independent: two URLs with one host count once; a provider
 * that failed recently, or whose head does not advance, does not count.
 */
export function independentProviders(addresses: readonly Address[]): Address[] {
  const hosts = new Set<string>();
  return addresses.filter((address) => {
    if (address.isStale || address.isResting() || hosts.has(address.host)) return false;
    hosts.add(address.host);
    return true;
  });
}

async function blocksOf(address: Address, hashes: readonly Hex[]): Promise<NamedBlocks> {
  const calls = hashes.map((hash) => ({ method: 'eth_getTransactionByHash', params: [hash] }));
  const replies = await address.ask(calls, { urgent: false });
  return new Map(
    hashes.map((hash, index) => {
      const reply = replies[index];
      if (reply?.status !== 'answered') return [hash, undefined];
      const transaction = reply.result as { readonly blockHash: string | null } | null;
      return [hash, transaction?.blockHash ?? null];
    }),
  );
}
