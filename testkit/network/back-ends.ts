// Simulates a provider with several nodes behind one address, each at a different block.

/** The index of the block parameter in each method's parameters. */
const TAG_AT: Readonly<Record<string, number>> = {
  eth_call: 1,
  eth_getBalance: 1,
  eth_getCode: 1,
  eth_getTransactionCount: 1,
  eth_getBlockByNumber: 0,
};

const hex = (value: bigint) => `0x${value.toString(16)}`;

/** Rewrites a call so that the test's node responds as if block `seen` were its newest. */
export function asSeenAt(call: ProviderCall, seen: bigint): ProviderCall {
  const at = TAG_AT[call.method];
  if (at === undefined || call.params[at] !== 'latest') return call;
  return { ...call, params: call.params.with(at, hex(seen)) };
}

interface Placed {
  readonly blockNumber: string | null;
}

/**
 * Returns the response of a node whose newest block is `seen`. `real` is the response of the test's
 * node.
 */
export function answerSeenAt(
  call: ProviderCall,
  real: ProviderAnswer,
  seen: bigint,
): ProviderAnswer {
  const isAhead = (number: unknown) => typeof number === 'string' && BigInt(number) > seen;
  switch (call.method) {
    case 'eth_blockNumber':
      return { result: hex(seen) };
    case 'eth_getBlockByNumber':
      return isNumber(call.params[0]) && isAhead(call.params[0]) ? { result: null } : real;
    case 'eth_call':
      return isNumber(call.params[1]) && isAhead(call.params[1])
        ? { error: { code: -32_000, message: 'header not found' } }
        : real;
    case 'eth_getTransactionReceipt':
      return isAhead((real.result as Placed | null)?.blockNumber) ? { result: null } : real;
    case 'eth_getLogs': {
      const logs = (real.result ?? []) as readonly Placed[];
      return { result: logs.filter(({ blockNumber }) => !isAhead(blockNumber)) };
    }
    default:
      return real;
  }
}

function isNumber(tag: unknown): boolean {
  return typeof tag === 'string' && tag.startsWith('0x');
}

interface RawBlock {
  readonly number: string;
  readonly hash: string;
}

/**
 * Simulates a fork of one block: this node's block `head` has another hash than the other nodes'
 * and contains no transactions. Later blocks are the same on all nodes.
 */
export function answerOnFork(
  call: ProviderCall,
  real: ProviderAnswer,
  head: bigint,
): ProviderAnswer {
  if (call.method === 'eth_getBlockByNumber') {
    const block = real.result as RawBlock | null | undefined;
    if (!block || BigInt(block.number) !== head) return real;
    const hash = `0xf0f0${block.hash.slice(6)}`;
    return { result: { ...block, hash, transactions: [] } };
  }
  if (call.method !== 'eth_getTransactionReceipt') return real;
  const receipt = real.result as Placed | null | undefined;
  return receipt?.blockNumber === hex(head) ? { result: null } : real;
}

/** Number of blocks by which the unrelated chain is longer than the test's chain. */
const ELSEWHERE_BLOCKS = 1_000_000n;
const PLAIN_RESULTS: Readonly<Record<string, unknown>> = {
  eth_chainId: '0x1',
  eth_call: '0x',
  eth_estimateGas: '0xc350',
  eth_getTransactionCount: '0x0',
  eth_getBalance: '0x0',
  eth_getCode: '0x',
  eth_getTransactionReceipt: null,
  eth_getTransactionByHash: null,
  eth_getBlockReceipts: [],
  eth_getLogs: [],
  eth_feeHistory: { reward: [['0x1']] },
};

/**
 * Returns the response of a node on an unrelated, longer chain, which contains none of our
 * transactions.
 */
export function answerElsewhere(call: ProviderCall, head: bigint): ProviderAnswer {
  const newest = head + ELSEWHERE_BLOCKS;
  switch (call.method) {
    case 'eth_blockNumber':
      return { result: hex(newest) };
    case 'eth_getBlockByNumber':
      return { result: blockElsewhere(isNumber(call.params[0]) ? call.params[0] : hex(newest)) };
    case 'eth_sendRawTransaction': {
      const message = 'invalid sender: invalid chain id for signer: have 31400 want 1';
      return { error: { code: -32_000, message } };
    }
    default:
      return { result: PLAIN_RESULTS[call.method] };
  }
}

function blockElsewhere(number: unknown) {
  const hashOf = (height: bigint) => `0xe15e${height.toString(16).padStart(60, '0')}`;
  const height = BigInt(String(number));
  const timestamp = hex(BigInt(Math.floor(Date.now() / 1_000)));
  const parentHash = hashOf(height - 1n);
  return { number: hex(height), hash: hashOf(height), parentHash, timestamp, transactions: [] };
}

/** One call as a provider receives it. */
export interface ProviderCall {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** The JSON-RPC answer to one call. */
export interface ProviderAnswer {
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}
