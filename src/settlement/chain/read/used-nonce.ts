import type { Address } from '#settlement/chain/rpc/rpc-address.ts';
import type { Hex } from '#settlement/chain-requests.ts';

export interface UsedNonce {
  readonly address: Hex;
  readonly nonce: bigint;
  /** The newest block. */
  readonly head: bigint;
}

/**
 * The number of blocks at which the search looks first. Each is twice as far before the head as the
 * previous one: up to 32,768 blocks.
 */
const DOUBLINGS = 16;

interface Range {
  /** The nonce was unused up to this block. */
  readonly before: bigint;
  /** The nonce had been used by this block. */
  readonly after: bigint;
}

/**
 * Returns the hash of the transaction that used the nonce, according to one node. `null` if the
 * node finds none, which proves nothing, because nodes lag, prune and fail.
 */
export async function findUsedNonce(node: Address, expected: UsedNonce): Promise<Hex | null> {
  let range = await firstRange(node, expected);
  while (range !== null && range.after - range.before > 1n) {
    const middle = (range.after + range.before) / 2n;
    const [used] = await countsAt(node, expected.address, [middle]);
    if (used === undefined) return null;
    range = used > expected.nonce ? { ...range, after: middle } : { ...range, before: middle };
  }
  return range === null ? null : showIn(node, expected, range.after);
}

async function firstRange(node: Address, { address, nonce, head }: UsedNonce) {
  const back = Array.from({ length: DOUBLINGS }, (_, power) => head - 2n ** BigInt(power));
  const blocks = [head, ...back.filter((block) => block > 0n), 0n];
  const counts = await countsAt(node, address, blocks);
  const used = blocks.filter((_, index) => (counts[index] ?? 0n) > nonce);
  const unused = blocks.filter((_, index) => {
    const count = counts[index];
    return count !== undefined && count <= nonce;
  });
  const after = used.at(-1);
  const before = unused[0];
  const isRange = after !== undefined && before !== undefined && before < after;
  return isRange ? ({ before, after } satisfies Range) : null;
}

/** Reads the transaction counts at these blocks; `undefined` if the node does not answer. */
async function countsAt(
  node: Address,
  address: Hex,
  blocks: readonly bigint[],
): Promise<(bigint | undefined)[]> {
  const method = 'eth_getTransactionCount';
  const calls = blocks.map((block) => ({ method, params: [address, hexOf(block)] }));
  const replies = await node.ask(calls, { urgent: false });
  return replies.map((reply) =>
    reply.status === 'answered' ? BigInt(reply.result as Hex) : undefined,
  );
}

interface RawTransaction {
  readonly hash: Hex;
  readonly from: string;
  readonly nonce: Hex;
}

async function showIn(
  node: Address,
  { address, nonce }: UsedNonce,
  block: bigint,
): Promise<Hex | null> {
  const params = [hexOf(block), true];
  const [reply] = await node.ask([{ method: 'eth_getBlockByNumber', params }], { urgent: false });
  if (reply?.status !== 'answered' || reply.result === null) return null;
  const { transactions = [] } = reply.result as { readonly transactions?: RawTransaction[] };
  const own = transactions.find(
    (one) => one.from.toLowerCase() === address.toLowerCase() && BigInt(one.nonce) === nonce,
  );
  return own?.hash ?? null;
}

function hexOf(block: bigint): Hex {
  return `0x${block.toString(16)}`;
}
