import { type ErrorDetails, TaplineError } from './base-error.ts';
import { type Answered, Call } from './call-promise.ts';
import { ConnectionError, errorOf, OutcomeUnknownError, UsageError } from './error-classes.ts';
import { fetchFor } from './node-fetch.ts';
import { API_VERSION, USER_AGENT } from './version.ts';

export interface ClientOptions {
  /**
   * URL of the API, which ends with `/api`.
   * @default TAPLINE_BASE_URL, or the sandbox for test keys: http://127.0.0.1:4242/api
   */
  readonly baseUrl?: string;
  /**
   * Time-out of one attempt in milliseconds. @default 70000, because a refund waits for its block
   */
  readonly timeout?: number;
  /** Maximum number of retries of a call, which are only made if they are safe. @default 3 */
  readonly maxRetries?: number;
  /** Sends the requests. @default the global `fetch` */
  readonly fetch?: typeof fetch;
}

/** Options of every call. */
export interface RequestOptions {
  /**
   * For POST requests: a repeated key never performs the action twice. @default a random key per
   * call
   */
  readonly idempotencyKey?: string;
  readonly timeout?: number;
  readonly maxRetries?: number;
  readonly signal?: AbortSignal;
  /** The dated API version. @default the version of this package's types */
  readonly version?: string;
}

/** A request of a resource's method. */
export interface ApiRequest {
  readonly method: string;
  /** Path below `/v1`, including ids. */
  readonly path: string;
  readonly query?: object | undefined;
  readonly body?: object | undefined;
  /** True if the service stores the response under the key, which makes retries safe. */
  readonly keyed: boolean;
}

export interface Connection {
  readonly apiKey: string;
  readonly baseUrl: string;
  readonly options: ClientOptions;
  /** The event stream shared by all waits of the client, while there are any. */
  watching: Watching | null;
}

/** The part of the shared event stream that a wait uses. */
export interface Bell {
  readonly id: string;
  readonly ring: () => void;
}

export interface Watching {
  readonly bells: Set<Bell>;
  /** False if no events arrive, so that each wait must poll. */
  readonly works: () => boolean;
  /** Resolves once the stream is open: from then on, every change causes an event. */
  readonly begun: Promise<unknown>;
  readonly stop: () => void;
}

const TIMEOUT_MS = 70_000;
const RETRIES = 3;
const FIRST_DELAY_MS = 150;
const LONGEST_DELAY_MS = 8_000;
/**
 * Retry delay while the first request with this key is still running: it usually waits for a block.
 */
const RUNNING_DELAY_MS = 1_000;
/** A longer Retry-After is reported as an error, so that the caller decides whether to wait. */
const LONGEST_RETRY_AFTER_S = 60;

/** Starts a call. Invalid arguments reject the promise instead of throwing. */
export function ask<T>(
  to: Connection,
  request: ApiRequest | (() => ApiRequest),
  options: RequestOptions = {},
): Call<T> {
  return new Call<T>(send<T>(to, request, options));
}

/** A request and the values that all its attempts share, above all the idempotency key. */
interface Prepared {
  readonly to: Connection;
  readonly asked: ApiRequest;
  readonly options: RequestOptions;
  readonly url: string;
  readonly init: RequestInit;
  readonly key: string | null;
  readonly timeoutMs: number;
  /**
   * The time up to which to wait for an earlier attempt that is still running, on the
   * `performance.now()` clock.
   */
  readonly deadline: number;
}

async function send<T>(
  to: Connection,
  what: ApiRequest | (() => ApiRequest),
  options: RequestOptions,
) {
  const input = typeof what === 'function' ? what() : what;
  const request = prepare(to, input, options);
  const { signal } = options;
  // Nothing was sent yet, so an abort here leaves no unknown result.
  signal?.throwIfAborted();
  let retries = options.maxRetries ?? to.options.maxRetries ?? RETRIES;
  /** True if an attempt may have reached the service, but got no response. */
  let doubtful = false;
  for (let attempt = 0; ; attempt++) {
    const result = await attemptOnce<T>(request);
    if ('data' in result) return result;
    doubtful ||= result.doubtful;
    // Waiting for the first request is limited by time instead of counting as a retry.
    const waits = isRunning(result) && performance.now() < request.deadline;
    const delay = waits || retries-- > 0 ? delayBefore(attempt, result, input) : null;
    if (delay !== null) await sleep(delay, signal);
    if (delay !== null && !signal?.aborted) continue;
    // Throws the abort reason, because the call was aborted between two attempts, none of which can
    // have taken effect.
    if (delay !== null && !doubtful) throw signal?.reason;
    throw doubtful && !isRefusal(result) ? unknownOutcome<T>(request, result) : result.error;
  }
}

