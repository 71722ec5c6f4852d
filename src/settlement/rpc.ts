import { Pool } from 'undici';
import { describeError, type Log } from '#core/log.ts';

interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

type RpcAnswer =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly refusal: RpcRefusal };

/** The node understood the call and said no. */
export class RpcRefusal extends Error {
  override name = 'RpcRefusal';
  readonly code: number;
  /** Revert data of a call, if any. */
  readonly data: unknown;

  constructor(code: number, message: string, data: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** No node gave an answer: whether a transaction arrived is unknown. */
export class RpcUnavailable extends Error {
  override name = 'RpcUnavailable';
}

/** JSON-RPC with failover over several nodes of one chain. */
export interface Rpc {
  /** @throws RpcRefusal the node said no. @throws RpcUnavailable nobody answered. */
  call(method: string, params: readonly unknown[]): Promise<unknown>;
  /** The answers in the order of the calls, all from one node. @throws RpcUnavailable */
  batch(calls: readonly RpcCall[]): Promise<RpcAnswer[]>;
  /** The chain id that each address tells; null where it does not answer. */
  probe(): Promise<{ readonly url: string; readonly chainId: number | null }[]>;
  close(): Promise<void>;
}

export interface RpcOptions {
  readonly urls: readonly string[];
  /** Nodes of another chain are never used. */
  readonly chainId: number;
  readonly timeoutMs?: number;
  readonly log: Log;
}

interface Endpoint {
  readonly url: string;
  readonly path: string;
  readonly pool: Pool;
  /** Asked last until then (milliseconds since the process started). */
  restsUntil: number;
  chain: 'unknown' | 'right' | 'wrong';
}

/** A node that takes longer is worth less than the next one. */
const TIMEOUT_MS = 3_000;
/** A node that failed is asked last for this long. */
const REST_MS = 5_000;
/** Providers refuse longer batches. */
const MAX_BATCH = 50;
/** Enough for receipts, checks and a broadcast at the same time. */
const CONNECTIONS = 8;
/** JSON-RPC codes that say "not now" or "not I" rather than "no": rate limits, overload. */
const BUSY_CODES = new Set([-32005, -32016, -32097, 429]);

export function connectRpc(options: RpcOptions): Rpc {
  const endpoints = options.urls.map(openEndpoint);
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;

  const verify = async (endpoint: Endpoint) => {
    const [answer] = await send(endpoint, [{ method: 'eth_chainId', params: [] }], timeoutMs);
    const chainId = answer?.ok === true ? Number(answer.result) : null;
    endpoint.chain = chainId === options.chainId ? 'right' : 'wrong';
    if (endpoint.chain === 'right') return;
    options.log.error('a node belongs to another chain and is not used', {
      node: hostOf(endpoint.url),
      chainId,
      expected: options.chainId,
    });
  };
  const attempt = async (endpoint: Endpoint, calls: readonly RpcCall[]) => {
    if (endpoint.chain === 'unknown') await verify(endpoint);
    if (endpoint.chain === 'wrong') throw new Error('the node belongs to another chain');
    const answers: RpcAnswer[] = [];
    for (let i = 0; i < calls.length; i += MAX_BATCH) {
      answers.push(...(await send(endpoint, calls.slice(i, i + MAX_BATCH), timeoutMs)));
    }
    return answers;
  };
  const batch = async (calls: readonly RpcCall[]) => {
    if (calls.length === 0) return [];
    let last: unknown;
    for (const endpoint of inOrder(endpoints)) {
      try {
        return await attempt(endpoint, calls);
      } catch (error) {
        last = error;
        rest(endpoint, error, options.log);
      }
    }
    throw new RpcUnavailable('no node of the chain answers', { cause: last });
  };
  return {
    batch,
    call: async (method, params) => {
      const [answer] = await batch([{ method, params }]);
      if (answer?.ok === true) return answer.result;
      throw answer?.refusal ?? new RpcUnavailable('no answer');
    },
    probe: () =>
      Promise.all(
        endpoints.map(async (endpoint) => {
          const ask = send(endpoint, [{ method: 'eth_chainId', params: [] }], timeoutMs);
          const [answer] = await ask.catch(() => []);
          const chainId = answer?.ok === true ? Number(answer.result) : null;
          return { url: endpoint.url, chainId };
        }),
      ),
    close: async () => {
      await Promise.all(endpoints.map((endpoint) => endpoint.pool.destroy()));
    },
  };
}

function openEndpoint(url: string): Endpoint {
  const { origin, pathname, search } = new URL(url);
  const pool = new Pool(origin, { connections: CONNECTIONS });
  return { url, path: pathname + search, pool, restsUntil: 0, chain: 'unknown' };
}

/** In the order of preference, those at rest behind the others. */
function inOrder(endpoints: readonly Endpoint[]): Endpoint[] {
  const now = performance.now();
  const ready = endpoints.filter((endpoint) => endpoint.restsUntil <= now);
  return [...ready, ...endpoints.filter((endpoint) => endpoint.restsUntil > now)];
}

function rest(endpoint: Endpoint, error: unknown, log: Log): void {
  const now = performance.now();
  const wasResting = endpoint.restsUntil > now;
  endpoint.restsUntil = now + REST_MS;
  if (wasResting) return;
  log.warn('a chain node does not answer', {
    node: hostOf(endpoint.url),
    error: describeError(error),
  });
}

/** Paths and queries of RPC addresses often hold the provider's key. */
function hostOf(url: string): string {
  return new URL(url).host;
}

async function send(
  endpoint: Endpoint,
  calls: readonly RpcCall[],
  timeoutMs: number,
): Promise<RpcAnswer[]> {
  const requests = calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call }));
  const response = await endpoint.pool.request({
    method: 'POST',
    path: endpoint.path,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(requests.length === 1 ? requests[0] : requests),
    signal: AbortSignal.timeout(timeoutMs),
  });
  const text = await response.body.text();
  if (response.statusCode === 429) throw new Error('the node limits the rate');
  return readAnswers(text, calls.length, response.statusCode);
}

interface RawAnswer {
  id?: unknown;
  result?: unknown;
  error?: { code?: number; message?: string; data?: unknown };
}

function readAnswers(text: string, count: number, status: number): RpcAnswer[] {
  const parsed = parse(text, status);
  const raw = Array.isArray(parsed) ? parsed : [parsed];
  const byId = new Map(raw.map((answer) => [answer.id, answer]));
  return Array.from({ length: count }, (_, id) => {
    const answer = byId.get(id) ?? (count === 1 ? raw[0] : undefined);
    if (answer === undefined) throw new Error(`the node left a call unanswered (${status})`);
    return readAnswer(answer);
  });
}

function parse(text: string, status: number): RawAnswer | RawAnswer[] {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // A gateway's page rather than a node's answer.
  }
  throw new Error(`the node answered ${status} without JSON-RPC`);
}

function readAnswer(answer: RawAnswer): RpcAnswer {
  if (answer.error === undefined || answer.error === null) {
    return { ok: true, result: answer.result ?? null };
  }
  const { code = 0, message = '', data } = answer.error;
  if (BUSY_CODES.has(code)) throw new Error(`the node is busy: ${message}`);
  return { ok: false, refusal: new RpcRefusal(code, message, data) };
}
