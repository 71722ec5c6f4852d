import { t } from '../ui/text/t.ts';
import { refusalText } from './refusal-text.ts';
import { fromRoot } from './root.ts';
import { within } from './within.ts';

/** A refusal as every surface words it (docs/behavior.md). Branch on `code`, show `message`. */
export interface ApiError {
  readonly type: string;
  readonly code: string;
  readonly message: string;
  readonly param: string | null;
  readonly request_id: string;
  /** The message is not the service's: it is a text of the catalog, in the page's language. */
  readonly isTranslated?: boolean;
}

/**
 * What became of a request. `not_sent`: it never left this device. `unknown`: it may have been
 * carried out, and nobody knows yet.
 */
export type Answer<T> =
  | {
      readonly is: 'done';
      readonly value: T;
      readonly status: number;
      /** What the service's clock said, in milliseconds; null where a proxy hides it. */
      readonly serverTime: number | null;
    }
  | { readonly is: 'refused'; readonly error: ApiError; readonly status: number }
  | { readonly is: 'not_sent' }
  /** `status`: something answered, such as a proxy, but not the service itself. */
  | { readonly is: 'unknown'; readonly status?: number };

export interface ApiRequest {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Below the surface's root, with its slash. */
  readonly path: string;
  /** What is undefined is left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
  /** The body instead, byte by byte, as the type that it says. */
  readonly file?: Blob;
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
  /** Gives up after this long: the outcome is unknown then. */
  readonly timeoutMs?: number;
}

export type Api = <T>(request: ApiRequest) => Promise<Answer<T>>;

export interface ApiOptions {
  /** `api/dashboard/v1`, without a slash at either end. */
  readonly root: string;
  /** What each request carries, asked again each time: a key may change. */
  readonly headers?: () => Readonly<Record<string, string>>;
}

/** A service that is there says so at once. */
const PROBE_MS = 2_000;

/**
 * Whether the service can be reached. Browsers say that they are offline where a virtual adapter
 * or a network without a way out confuses them, so their word alone stops nothing.
 */
export async function isReachable(): Promise<boolean> {
  if (navigator.onLine) return true;
  const asked = { cache: 'no-store', signal: AbortSignal.timeout(PROBE_MS) } as const;
  return fetch(fromRoot('livez'), asked).then(
    () => true,
    () => false,
  );
}

/** Longer than the service itself takes before it says that time has run out. */
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

/** With its body, which may stop in the middle. */
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

/**
 * Talks to one surface of the service. Never throws: whoever handles money has to look at each of
 * the four answers. A page that only reads can use {@link valueIn}.
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
      // A proxy's own error page says nothing of what the service did.
      if (isApiError(body)) return { is: 'refused', error: body.error, status };
    } catch {
      // Unknown, too.
    }
    return status === undefined ? { is: 'unknown' } : { is: 'unknown', status };
  };
}

/** An answer without a value, for code that throws. */
export class ApiFailure extends Error {
  readonly answer: Exclude<Answer<unknown>, { is: 'done' }>;

  constructor(answer: Exclude<Answer<unknown>, { is: 'done' }>) {
    super(answer.is === 'refused' ? refusalText(answer.error) : t('ui.unreachable'));
    this.name = 'ApiFailure';
    this.answer = answer;
  }
}

/** @throws ApiFailure for all but a value. */
export function valueIn<T>(answer: Answer<T>): T {
  if (answer.is === 'done') return answer.value;
  throw new ApiFailure(answer);
}
