import { setTimeout as sleep } from 'node:timers/promises';
import type { Block, Chain, Receipt } from '#settlement/chain/chain.ts';
import type { Rpc } from '#settlement/chain/rpc.ts';
import type { Address } from '#settlement/chain/rpc-address.ts';

/** Addresses that have to name the same block. */
const AGREEING = 2;
/** Nodes learn of a block some hundred milliseconds apart. */
const LOOKS = 4;
const LOOK_MS = 120;
/**
 * Without a second address that answers, another block has to lie on top, as with a single address.
 */
const DEPTH_UNWITNESSED = 1n;

/** What the addresses of a network say about the block that a receipt names. */
type Word = 'agreed' | 'denied' | 'silent';

/**
 * The receipts that may be believed, where success at inclusion needs the word of two addresses:
 * both name the same block for the transaction, or no second one answers and another block lies on
 * top. The others are undefined: nobody knows yet. One address that denies it is enough to wait.
 */
export async function believe(
  chain: Pick<Chain, 'config' | 'rpc'>,
  receipts: readonly (Receipt | null | undefined)[],
  head: Pick<Block, 'number'>,
): Promise<(Receipt | null | undefined)[]> {
  if (chain.config.receiptWitnesses < AGREEING) return [...receipts];
  const found = receipts.flatMap((receipt) => receipt ?? []);
  const words = new Map<Receipt, Word>();
  for (let look = 0; look < LOOKS; look++) {
    const open = found.filter((receipt) => !isSettled(words.get(receipt)));
    if (open.length === 0) break;
    if (look > 0) await sleep(LOOK_MS);
    const said = await askAround(chain.rpc, open);
    for (const [index, receipt] of open.entries()) words.set(receipt, said[index] ?? 'silent');
  }
  return receipts.map((receipt) => {
    if (receipt === null || receipt === undefined) return receipt;
    const word = words.get(receipt);
    const isDeep = head.number - receipt.blockNumber >= DEPTH_UNWITNESSED;
    return word === 'agreed' || (word === 'silent' && isDeep) ? receipt : undefined;
  });
}

/** Looking again would tell nothing new. */
function isSettled(word: Word | undefined): boolean {
  return word === 'agreed' || word === 'silent';
}

async function askAround(rpc: Rpc, receipts: readonly Receipt[]): Promise<Word[]> {
  const addresses = witnessesOf(rpc.inOrder());
  const agreeing = receipts.map(() => 0);
  const denying = receipts.map(() => 0);
  // Two at once; the others only where these do not agree.
  for (let from = 0; from < addresses.length; ) {
    const count = from === 0 ? AGREEING : 1;
    const said = await Promise.all(
      addresses.slice(from, from + count).map((address) => blocksOf(address, receipts)),
    );
    for (const blocks of said) {
      receipts.forEach((receipt, index) => {
        const block = blocks[index];
        if (block === undefined) return;
        const tally = block === receipt.blockHash ? agreeing : denying;
        tally[index] = (tally[index] ?? 0) + 1;
      });
    }
    from += count;
    if (agreeing.every((times) => times >= AGREEING)) break;
  }
  return receipts.map((_, index) => {
    if ((agreeing[index] ?? 0) >= AGREEING) return 'agreed';
    return (denying[index] ?? 0) > 0 ? 'denied' : 'silent';
  });
}

/** Two addresses of one host are one witness; one that fails or stands still is none. */
function witnessesOf(addresses: readonly Address[]): Address[] {
  const hosts = new Set<string>();
  return addresses.filter((address) => {
    if (address.isStale || address.isResting() || hosts.has(address.host)) return false;
    hosts.add(address.host);
    return true;
  });
}

/** The block's hash; null where the transaction is in none, undefined where there was no answer. */
async function blocksOf(
  address: Address,
  receipts: readonly Receipt[],
): Promise<(string | null | undefined)[]> {
  const calls = receipts.map(({ txHash }) => ({
    method: 'eth_getTransactionByHash',
    params: [txHash],
  }));
  const replies = await address.ask(calls, { urgent: false });
  return replies.map((reply) => {
    if (reply.status !== 'answered') return undefined;
    const transaction = reply.result as { readonly blockHash: string | null } | null;
    return transaction?.blockHash ?? null;
  });
}
