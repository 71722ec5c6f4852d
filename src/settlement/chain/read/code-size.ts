import { concat } from 'viem';
import { type Rpc, type RpcPriority, RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import type { Hex } from '#settlement/chain-requests.ts';

/** Init code that returns the size or hash of the code at the address that follows PUSH. */
const PUSH_ADDRESS = '0x73';
const RETURN_SIZE = '0x3b5f5260205ff3';
const RETURN_HASH = '0x3f5f5260205ff3';

/**
 * Returns the code size at an address, 0 for an ordinary account. It does not use `eth_getCode`,
 * because `0x` is the right answer for an ordinary account, but faulty nodes return `0x` for any
 * address. A full word shows that the node understood the request.
 * @throws RpcUnavailable
 */
export async function readCodeSize(
  rpc: Rpc,
  address: Hex,
  priority?: RpcPriority,
): Promise<bigint> {
  return BigInt(await run(rpc, concat([PUSH_ADDRESS, address, RETURN_SIZE]), priority));
}

/** Returns the hash of the code at an address. @throws RpcUnavailable */
export function readCodeHash(rpc: Rpc, address: Hex, priority?: RpcPriority): Promise<Hex> {
  return run(rpc, concat([PUSH_ADDRESS, address, RETURN_HASH]), priority);
}

async function run(rpc: Rpc, data: Hex, priority: RpcPriority | undefined): Promise<Hex> {
  const call = { method: 'eth_call', params: [{ data }, 'latest'], accepts: isWord };
  const [answer] = await rpc.batch([call], priority);
  if (answer?.ok === true) return answer.result as Hex;
  throw new RpcUnavailable('the code of an address could not be read', { cause: answer?.refusal });
}

const WORD_LENGTH = 66;

/** True if the node's result is a 32-byte word. */
export function isWord(result: unknown): boolean {
  return typeof result === 'string' && result.length === WORD_LENGTH;
}
