/** A request results in an answer, or in a refusal, which is rendered as an error response. */
import { ERROR_CODES, type ErrorCode, statusOf } from '#core/error-codes.ts';

/**
 * An expected refusal. It is returned, never thrown. `param` names the parameter that caused it.
 */
export interface Refusal {
  readonly refused: true;
  readonly code: ErrorCode;
  /** States the problem, the allowed values, and the next step. Must never contain a secret. */
  readonly message: string;
  readonly param: string | null;
  /** Extra response headers, such as `Allow` and `Retry-After`. */
  readonly headers?: Readonly<Record<string, string>>;
}

export function refuse(code: ErrorCode, message: string, param: string | null = null): Refusal {
  return { refused: true, code, message, param };
}

export function isRefusal(value: unknown): value is Refusal {
  return typeof value === 'object' && value !== null && 'refused' in value;
}

/**
 * Returns the refusal for an object that does not exist, or that belongs to another account or
 * mode. The message does not reveal which (behavior.md 2.5).
 */
export function resourceMissing(what: string, param: string | null = 'id'): Refusal {
  return refuse(
    'resource_missing',
    `No such ${what}, or it belongs to another account or mode.`,
    param,
  );
}

/** A response exactly as it is sent, stored and replayed. */
export interface Answer {
  readonly status: number;
  /** The JSON text. */
  readonly body: string;
  readonly headers?: ResponseHeaders;
}

/** Response headers. A list of values (Set-Cookie) is sent as several headers of that name. */
export type ResponseHeaders = Readonly<Record<string, string | string[]>>;

export function answerWith(status: number, object: object): Answer {
  return { status, body: JSON.stringify(object) };
}

/** The default base URL, for a service on one machine. */
export const DEFAULT_WEB_URL = 'http://127.0.0.1:4242';

/** Values that an error response contains besides the refusal. */
export interface RequestRef {
  readonly requestId: string;
  /** Root URL of the published documentation, for `doc_url`. */
  readonly docsUrl: string;
}

/** Renders the error body of behavior.md 2.3. */
export function answerRefusal(refusal: Refusal, { requestId, docsUrl }: RequestRef): Answer {
  const error = {
    type: ERROR_CODES[refusal.code][1],
    code: refusal.code,
    message: refusal.message,
    param: refusal.param,
    request_id: requestId,
    doc_url: `${docsUrl}/docs/errors#${refusal.code}`,
  };
  const answer = { status: statusOf(refusal.code), body: JSON.stringify({ error }) };
  const headers = refusal.headers ?? HEADERS_OF[refusal.code];
  return headers === undefined ? answer : { ...answer, headers };
}

/**
 * Default headers by error code. Most outages end within seconds, so a client should retry after a
 * second. After `request_timeout` it sends the same Idempotency-Key.
 */
const HEADERS_OF: Partial<Record<ErrorCode, Readonly<Record<string, string>>>> = {
  service_unavailable: { 'Retry-After': '1' },
  request_timeout: { 'Retry-After': '1' },
};
