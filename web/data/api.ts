import { loadMoreTexts, t, textLanguage } from '../ui/text/t.ts';
import { refusalText } from './refusal-text.ts';
import { fromRoot } from './root-path.ts';
import { within } from './run-within.ts';

/**
 * An API error, in the format that all APIs share (docs/behavior.md). Branch on `code`, show
 * `message`.
 */
export interface ApiError {
  readonly type: string;
  readonly code: string;
  readonly message: string;
  readonly param: string | null;
  readonly request_id: string;
  /** True if `message` comes from the text catalog in the page's language, not from the service. */
  readonly isTranslated?: boolean;
}

/**
 * The result of a request. `not_sent`: the request never left this device. `unknown`: the service
 * may have carried it out.
 */
export type Answer<T> =
  | {
      readonly is: 'done';
      readonly value: T;
      readonly status: number;
      /** The service's clock in milliseconds, or `null` if a proxy removed the header. */
      readonly serverTime: number | null;
    }
  | { readonly is: 'refused'; readonly error: ApiError; readonly status: number }
  | { readonly is: 'not_sent' }
  /** `status` is set if a proxy or another server responded instead of the service. */
  | { readonly is: 'unknown'; readonly status?: number };

export interface ApiRequest {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Path below the API's root, with a leading slash. */
  readonly path: string;
  /** Undefined values are left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
  /** A raw body, sent with the blob's own content type. */
  readonly file?: Blob;
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
  /** Time-out in milliseconds, after which the result is `unknown`. */
  readonly timeoutMs?: number;
}

export type Api = <T>(request: ApiRequest) => Promise<Answer<T>>;

export interface ApiOptions {
  /** For example `api/dashboard/v1`, without a leading or trailing slash. */
  readonly root: string;
  /** Called for each request, because a key may change. */
  readonly headers?: () => Readonly<Record<string, string>>;
}

/** Time within which a reachable service responds. */
const PROBE_MS = 2_000;

/**
 * True if the browser reports a connection or the service responds. `navigator.onLine` alone is not
 * enough: virtual adapters, and networks without a route, make browsers report that they are
 * offline.
 */
export async function isReachable(): Promise<boolean> {
  if (navigator.onLine) return true;
  const init = { cache: 'no-store', signal: AbortSignal.timeout(PROBE_MS) } as const;
  return fetch(fromRoot('livez'), init).then(
    () => true,
    () => false,
  );
}

/** Longer than the service's own request time-out. */
const TIMEOUT_MS = 35_000;

function urlOf(root: string, { path, query = {} }: ApiRequest): URL {
  const url = fromRoot(`${root}${path}`);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  return url;
}

function initOf(options: ApiOptions, request: ApiRequest): RequestInit {
  const { method = 'GET', body, file, idempotencyKey } = request;
  const headers = new Headers(options.headers?.());
  if (body !== undefined) headers.set('Content-Type', 'application/json');
  if (file !== undefined) headers.set('Content-Type', file.type);
  if (idempotencyKey !== undefined) headers.set('Idempotency-Key', idempotencyKey);
  return {
    method,
    headers,
    cache: 'no-store',
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(file === undefined ? {} : { body: file }),
  };
}

/** Sends the request and reads the whole body, which may break off. */
async function answerTo(options: ApiOptions, request: ApiRequest, signal: AbortSignal) {
  const init = { ...initOf(options, request), signal };
  const response = await fetch(urlOf(options.root, request), init);
  return { response, text: await response.text() };
}

function timeOf(headers: Headers): number | null {
  const time = Date.parse(headers.get('Date') ?? '');
  return Number.isNaN(time) ? null : time;
}

function isApiError(body: unknown): body is { readonly error: ApiError } {
  return typeof body === 'object' && body !== null && 'error' in body;
}

/** Loads the texts of refusals. Without them, a screen shows the code. */
async function loadRefusals(): Promise<void> {
  if (textLanguage() !== 'en') await loadMoreTexts().catch(() => {});
}

/**
 * Creates a client for one API of the service. Calls never throw, because code that handles money
 * must handle each of the four results. Pages that only read can use {@link valueIn}.
 */
export function createApi(options: ApiOptions): Api {
  return async <T>(request: ApiRequest): Promise<Answer<T>> => {
    if (!(await isReachable())) return { is: 'not_sent' };
    let status: number | undefined;
    try {
      const limit = { ms: request.timeoutMs ?? TIMEOUT_MS, until: request.signal };
      const { response, text } = await within(limit, (signal) =>
        answerTo(options, request, signal),
      );
      status = response.status;
      const body: unknown = text === '' ? null : JSON.parse(text);
      const serverTime = timeOf(response.headers);
      if (response.ok) return { is: 'done', value: body as T, status, serverTime };
      // A proxy's error page does not reveal whether the service carried out the request.
      if (isApiError(body)) {
        await loadRefusals();
        return { is: 'refused', error: body.error, status };
      }
    } catch {
      // A body that cannot be parsed also makes the result unknown.
    }
    return status === undefined ? { is: 'unknown' } : { is: 'unknown', status };
  };
}

/** Thrown by {@link valueIn} for a result without a value. */
export class ApiFailure extends Error {
  readonly answer: Exclude<Answer<unknown>, { is: 'done' }>;

  constructor(answer: Exclude<Answer<unknown>, { is: 'done' }>) {
    super(answer.is === 'refused' ? refusalText(answer.error) : t('ui.unreachable'));
    this.name = 'ApiFailure';
    this.answer = answer;
  }
}

/** Returns the result's value. @throws ApiFailure if there is none. */
export function valueIn<T>(answer: Answer<T>): T {
  if (answer.is === 'done') return answer.value;
  throw new ApiFailure(answer);
}