function prepare(to: Connection, request: ApiRequest, options: RequestOptions): Prepared {
  const { method, path, body } = request;
  checkNumbers(body);
  const key = method === 'POST' ? (options.idempotencyKey ?? crypto.randomUUID()) : null;
  const url = `${to.baseUrl}/v1${path}${queryOf(request.query)}`;
  const headers: Record<string, string> = headersOf(to);
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  if (key !== null) headers['Idempotency-Key'] = key;
  if (options.version !== undefined) headers['Service-Version'] = options.version;
  const init = { method, headers, redirect: 'manual' as const };
  // Serialized once, so that every attempt sends the same bytes.
  const text = body === undefined ? {} : { body: JSON.stringify(body) };
  const timeoutMs = options.timeout ?? to.options.timeout ?? TIMEOUT_MS;
  const deadline = performance.now() + timeoutMs;
  return { to, asked: request, options, url, init: { ...init, ...text }, key, timeoutMs, deadline };
}

/** Headers of every request. */
export function headersOf({ apiKey }: Connection): Record<string, string> {
  return {
    Authorization: `Bearer ${apiKey}`,
    // Node's `fetch` decodes whatever the server compresses.
    'Accept-Encoding': 'identity',
    'User-Agent': USER_AGENT,
    'Service-Version': API_VERSION,
  };
}

/** The service would refuse fractions. Failing here gives the caller a stack trace. */
function checkNumbers(body: object | undefined): void {
  for (const [name, value] of Object.entries(body ?? {})) {
    if (typeof value === 'number' && !Number.isSafeInteger(value)) {
      throw new UsageError(
        `${name} is ${value} but must be an integer. Amounts are in USDC atoms: 2500000 is ` +
          `2.50 USDC, which usdc('2.50') returns.`,
        { param: name },
      );
    }
  }
}

export function queryOf(query: object | undefined): string {
  const given = Object.entries(query ?? {}).filter(([, value]) => value != null);
  const text = new URLSearchParams(
    given.map(([name, value]): [string, string] => [name, `${value}`]),
  );
  return given.length === 0 ? '' : `?${text}`;
}

interface Failed {
  readonly error: TaplineError;
  /** True if the request may have taken effect. */
  readonly doubtful: boolean;
  readonly retryAfterS: number | null;
}

async function attemptOnce<T>(request: Prepared): Promise<Answered<T> | Failed> {
  const { to, asked, options, url, init, key, timeoutMs } = request;
  const { signal } = options;
  const control = new AbortController();
  const giveUp = () => control.abort();
  const timer = setTimeout(giveUp, timeoutMs);
  signal?.addEventListener('abort', giveUp);
  try {
    const response = await (to.options.fetch ?? fetchFor(url))(url, {
      ...init,
      signal: control.signal,
    });
    const body = parse(await response.text());
    const requestId = response.headers.get('Request-Id');
    if (!response.ok) return failureOf(asked, response, body);
    // Treats a truncated response as no response, whatever its status.
    if (body === undefined) throw new Error('the response was truncated');
    return { data: body as T, response, requestId, idempotencyKey: key };
  } catch (cause) {
    if (signal?.aborted && !asked.keyed) throw signal.reason;
    const why = control.signal.aborted
      ? 'No response arrived in time.'
      : `No response: ${reasonOf(cause)}.`;
    return { error: new ConnectionError(why, { cause }), doubtful: asked.keyed, retryAfterS: null };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
  }
}

/** `fetch failed` is not helpful; its cause is. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as { message?: string; cause?: { message?: string } };
  return cause?.message || message || String(error);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function failureOf(request: ApiRequest, response: Response, body: unknown): Failed {
  const error = errorOf(response, body);
  const { status, code } = error;
  const after = Number(response.headers.get('Retry-After') ?? Number.NaN);
  // Only this code guarantees that nothing was done. After any other server error, the action may
  // have been performed.
  const fault = (status ?? 0) >= 500 && code !== 'service_unavailable';
  const doubtful = request.keyed && (fault || code === RUNNING);
  return { error, doubtful, retryAfterS: Number.isNaN(after) ? null : after };
}

const RUNNING = 'idempotency_request_in_progress';

function isRunning({ error }: Failed): boolean {
  return error.code === RUNNING;
}

/**
 * True if the service refused the request itself. Then no earlier attempt succeeded either, because
 * its stored response would have been replayed. A 401 or 429 is about the caller or the rate and
 * proves nothing.
 */
