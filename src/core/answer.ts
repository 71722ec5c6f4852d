/** The result of a request: an answer, or a refusal that is rendered as an error response. */
import { ERROR_CODES, type ErrorCode, statusOf } from '#core/error-codes.ts';

/** An expected refusal: a value, never thrown. `param` names the parameter that it concerns. */
export interface Refusal {
  readonly refused: true;
  readonly code: ErrorCode;
  /** States the problem, the allowed values, and the next step. Never echoes a secret. */
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
 * Returns the refusal for an object that is missing, or belongs to another account or mode: the
 * message does not reveal which (behavior.md 2.5).
 */
export function resourceMissing(what: string, param: string | null = 'id'): Refusal {
  return refuse('resource_missing', `No such ${what} for this key's account and mode.`, param);
}

/** A response as it is sent, stored and replayed: status, exact body, extra headers. */
export interface Answer {
  readonly status: number;
  /** The JSON text. */
  readonly body: string;
  readonly headers?: ResponseHeaders;
}

/** Several values of one header name (Set-Cookie) are sent as several headers. */
export type ResponseHeaders = Readonly<Record<string, string | string[]>>;

export function answerWith(status: number, object: object): Answer {
  return { status, body: JSON.stringify(object) };
}

/** The default address of a service on one machine. */
export const DEFAULT_WEB_URL = 'http://127.0.0.1:4242';

/** The request data that an error response contains. */
export interface Asked {
  readonly requestId: string;
  /** Root URL of the published documentation, for `doc_url`. */
  readonly docsUrl: string;
}

/** Renders the error body of behavior.md 2.3. */
export function answerRefusal(refusal: Refusal, { requestId, docsUrl }: Asked): Answer {
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
 * The client should retry after a second: nothing was done, and most outages end within seconds.
 */
const HEADERS_OF: Partial<Record<ErrorCode, Readonly<Record<string, string>>>> = {
  service_unavailable: { 'Retry-After': '1' },
};
