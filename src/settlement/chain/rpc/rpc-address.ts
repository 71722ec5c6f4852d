import { describeError, type Log } from '#observability/log.ts';
import { createPost, type Post, type PostOptions } from '#settlement/chain/rpc/rpc-post.ts';
import { NodeFault, passed, type Reply, type RpcCall } from '#settlement/chain/rpc/rpc-reply.ts';

export interface AddressOptions extends PostOptions {
  /**
   * The provider's index in the order of preference, from 0; logs and metrics use it as its name.
   */
  readonly index: number;
  readonly chainId: number;
  readonly log: Log;
  readonly onReply: (method: string, reply: Reply) => void;
}

/** One provider of a chain: its URL, and this process's observations of it. */
export interface Address {
  readonly index: number;
  readonly host: string;
  /**
   * The number of blocks whose logs the provider returns in one response, by the number that was
   * requested at first; remembered until a time on this process's clock.
   */
  readonly logWidths: Map<bigint, { readonly width: bigint; readonly until: number }>;
  /**
   * The time on this process's clock until which the provider gets no requests for logs, because it
   * refused all of them.
   */
  noLogsUntil: number;
  /**
   * True if the provider's head does not advance, or is far behind. Other providers are then tried
   * first.
   */
  isStale: boolean;
  /** Returns one reply per call. Never throws. */
  ask(calls: readonly RpcCall[], options: AskOptions): Promise<Reply[]>;
  /** @throws NodeFault */
  chainId(): Promise<number>;
  /**
   * Reads the chain id, unless it was just read. The provider is used only while its id is right.
   */
  confirmChain(): Promise<void>;
  /** True if the provider failed recently; the other providers are then tried first. */
  isResting(): boolean;
  close(): Promise<void>;
}

export interface AskOptions {
  /** True if a customer is waiting at the counter. Urgent requests go first under a rate limit. */
  readonly urgent: boolean;
}

/** For this long, a provider that failed is tried after all others. */
const REST_MS = 5_000;
/** The interval at which each provider's chain id is read. */
const CHAIN_CHECK_MS = 60_000;
/** Minimum time between two reads of a chain id, even if a response suggests another chain. */
const CHAIN_DOUBT_MS = 5_000;
/**
 * Interval at which a provider of another chain is checked again. Short, because customers wait.
 */
const WRONG_CHAIN_MS = 1_000;
/** A chain id that was read within this time is not read again. */
const CONFIRMED_MS = 250;
/** Maximum number of blocks of a contract's logs requested at once. */
export const LOG_WIDTH = 2_000n;

export function openAddress(options: AddressOptions): Address {
  const { host } = new URL(options.url);
  const post = createPost(options);
  const name = { node: host, address: options.index + 1 };
  const ask = createBatches(options, post, name);
  const chain = createChainCheck(options, ask, name);
  const pause = createPause(options.log, name);
  return {
    index: options.index,
    host,
    logWidths: new Map(),
    noLogsUntil: Number.NEGATIVE_INFINITY,
    isStale: false,
    chainId: chain.readChainId,
    confirmChain: () => chain.confirm().catch(() => {}),
    isResting: pause.isResting,
    ask: async (calls, { urgent }) => {
      const all = (fault: NodeFault) => calls.map(() => passed(fault));
      if (pause.isClosed())
        return all(new NodeFault('closed', 'the node asked the service to slow down'));
      const replies = await chain
        .require()
        .then(() => ask(calls, urgent))
        .catch((error) => {
          if (error instanceof NodeFault) return all(error);
          throw error;
        });
      for (const reply of replies) {
        if (reply.status !== 'passed') continue;
        pause.note(reply.fault);
        if (DOUBTFUL.includes(reply.fault.kind)) chain.doubt();
      }
      return replies;
    },
    close: post.close,
  };
}

/**
 * Faults that suggest that the node serves another chain, which lacks the contract and rejects our
 * transactions.
 */
const DOUBTFUL: readonly NodeFault['kind'][] = ['malformed', 'unknown'];

interface Name {
  readonly node: string;
  readonly address: number;
}

/** Faults caused by the request, which say nothing about the node's health. */
const NO_REASON_TO_REST: readonly NodeFault['kind'][] = [
  'missing',
  'unsupported',
  'range',
  'results',
  'slow',
  'ceiling',
];

