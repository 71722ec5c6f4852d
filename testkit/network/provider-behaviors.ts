import {
  answerElsewhere,
  answerOnFork,
  type ProviderAnswer,
  type ProviderCall,
} from '#testkit/network/back-ends.ts';

type WholeAnswer =
  | { status: number; body: string; headers?: Record<string, string> }
  /** The connection is closed. */
  | 'cut'
  /** The provider closes the connection halfway through a response. */
  | 'half-closed'
  /** The provider never answers. */
  | 'silent';

/** The misbehavior of a provider. Fields that are not set leave the normal behavior unchanged. */
export interface Behavior {
  /** Returns the milliseconds to wait before a request is forwarded. */
  readonly delayMs?: () => number;
  /**
   * Returns the HTTP response to send without asking the node; `null` to behave normally this time.
   */
  readonly whole?: (calls: readonly ProviderCall[]) => WholeAnswer | null;
  /** Returns the newest block of the node that serves the call. */
  readonly sees?: (call: ProviderCall, head: bigint) => bigint;
  /** Delays broadcasts by this many blocks. */
  readonly holdsBlocks?: bigint;
  /** Returns true if the call must not reach the node. */
  readonly keeps?: (call: ProviderCall) => boolean;
  /** Returns the response to one call; `undefined` leaves it out of a batch. */
  readonly answer?: (
    call: ProviderCall,
    real: ProviderAnswer,
    head: bigint,
  ) => ProviderAnswer | undefined;
  /** Changes the text of the whole response. */
  readonly text?: (text: string) => string;
}

const error = (code: number, message: string): ProviderAnswer => ({ error: { code, message } });
const refusing = (code: number, message: string): Behavior => ({
  answer: () => error(code, message),
});
const page = (status: number, body: string, headers = {}): Behavior => ({
  whole: () => ({ status, body, headers }),
});
const sends = (call: ProviderCall) => call.method === 'eth_sendRawTransaction';
const sometimes = (share: number) => Math.random() < share;
const json = (code: number, message: string) =>
  JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } });
const resulting = (methods: RegExp, result: unknown): Behavior => ({
  answer: (call, real) => (methods.test(call.method) ? { result } : real),
});
/** Reports an error although the node has accepted the broadcast. */
const lying = (message: string): Behavior => ({
  answer: (call, real) => (sends(call) ? error(-32_000, message) : real),
});

function rangeOf(call: ProviderCall): number {
  const [filter] = call.params as [{ fromBlock?: string; toBlock?: string }];
  return Number(filter?.toBlock ?? 0) - Number(filter?.fromBlock ?? 0) + 1;
}

const limitedRange = (most: number, code: number, message: string): Behavior => ({
  answer: (call, real) =>
    call.method === 'eth_getLogs' && rangeOf(call) > most ? error(code, message) : real,
});

/** Drops every third receipt. */
function comingAndGoing(): Behavior {
  let requests = 0;
  return {
    answer: (call, real) =>
      call.method === 'eth_getTransactionReceipt' && requests++ % 3 === 0 ? { result: null } : real,
  };
}

function dropping(share: number): Behavior {
  return { keeps: (call) => sends(call) && sometimes(share) };
}

/** Simulates a node that receives no new blocks for this long. */
function standingStill(forMs: number): Behavior {
  let stopped: { readonly at: number; readonly head: bigint } | null = null;
  return {
    sees: (_, head) => {
      stopped ??= { at: performance.now(), head };
      return performance.now() - stopped.at < forMs ? stopped.head : head;
    },
  };
}

/** Returns the number of the block that is this far below the head; 0 if the chain is shorter. */
const behind = (head: bigint, blocks: number) => {
  const seen = head - BigInt(blocks);
  return seen < 0n ? 0n : seen;
};

const READS = /^eth_(call|estimateGas|getTransactionCount|getBalance|feeHistory)$/;

/**
 * Misbehaving providers by name. Each call creates a new one, which shares no state with others.
 */
