import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '#observability/log.ts';
import { type Address, openAddress } from '#settlement/chain/rpc/rpc-address.ts';
import { createCeiling } from '#settlement/chain/rpc/rpc-rate.ts';
import {
  NodeFault,
  type Reply,
  type RpcCall,
  type RpcRefusal,
} from '#settlement/chain/rpc/rpc-reply.ts';
import { RpcUnavailable } from '#settlement/rpc-unavailable.ts';

export { RpcRefusal } from '#settlement/chain/rpc/rpc-reply.ts';
export { RpcUnavailable } from '#settlement/rpc-unavailable.ts';

export type RpcAnswer =
  /** `host` is the host of the provider that answered. */
  | { readonly ok: true; readonly result: unknown; readonly host: string }
  /** The chain refused, or no node answered this call. */
  | { readonly ok: false; readonly refusal: RpcRefusal | RpcUnavailable };

/** JSON-RPC with failover over several providers of one chain. */
export interface Rpc {
  /**
   * @throws RpcRefusal if the chain refuses.
   * @throws RpcUnavailable if no node answered.
   */
  call(method: string, params: readonly unknown[], options?: RpcPriority): Promise<unknown>;
  /**
   * Returns the answers in the order of the calls. Calls that one provider does not answer go to
   * the next one, so the answers may come from several.
   * @throws RpcUnavailable if no call got an answer.
   */
  batch(calls: readonly RpcCall[], options?: RpcPriority): Promise<RpcAnswer[]>;
  /** Returns the providers in the order in which a call would try them now. */
  inOrder(): Address[];
  /** Reads the chain id that each provider reports; `null` for a provider that does not answer. */
  probe(): Promise<readonly ProbedAddress[]>;
  /**
   * Reads each provider's chain id, and stops using providers of another chain. Called when
   * responses contradict each other, before any conclusion is drawn.
   */
  confirmChain(): Promise<void>;
  /** Returns the counts of calls since the process started. */
  counts(): readonly RequestCount[];
  /** Returns the time of the last answer from any provider, on the clock of `performance.now()`. */
  answeredAt(): number;
  close(): Promise<void>;
}

export interface ProbedAddress {
  readonly url: string;
  readonly host: string;
  readonly chainId: number | null;
  readonly error: string | null;
}

export interface RpcPriority {
  /** True if a customer is waiting at the counter. Urgent requests go first under a rate limit. */
  readonly urgent?: boolean;
}

export interface RpcOptions {
  /** URLs, the preferred one first. */
  readonly urls: readonly string[];
  /** The chain's id. Nodes that report another one are never used. */
  readonly chainId: number;
  /** Time-outs of the providers, in order; the last one applies to the rest. */
  readonly timeoutsMs?: readonly number[];
  /** Additional headers for each provider, in order. */
  readonly headers?: readonly Readonly<Record<string, string>>[];
  /**
   * Limit on this process's requests per second, to all providers together; `null` for no limit.
   */
  readonly perSecond?: number | null;
  readonly log: Log;
}

/** Default time-out. After this long, it is faster to ask the next node than to wait. */
const TIMEOUT_MS = 3_000;
/**
 * Pause before missing data is requested again. Nodes behind one address rarely lag by more than
 * this.
 */
const MISSING_MS = 150;

export function connectRpc(options: RpcOptions): Rpc {
  const counts = createCounts();
  const addresses = openAddresses(options, counts.note);
  const inOrder = () => inOrderOf(addresses);
  const batch = async (calls: readonly RpcCall[], { urgent = false }: RpcPriority = {}) => {
    if (calls.length === 0) return [];
    const replies = await askRound(inOrder(), calls, { urgent });
    const missing = calls.filter((_, at) => isMissing(replies[at]));
    if (missing.length > 0) {
      // A lagging node will have the data soon, or another node behind the same address will
      // answer.
      await sleep(MISSING_MS);
      const again = await askRound(inOrder(), missing, { urgent });
      for (const [at, reply] of replies.entries()) {
        if (isMissing(reply)) replies[at] = again.shift() ?? reply;
      }
    }
    const answers = replies.map(toAnswer);
    const [first] = answers;
    if (answers.every(isUnavailable) && first?.ok === false) throw first.refusal;
    return answers;
  };
  return {
    batch,
    inOrder,
    confirmChain: async () => {
      await Promise.all(addresses.map((address) => address.confirmChain()));
    },
    counts: counts.read,
    answeredAt: counts.answeredAt,
    call: async (method, params, priority) => {
      const [answer] = await batch([{ method, params }], priority);
      if (answer?.ok === true) return answer.result;
      throw answer?.refusal ?? new RpcUnavailable('no answer');
    },
    probe: () => Promise.all(addresses.map((one, index) => probe(one, options.urls[index] ?? ''))),
    close: async () => {
      await Promise.all(addresses.map((address) => address.close()));
    },
  };
}

