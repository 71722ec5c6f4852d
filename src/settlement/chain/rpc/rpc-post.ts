import { Pool } from 'undici';
import { describeError } from '#observability/log.ts';
import { CONNECTIONS, createCallsInFlight } from '#settlement/chain/rpc/calls-in-flight.ts';
import { isWellFormed } from '#settlement/chain/rpc/node-answers.ts';
import {
  classifyRefusal,
  type RawError,
  retryAfterMs,
  unwrapRevert,
} from '#settlement/chain/rpc/node-refusals.ts';
import type { Ceiling } from '#settlement/chain/rpc/rpc-rate.ts';
import {
  NodeFault,
  passed,
  type Reply,
  type RpcCall,
  RpcRefusal,
} from '#settlement/chain/rpc/rpc-reply.ts';

export interface PostOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly ceiling: Ceiling;
}

export type Posted =
  /** One reply per call; `null` for a call that the node's response omits. */
  | { readonly status: 'read'; readonly replies: readonly (Reply | null)[] }
  /** The node refused the batch as a whole. */
  | { readonly status: 'too_many' };

export interface Post {
  send(calls: readonly RpcCall[], urgent: boolean): Promise<Posted>;
  close(): Promise<void>;
}

/** Maximum number of characters of a provider's text that our messages quote. */
const MAX_TEXT = 200;
/**
 * Parts of a URL of this length or more are treated as secrets; shorter ones are words like "v2".
 */
const SECRET_LENGTH = 8;

/** Status codes of gateway time-outs: RFC 9110, and Cloudflare's. */
const GATEWAY_TIMEOUTS = [504, 524];

/** Sends calls to one provider and classifies the responses. Never throws. */
export function createPost(options: PostOptions): Post {
  const { origin, pathname, search, username, password } = new URL(options.url);
  const pool = new Pool(origin, { connections: CONNECTIONS });
  const inFlight = createCallsInFlight(isLate);
  const basic = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
  const headers = {
    'content-type': 'application/json',
    'accept-encoding': 'identity',
    ...(username === '' ? {} : { authorization: `Basic ${basic.toString('base64')}` }),
    ...options.headers,
  };
  const plain = createScrubber(options);
  const exchange = async (calls: readonly RpcCall[], urgent: boolean): Promise<Exchanged> => {
    const withinMs = options.timeoutMs;
    await options.ceiling.take(calls.length, { urgent, withinMs });
    const requests = calls.map(({ method, params }, id) => ({
      jsonrpc: '2.0',
      id,
      method,
      params,
    }));
    const body = JSON.stringify(requests.length === 1 ? requests[0] : requests);
    return inFlight.run(urgent, async () => {
      const response = await pool.request({
        method: 'POST',
        path: pathname + search,
        headers,
        body,
        signal: AbortSignal.timeout(options.timeoutMs),
      });
      const retryAfter = response.headers['retry-after'];
      const header = Array.isArray(retryAfter) ? retryAfter[0] : retryAfter;
      return { status: response.statusCode, header, text: await response.body.text() };
    });
  };
  return {
    send: async (calls, urgent) => {
      try {
        const got = await exchange(calls, urgent);
        if (!GATEWAY_TIMEOUTS.includes(got.status)) return readAll(calls, got, plain);
        return allOf(calls, noAnswer(calls, `answered ${got.status}`));
      } catch (error) {
        if (error instanceof NodeFault) return allOf(calls, error);
        const what = plain(describeError(error));
        return allOf(calls, isLate(error) ? noAnswer(calls, what) : new NodeFault('silent', what));
      }
    },
    close: () => pool.destroy(),
  };
}

function isLate(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError';
}

function allOf(calls: readonly RpcCall[], fault: NodeFault): Posted {
  return { status: 'read', replies: calls.map(() => passed(fault)) };
}

/**
 * Returns the fault for an exceeded time limit: `slow` after a request for logs, because the node
 * may be up, and a smaller range may work.
 */
function noAnswer(calls: readonly RpcCall[], what: string): NodeFault {
  const hasLogs = calls.some(({ method }) => method === 'eth_getLogs');
  return new NodeFault(hasLogs ? 'slow' : 'silent', what);
}

interface Exchanged {
  readonly status: number;
  readonly header: string | undefined;
  readonly text: string;
}

type Scrub = (text: string) => string;