export const BEHAVIORS = {
  'limits with -32029 and HTTP 200': () => refusing(-32_029, 'Too Many Requests'),
  'limits with -32007': () => refusing(-32_007, '15/second request limit reached'),
  'limits with HTTP 429 and Retry-After': () => page(429, 'slow down', { 'retry-after': '1' }),
  'has ended the plan: HTTP 401 with -32000': () => page(401, json(-32_000, 'plan ended')),
  'forbids: HTTP 403 with JSON': () => page(403, json(-32_600, 'origin not allowed')),
  'fails with -32603': () => refusing(-32_603, 'Internal error'),
  'fails with -32001': () => refusing(-32_001, 'Resource not found'),
  'fails with HTTP 502 and JSON': () => page(502, json(-32_603, 'bad gateway')),
  'says what nobody knows': () => refusing(-31_999, 'the stars are not right'),
  'answers with a page': () => page(200, '<html><body>Welcome</body></html>'),
  'cuts its answers': () => ({ text: (text: string) => text.slice(0, text.length / 2) }),
  'cuts the connection': () => ({ whole: () => 'cut' as const }),
  'answers null': () => resulting(READS, null),
  'answers 0x': () => resulting(READS, '0x'),
  'answers with the wrong length': () => resulting(/^eth_call$/, `0x${'00'.repeat(31)}`),
  'answers with the wrong type': () => resulting(READS, 7),
  'gives odd fees': () => resulting(/^eth_feeHistory$/, { reward: [null] }),
  'half-closes its connections': () => ({ whole: () => 'half-closed' as const }),
  'leaves requests unanswered': () => ({ whole: () => 'silent' as const }),
  'has nodes that are up to three blocks apart': () => ({
    sees: (_: ProviderCall, head: bigint) => behind(head, Math.floor(Math.random() * 4)),
  }),
  'has one node on a fork': () => ({
    answer: (call: ProviderCall, real: ProviderAnswer, head: bigint) =>
      sometimes(1 / 4) ? answerOnFork(call, real, head) : real,
  }),
  'stands still': () => standingStill(Number.POSITIVE_INFINITY),
  'stalls for three seconds': () => standingStill(3_000),
  'counts nonces of five blocks ago': () => ({
    sees: ({ method }: ProviderCall, head: bigint) =>
      method === 'eth_getTransactionCount' ? behind(head, 5) : head,
  }),
  'lets broadcasts be mined 20 blocks late': () => ({ holdsBlocks: 20n }),
  'is slow and uneven': () => ({ delayMs: () => Math.random() * 120 }),
  'refuses batches': () => ({
    whole: (calls: readonly ProviderCall[]) =>
      calls.length > 1 ? { status: 200, body: json(-32_600, 'batching is not supported') } : null,
  }),
  'takes three calls at once': () => ({
    whole: (calls: readonly ProviderCall[]) =>
      calls.length > 3 ? { status: 200, body: json(31, 'Batch of more than 3 requests') } : null,
  }),
  'leaves calls of batches out': () => ({
    answer: (call: ProviderCall, real: ProviderAnswer) => (call.id % 3 === 2 ? undefined : real),
  }),
  'refuses one call in six': () => ({
    answer: (_: ProviderCall, real: ProviderAnswer) =>
      sometimes(1 / 6) ? error(-32_005, 'rate limited') : real,
  }),
  'gives logs of ten blocks': () =>
    limitedRange(10, -32_600, 'you can make eth_getLogs requests with up to a 10 block range'),
  'gives logs of one block, without a reason': () => limitedRange(1, -32_603, 'no'),
  'has thrown its logs away': () => ({
    answer: (call: ProviderCall, real: ProviderAnswer) =>
      call.method === 'eth_getLogs' ? error(4_444, 'pruned history unavailable') : real,
  }),
  'gives no logs': () => limitedRange(0, -32_601, 'the method eth_getLogs is not available'),
  'has no finalized block': () => ({
    answer: (call: ProviderCall, real: ProviderAnswer) =>
      call.params[0] === 'finalized' ? error(-32_000, 'finalized block not found') : real,
  }),
  'has receipts that come and go': comingAndGoing,
  'drops half of the broadcasts': () => dropping(0.5),
  'says "already known" to all': () => lying('already known'),
  'says "nonce too low" to all': () => lying('nonce too low'),
  'says "underpriced" to all': () => lying('transaction underpriced'),
  'says "insufficient funds" to all': () => lying('insufficient funds for gas * price + value'),
  // Must be the last one, because the relayer then avoids the provider's address for a minute.
  'has become one of another chain': () => ({
    answer: (call: ProviderCall, _: ProviderAnswer, head: bigint) => answerElsewhere(call, head),
  }),
} as const satisfies Record<string, () => Behavior>;

export type BehaviorName = keyof typeof BEHAVIORS;
