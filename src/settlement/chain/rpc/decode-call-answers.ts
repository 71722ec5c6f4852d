import { assert } from '#core/assert.ts';
import type { Block, BlockTag, CallAnswer, Receipt } from '#settlement/chain/chain.ts';
import { type RpcRefusal, RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import type { RawLog } from '#settlement/contract/contract-events.ts';

/** Decodes the result of a view. @throws RpcUnavailable if it reverted or is malformed. */
export function decodeView<T>(answer: CallAnswer | undefined, decode: (data: Hex) => T): T {
  if (answer?.ok !== true) {
    throw new RpcUnavailable(`a view of the contract reverted: ${answer?.message}`);
  }
  try {
    return decode(answer.data);
  } catch (cause) {
    throw new RpcUnavailable('a node returned a malformed result of a view', { cause });
  }
}

/** Converts a refusal into RpcUnavailable, for requests that every healthy node answers. */
export function unavailable(refusal: RpcRefusal | RpcUnavailable): RpcUnavailable {
  if (refusal instanceof RpcUnavailable) return refusal;
  return new RpcUnavailable('no node of the chain answers', { cause: refusal });
}

/** Returns a revert, which is a valid answer to the call; throws any other refusal. */
export function toRevert(refusal: RpcRefusal | RpcUnavailable): CallAnswer & { ok: false } {
  if (refusal instanceof RpcUnavailable) throw refusal;
  // rpc-post.ts gives every node's report of a revert this code.
  if (refusal.code !== 3)
    throw new RpcUnavailable('the node could not run a call', { cause: refusal });
  return { ok: false, revertData: refusal.data, message: refusal.message };
}

export function quantity(value: bigint): Hex {
  return `0x${value.toString(16)}`;
}

export function tagText(tag: BlockTag): string {
  return typeof tag === 'bigint' ? quantity(tag) : tag;
}

export interface RawBlock {
  number: Hex;
  hash: Hex;
  parentHash: Hex;
  timestamp: Hex;
  baseFeePerGas?: Hex;
  transactions?: Hex[];
}

export function toBlock(raw: RawBlock): Block {
  assert(raw.number !== null && raw.hash !== null, 'a pending block was answered');
  return {
    number: BigInt(raw.number),
    hash: raw.hash,
    parentHash: raw.parentHash,
    time: new Date(Number(raw.timestamp) * 1000),
    baseFeePerGas: BigInt(raw.baseFeePerGas ?? '0x0'),
    transactions: raw.transactions ?? [],
  };
}

export interface RawReceipt {
  transactionHash: Hex;
  status: Hex;
  blockNumber: Hex;
  blockHash: Hex;
  from: Hex;
  gasUsed: Hex;
  logs: RawLog[];
}

export function toReceipt(raw: RawReceipt, host: string): Receipt | null {
  if (raw.blockNumber === null) return null;
  return {
    txHash: raw.transactionHash,
    succeeded: BigInt(raw.status) === 1n,
    blockNumber: BigInt(raw.blockNumber),
    blockHash: raw.blockHash,
    from: raw.from,
    gasUsed: BigInt(raw.gasUsed),
    logs: raw.logs,
    host,
  };
}
