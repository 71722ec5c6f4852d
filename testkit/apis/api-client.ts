import { randomUUID } from 'node:crypto';
import { checkDocumented } from '#testkit/apis/documented.ts';

/** A JSON object in a response. Tests check its fields themselves. */
export interface Body {
  readonly [field: string]: unknown;
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly param: unknown;
  };
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

export interface Caller {
  get(path: string): Promise<Reply>;
  /** Sends a POST request with `key` as its Idempotency-Key, or with a new one. */
  post(path: string, body?: unknown, key?: string): Promise<Reply>;
  patch(path: string, body: unknown): Promise<Reply>;
  send(method: string, path: string, options?: RequestInit): Promise<Reply>;
}

/**
 * Creates a client that calls one API over real HTTP with one bearer key. Responses of an earlier
 * release are checked against that release's own OpenAPI document, which may lack today's fields.
 */
export function caller(
  baseUrl: string,
  key: string,
  { ofThisRelease = true }: { readonly ofThisRelease?: boolean } = {},
): Caller {
  const send = async (method: string, path: string, options: RequestInit = {}) => {
    const response = await fetch(baseUrl + path, {
      method,
      ...options,
      headers: { Authorization: `Bearer ${key}`, ...options.headers },
    });
    const text = await response.text();
    const { status, headers } = response;
    if (ofThisRelease) checkDocumented({ method, url: response.url, status, headers, text });
    const body = text === '' ? {} : (JSON.parse(text) as Body);
    return { status, headers, body };
  };
  return {
    send,
    get: (path) => send('GET', path),
    post: (path, body, idempotencyKey = randomUUID()) =>
      send('POST', path, {
        headers: { 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    patch: (path, body) =>
      send('PATCH', path, {
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      }),
  };
}