function isRefusal({ error: { type, status }, doubtful }: Failed): boolean {
  return type !== null && !doubtful && [400, 404, 409].includes(status ?? 0);
}

/** Returns the milliseconds until the next attempt; `null` if another one is unsafe or useless. */
function delayBefore(attempt: number, failed: Failed, request: ApiRequest): number | null {
  const { status, code } = failed.error;
  const lost = failed.error instanceof ConnectionError || status === 500 || status === 503;
  const refused = status === 429 || code === 'service_unavailable' || code === RUNNING;
  // Without a stored key, a retry could perform the action twice.
  const repeatable = request.keyed || request.method === 'GET' || request.method === 'PATCH';
  if (!refused && !(lost && repeatable)) return null;
  if (failed.retryAfterS !== null) {
    return failed.retryAfterS > LONGEST_RETRY_AFTER_S ? null : failed.retryAfterS * 1_000;
  }
  const most = code === RUNNING ? RUNNING_DELAY_MS : LONGEST_DELAY_MS;
  const longest = Math.min(FIRST_DELAY_MS * 2 ** attempt, most);
  return longest * (0.5 + Math.random() / 2);
}

/** Waits. Resolves early, without an error, if the signal aborts. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done);
  });
}

function unknownOutcome<T>(request: Prepared, { error }: Failed): OutcomeUnknownError<T> {
  const { status, type, param, requestId, docUrl } = error;
  const details: ErrorDetails = { status, type, param, requestId, docUrl, cause: error };
  const again = () => unknownOutcome<T>(request, { error, doubtful: true, retryAfterS: null });
  return new OutcomeUnknownError<T>({
    idempotencyKey: request.key ?? '',
    why: error.message,
    resolve: () =>
      resolveOutcome<T>(request, again).catch((cause: unknown) => {
        throw isSilence(cause) ? again() : cause;
      }),
    details,
  });
}

/** True if the service did not answer, so the result of the request is unknown. */
function isSilence(error: unknown): boolean {
  if (!(error instanceof TaplineError) || error instanceof OutcomeUnknownError) return false;
  const { status } = error;
  return error instanceof ConnectionError || status === 429 || (status ?? 0) >= 500;
}

interface KnownKey {
  readonly status: 'in_progress' | 'completed';
  readonly resource: string | null;
  readonly response_status: number | null;
}

/** Path prefix for reading the object of a POST. */
const RESOURCES: Readonly<Record<string, string>> = {
  pi: '/payment_intents',
  re: '/refunds',
  wdl: '/webhook_deliveries',
};

/**
 * Looks the key up. An unknown key does not prove a failure, because the request may still arrive.
 * Then the order ID, if there is one, finds the intent, because no two intents share it.
 */
async function resolveOutcome<T>(request: Prepared, unknown: () => TaplineError): Promise<T> {
  const { to, asked, key } = request;
  const get = <R>(path: string, query?: object) =>
    ask<R>(to, { method: 'GET', path, query, keyed: false });
  const known = await get<KnownKey>(`/idempotency_keys/${encodeURIComponent(key ?? '')}`).catch(
    (error: unknown) => {
      if (error instanceof TaplineError && error.code === 'resource_missing') return null;
      throw error;
    },
  );
  if (known?.status === 'completed') {
    const where = RESOURCES[known.resource?.split('_')[0] ?? ''];
    const refused = (known.response_status ?? 0) >= 400;
    if (where !== undefined && !refused) return get<T>(`${where}/${known.resource}`);
    // Replays the stored refusal without performing anything.
    return ask<T>(to, asked, { ...request.options, idempotencyKey: key ?? '' });
  }
  const existing = known === null ? await findByOrder<T>(request) : undefined;
  if (existing === undefined) throw unknown();
  return existing;
}

async function findByOrder<T>({ to, asked }: Prepared): Promise<T | undefined> {
  const { order_id } = (asked.body ?? {}) as { order_id?: string };
  if (order_id === undefined || asked.path !== '/payment_intents') return undefined;
  const query = { order_id, limit: 1 };
  const list = await ask<{ data: T[] }>(to, { ...asked, method: 'GET', query, body: undefined });
  return list.data[0];
}