function createPause(log: Log, name: Name) {
  let restsUntil = 0;
  let closedUntil = 0;
  return {
    isResting: () => restsUntil > performance.now(),
    isClosed: () => closedUntil > performance.now(),
    note: (fault: NodeFault) => {
      const { kind, pauseMs } = fault;
      const now = performance.now();
      if (pauseMs !== null) closedUntil = Math.max(closedUntil, now + pauseMs);
      if (pauseMs === null && NO_REASON_TO_REST.includes(kind)) return;
      const wasResting = restsUntil > now;
      restsUntil = Math.max(restsUntil, now + REST_MS, closedUntil);
      if (wasResting) return;
      log.warn('a chain node does not answer', { ...name, error: describeError(fault), pauseMs });
    },
  };
}

/**
 * Calls per request: first as many as most providers accept, then fewer. Some providers accept no
 * batches, so the last size is one.
 */
const BATCH_SIZES = [50, 10, 3, 1] as const;
/** After this time a larger batch is tried again, because the refusal may have been temporary. */
const BATCH_MEMORY_MS = 1_800_000;

type AskAll = (calls: readonly RpcCall[], urgent: boolean) => Promise<Reply[]>;

/** Sends any number of calls in batches as large as the node accepts. */
function createBatches(options: AddressOptions, post: Post, name: Name): AskAll {
  let size: number = BATCH_SIZES[0];
  let shrunkAt = 0;
  const sizeNow = () => {
    if (performance.now() - shrunkAt > BATCH_MEMORY_MS) size = BATCH_SIZES[0];
    return Math.min(size, options.ceiling.largest);
  };
  const shrinkBelow = (refused: number) => {
    const smaller = BATCH_SIZES.find((one) => one < refused) ?? 1;
    if (smaller >= size) return;
    size = smaller;
    shrunkAt = performance.now();
    options.log.info('a chain node accepts only smaller batches', { ...name, size });
  };
  const askPortion = async (calls: readonly RpcCall[], urgent: boolean): Promise<Reply[]> => {
    const posted = await post.send(calls, urgent);
    const replies = posted.status === 'read' ? posted.replies : calls.map(() => null);
    const left = calls.filter((_, at) => replies[at] === null);
    let again: Reply[] = [];
    if (left.length > 0 && calls.length > 1) {
      shrinkBelow(calls.length);
      again = await askAll(left, urgent);
    }
    return replies.map((reply, at) => {
      if (reply === null) return again.shift() ?? UNANSWERED;
      options.onReply(calls[at]?.method ?? '', reply);
      return reply;
    });
  };
  const askAll: AskAll = async (calls, urgent) => {
    const portions: (readonly RpcCall[])[] = [];
    const most = sizeNow();
    for (let at = 0; at < calls.length; at += most) portions.push(calls.slice(at, at + most));
    return (await Promise.all(portions.map((portion) => askPortion(portion, urgent)))).flat();
  };
  return askAll;
}

const UNANSWERED = passed(new NodeFault('silent', 'the node left a call unanswered'));

const CHAIN_ID: RpcCall = { method: 'eth_chainId', params: [] };

/**
 * Checks the provider's chain id regularly. The provider is excluded only while it reports another
 * chain.
 */
function createChainCheck({ chainId, log }: AddressOptions, ask: AskAll, name: Name) {
  let known: number | null = null;
  let checkedAt = Number.NEGATIVE_INFINITY;
  let isDoubted = false;
  let checking: Promise<void> | null = null;
  const readChainId = async () => {
    const [reply] = await ask([CHAIN_ID], true);
    if (reply?.status === 'answered') return Number(reply.result);
    throw reply?.status === 'passed' ? reply.fault : new NodeFault('unknown', 'no chain id');
  };
  const check = async () => {
    const reported = await readChainId();
    checkedAt = performance.now();
    isDoubted = false;
    if (reported === known) return;
    const fields = { ...name, chainId: reported, expected: chainId };
    if (reported !== chainId) log.error('a node belongs to another chain and is not used', fields);
    else if (known !== null) log.info('a node belongs to the right chain again', fields);
    known = reported;
  };
  const checkOnce = () => {
    checking ??= check().finally(() => {
      checking = null;
    });
    return checking;
  };
  const ageMs = () => performance.now() - checkedAt;
  return {
    readChainId,
    confirm: async () => {
      if (ageMs() > CONFIRMED_MS) await checkOnce();
    },
    doubt: () => {
      if (ageMs() > CHAIN_DOUBT_MS) isDoubted = true;
    },
    require: async () => {
      if (known === chainId && !isDoubted) {
        // The last read was right and is only a minute old, so the next read runs in the
        // background.
        if (ageMs() > CHAIN_CHECK_MS) {
          checkedAt = performance.now();
          checkOnce().catch(() => {});
        }
        return;
      }
      if (isDoubted || ageMs() > WRONG_CHAIN_MS) await checkOnce();
      if (known !== chainId) throw new NodeFault('wrong_chain', 'the node serves another chain');
    },
  };
}