/**
 * Creates a function that removes secrets from texts: URLs and headers contain keys, and providers
 * repeat them in their messages.
 */
function createScrubber({ url, headers }: PostOptions): Scrub {
  const { pathname, searchParams, username, password } = new URL(url);
  const parts = [...pathname.split('/'), ...searchParams.values(), username, password];
  const secrets = [...parts, ...Object.values(headers).flatMap((value) => value.split(' '))]
    .map((part) => part.trim())
    .filter((part) => part.length >= SECRET_LENGTH);
  return (text) => {
    let clean = text;
    for (const secret of secrets) clean = clean.replaceAll(secret, '…');
    return clean.slice(0, MAX_TEXT);
  };
}

function readAll(calls: readonly RpcCall[], got: Exchanged, plain: Scrub): Posted {
  const parsed = parse(got.text);
  if (Array.isArray(parsed)) {
    const byId = new Map(parsed.filter(isObject).map((answer) => [answer.id, answer]));
    const replies = calls.map((call, id) => {
      const answer = byId.get(id);
      return answer === undefined ? null : readOne(call, answer, got, plain);
    });
    return { status: 'read', replies };
  }
  const [only] = calls;
  if (calls.length === 1 && only !== undefined && isObject(parsed)) {
    // A node that could not parse the request answers with the id null.
    const isOwn = parsed.id === 0 || isObject(parsed.error);
    if (isOwn) return { status: 'read', replies: [readOne(only, parsed, got, plain)] };
  }
  return readWhole(calls, isObject(parsed) ? parsed : null, got, plain);
}

/**
 * Interprets a response that is not one reply per call: a web page, a truncated text, or one error
 * for the whole batch.
 */
function readWhole(
  calls: readonly RpcCall[],
  answer: RawAnswer | null,
  got: Exchanged,
  plain: Scrub,
): Posted {
  const said = readError(answer) ?? { code: 0, message: got.text.slice(0, MAX_TEXT), data: null };
  const { code, data, message: raw } = said;
  const message = plain(raw);
  const kind = classifyRefusal({ method: '', status: got.status, code, message });
  const isFromNode = answer !== null || (got.status >= 400 && got.status < 500);
  if (calls.length > 1 && isFromNode && kind !== 'limit' && kind !== 'access') {
    return { status: 'too_many' };
  }
  const pauseMs = retryAfterMs({ header: got.header, message, data }, Date.now());
  const what = answer === null ? `answered ${got.status} without JSON-RPC` : message;
  const known = kind === 'limit' || kind === 'access' ? kind : 'silent';
  return allOf(calls, new NodeFault(known, what, { pauseMs }));
}

interface RawAnswer {
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

function isObject(value: unknown): value is RawAnswer {
  return typeof value === 'object' && value !== null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON: a gateway's page, or a truncated response.
    return null;
  }
}

function readOne(call: RpcCall, answer: RawAnswer, got: Exchanged, plain: Scrub): Reply {
  const raw = readError(answer);
  if (raw === null) return readResult(call, answer, got);
  const error = unwrapRevert(call.method, raw);
  const { code, data } = error;
  const message = plain(error.message);
  const kind = classifyRefusal({ method: call.method, status: got.status, code, message });
  const refusal = new RpcRefusal(code, message, data);
  if (kind === 'answer') return { status: 'refused', refusal };
  const pauseMs = retryAfterMs({ header: got.header, message, data }, Date.now());
  return passed(new NodeFault(kind, message, { refusal, pauseMs }));
}

function readResult(call: RpcCall, answer: RawAnswer, got: Exchanged): Reply {
  const { result } = answer;
  const good = got.status < 300 && 'result' in answer;
  if (good && isWellFormed(call, result) && call.accepts?.(result) !== false) {
    return { status: 'answered', result };
  }
  return passed(new NodeFault('malformed', `a malformed result of ${call.method}`));
}

/**
 * Reads the error; some gateways send a text instead of the object. `null` if there is no error.
 */
function readError(answer: RawAnswer | null): RawError | null {
  if (answer === null || answer.error === undefined || answer.error === null) return null;
  if (!isObject(answer.error)) return { code: 0, message: String(answer.error), data: null };
  const { code, message, data } = answer.error as Partial<Record<keyof RawError, unknown>>;
  return {
    code: typeof code === 'number' ? code : Number(code ?? 0) || 0,
    message: typeof message === 'string' ? message : '',
    data,
  };
}