type HostReply = Reply & { readonly host: string };

/**
 * Asks the providers one after another. Each is asked only for the calls that are still unanswered.
 */
async function askRound(
  addresses: readonly Address[],
  calls: readonly RpcCall[],
  options: { readonly urgent: boolean },
): Promise<HostReply[]> {
  const replies: HostReply[] = [];
  let left = calls.map((_, at) => at);
  for (const address of addresses) {
    const requests = left.map((at) => calls[at] as RpcCall);
    const got = await address.ask(requests, options);
    left.forEach((at, position) => {
      replies[at] = merge(replies[at], { ...(got[position] as Reply), host: address.host });
    });
    left = left.filter((at) => replies[at]?.status === 'passed');
    if (left.length === 0) break;
  }
  return replies;
}

function isMissing(reply: Reply | undefined): boolean {
  return reply?.status === 'passed' && reply.fault.kind === 'missing';
}

function openAddresses(
  options: RpcOptions,
  note: (call: { index: number; method: string }, reply: Reply) => void,
): Address[] {
  const { urls, headers = [], timeoutsMs = [], chainId, log } = options;
  const ceiling = createCeiling(options.perSecond ?? null, () => performance.now());
  return urls.map((url, index) =>
    openAddress({
      index,
      url,
      headers: headers[index] ?? {},
      timeoutMs: timeoutsMs[index] ?? timeoutsMs.at(-1) ?? TIMEOUT_MS,
      chainId,
      ceiling,
      log,
      onReply: (method, reply) => note({ index, method }, reply),
    }),
  );
}

/**
 * Returns the addresses in order of preference; those whose head does not advance come later, and
 * those that failed recently come last.
 */
function inOrderOf(addresses: readonly Address[]): Address[] {
  const rank = (address: Address) => (address.isResting() ? 2 : 0) + (address.isStale ? 1 : 0);
  return [...addresses].sort((a, b) => rank(a) - rank(b) || a.index - b.index);
}

/**
 * Faults that a working node may report. If every node reports one of these faults, the refusal
 * counts as an answer.
 */
const REFUSALS: readonly NodeFault['kind'][] = ['unsupported', 'unknown'];

function merge(before: HostReply | undefined, now: HostReply): HostReply {
  if (now.status !== 'passed' || before?.status !== 'passed') return now;
  if (now.fault.kind === 'wrong_chain') return before;
  // The fault of a provider that may answer later takes precedence over a refusal.
  return REFUSALS.includes(before.fault.kind) ? now : before;
}

function toAnswer(reply: HostReply): RpcAnswer {
  if (reply.status === 'answered') return { ok: true, result: reply.result, host: reply.host };
  if (reply.status === 'refused') return { ok: false, refusal: reply.refusal };
  const { kind, refusal } = reply.fault;
  if (refusal !== null && REFUSALS.includes(kind)) return { ok: false, refusal };
  const cause = reply.fault;
  return { ok: false, refusal: new RpcUnavailable('no node of the chain answers', { cause }) };
}

function isUnavailable(answer: RpcAnswer): boolean {
  return !answer.ok && answer.refusal instanceof RpcUnavailable;
}

async function probe(address: Address, url: string): Promise<ProbedAddress> {
  const { host } = address;
  try {
    return { url, host, chainId: await address.chainId(), error: null };
  } catch (error) {
    if (!(error instanceof NodeFault)) throw error;
    return { url, host, chainId: null, error: error.message };
  }
}

/** Counts calls with the same method, provider and result since the process started. */
interface RequestCount {
  readonly method: string;
  /** The provider's index in the order of preference, from 0. Its URL may contain a key. */
  readonly index: number;
  /** `ok`, `refused` (by the chain), or the reason why the provider gave no answer. */
  readonly result: string;
  readonly count: number;
}

/** Counts calls individually, even in a batch, because providers charge per call. */
function createCounts() {
  const counts = new Map<string, RequestCount>();
  let answeredAt = Number.NEGATIVE_INFINITY;
  return {
    answeredAt: () => answeredAt,
    note: (call: { readonly index: number; readonly method: string }, reply: Reply) => {
      const result = resultOf(reply);
      if (result === 'ok') answeredAt = performance.now();
      const key = `${call.index} ${call.method} ${result}`;
      counts.set(key, { ...call, result, count: (counts.get(key)?.count ?? 0) + 1 });
    },
    read: () => [...counts.values()],
  };
}

function resultOf(reply: Reply): string {
  if (reply.status === 'answered') return 'ok';
  return reply.status === 'refused' ? 'refused' : reply.fault.kind;
}
