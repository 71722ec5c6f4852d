import {
  type Address,
  type Hex,
  type Log,
  type PublicClient,
  parseAbi,
  parseEventLogs,
} from 'viem';
import type { Authorization } from './authorization.ts';

const ABI = parseAbi([
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
]);
/**
 * Blocks per log search, because nodes refuse larger ranges. At two seconds per block this is five
 * hours.
 */
const SEARCHED_BLOCKS = 9_000n;
/**
 * Maximum number of ranges to search. Together they cover more than the week that the sweep looks
 * back.
 */
const MOST_RANGES = 40;

export type Named = Pick<Authorization, 'from' | 'nonce'>;
/** The fields that the token's transfer must have. */
export type Expected = Named & Pick<Authorization, 'to' | 'value'>;

/**
 * The effect of a used nonce. `elsewhere`: its signer canceled it, or used it for another recipient
 * or amount. `unknown`: the node shows no event for it, so nothing is proven.
 */
export type Arrival =
  | { readonly status: 'arrived'; readonly hash: Hex }
  | { readonly status: 'elsewhere' | 'unknown' };

/**
 * Finds the transaction that used a nonce. A used nonce alone proves no payment, because its owner
 * may sign another transfer, or a cancellation, with the same nonce.
 */
export async function findArrival(
  { client, usdc }: { readonly client: PublicClient; readonly usdc: Address },
  expected: Expected,
): Promise<Arrival> {
  const args = { authorizer: expected.from, nonce: expected.nonce };
  const read = { address: usdc, abi: ABI, args } as const;
  let toBlock = await client.getBlockNumber();
  for (let range = 0; range < MOST_RANGES; range++) {
    const fromBlock = toBlock > SEARCHED_BLOCKS ? toBlock - SEARCHED_BLOCKS + 1n : 0n;
    const range = { ...read, fromBlock, toBlock };
    const [used] = await client.getContractEvents({ ...range, eventName: 'AuthorizationUsed' });
    if (used !== undefined) {
      const hash = used.transactionHash;
      const { logs } = await client.getTransactionReceipt({ hash });
      return hasMoved(usdc, logs, expected) ? { status: 'arrived', hash } : { status: 'elsewhere' };
    }
    const canceled = { ...range, eventName: 'AuthorizationCanceled' } as const;
    if ((await client.getContractEvents(canceled)).length > 0) return { status: 'elsewhere' };
    if (fromBlock === 0n) break;
    toBlock = fromBlock - 1n;
  }
  return { status: 'unknown' };
}

/**
 * True if these logs of a transaction hold the use of the nonce and, directly after it, the
 * transfer. Another transfer in the same transaction may belong to another nonce.
 */
export function hasMoved(usdc: Address, logs: readonly Log[], expected: Expected): boolean {
  const own = logs.filter(({ address }) => isEqual(address, usdc));
  const events = parseEventLogs({ abi: ABI, logs: own });
  const used = events.find(
    ({ eventName, args }) =>
      eventName === 'AuthorizationUsed' &&
      isEqual(args.authorizer, expected.from) &&
      isEqual(args.nonce, expected.nonce),
  );
  return events.some(
    (event) =>
      used !== undefined &&
      event.logIndex === used.logIndex + 1 &&
      event.eventName === 'Transfer' &&
      isEqual(event.args.from, expected.from) &&
      isEqual(event.args.to, expected.to) &&
      event.args.value === expected.value,
  );
}

function isEqual(one: Hex, other: Hex): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
